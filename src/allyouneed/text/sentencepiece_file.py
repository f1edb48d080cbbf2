"""Reads a `.spm` file of SentencePiece (Kudo & Richardson 2018) without that package."""

from dataclasses import dataclass, field
from enum import IntEnum
from struct import unpack_from

from allyouneed.text.protobuf import fields

SPACE = "\u2581"  # ▁, the sign for a space in pieces
PIECES, TRAINER, NORMALISER, DENORMALISER = 1, 2, 3, 5  # fields of the file
MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


class Kind(IntEnum):
    """The purpose of a piece."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


KINDS = {bytes((0x18, kind)): kind for kind in Kind}  # as the file writes them


@dataclass(slots=True)
class Contents:
    """The content of the file. Values that the file leaves out have SentencePiece's defaults."""

    pieces: list[tuple[str, float, Kind]] = field(default_factory=list)
    model_type: str = "unigram"
    space_behind: bool = False
    byte_fallback: bool = False
    characters: bytes = b""
    space_ahead: bool = True
    single_spaces: bool = True
    escaped_spaces: bool = True
    denormalises: bool = False


def read_contents(file: bytes) -> Contents:
    """The content of a `.spm` file.

    Raises:
        ValueError: the file is damaged, or of a kind that is not supported. The message says which.
        TypeError, AttributeError, IndexError, KeyError: not a `.spm` file.
    """
    contents = Contents()
    for number, value in fields(file):
        if number == PIECES:
            contents.pieces.append(_piece(value))
        elif number == TRAINER:
            spec = dict(fields(_bytes(value)))
            kind = int(_number(spec.get(3, 1)))
            contents.model_type = MODEL_TYPES.get(kind, str(kind))
            contents.space_behind = bool(spec.get(24, 0))
            contents.byte_fallback = bool(spec.get(35, 0))
        elif number == NORMALISER:
            spec = dict(fields(_bytes(value)))
            contents.characters = _bytes(spec.get(2, b""))
            contents.space_ahead = bool(spec.get(3, 1))
            contents.single_spaces = bool(spec.get(4, 1))
            contents.escaped_spaces = bool(spec.get(5, 1))
        elif number == DENORMALISER:
            contents.denormalises = bool(dict(fields(_bytes(value))).get(2))
    _check(contents)
    return contents


def _check(contents: Contents) -> None:
    """Raises ValueError for a model that cuts texts by rules that are not implemented here."""
    if not contents.pieces:
        raise ValueError("it has no pieces")
    if contents.model_type not in ("unigram", "bpe"):
        raise ValueError(
            f"its model_type is {contents.model_type}; only unigram and bpe are supported"
        )
    refused = {
        "treat_whitespace_as_suffix": contents.space_behind,
        "escape_whitespaces=false": not contents.escaped_spaces,
        "a denormalizer": contents.denormalises,
    }
    for what, there in refused.items():
        if there:
            raise ValueError(f"it has {what}, which is not supported")


def _piece(value: int | bytes | float) -> tuple[str, float, Kind]:
    message = _bytes(value)
    if found := _usual_piece(message):
        return found
    spec = dict(fields(message))
    kind = int(_number(spec.get(3, 1)))
    return _bytes(spec[1]).decode(), float(_number(spec.get(2, 0.0))), Kind(kind)


def _usual_piece(message: bytes) -> tuple[str, float, Kind] | None:
    """A fast reader for pieces in the usual layout (text, score, kind unless it is normal).

    None means that the piece has another layout.
    """
    end = message[1] + 2 if len(message) > 1 else 0
    kind = message[end + 5 :]
    if message[:1] != b"\x0a" or message[end : end + 1] != b"\x15" or len(message) < end + 5:
        return None
    if kind and kind not in KINDS:
        return None
    [score] = unpack_from("<f", message, end + 1)
    return message[2:end].decode(), score, KINDS[kind] if kind else Kind.NORMAL


def _bytes(value: int | bytes | float) -> bytes:
    if isinstance(value, bytes):
        return value
    raise ValueError(f"it has the value {value} in place of bytes")


def _number(value: int | bytes | float) -> int | float:
    if isinstance(value, bytes):
        raise ValueError("it has bytes in place of a number")
    return value
