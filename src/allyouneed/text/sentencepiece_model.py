"""A `.spm` file of SentencePiece (Kudo & Richardson 2018) with a unigram model (Kudo 2018): how it
cuts a text into pieces. Read and searched here without that package, and to the last bit as there:
the search of `tokenizers` adds in float64, which breaks ties in other ways.
"""

from collections.abc import Iterator
from ctypes import c_float
from dataclasses import dataclass, field
from enum import IntEnum
from struct import unpack_from

from allyouneed.text.character_map import CharacterMap
from allyouneed.text.protobuf import fields

SPACE = "\u2581"  # ▁, which stands for a space in pieces
UNKNOWN_PENALTY = 10.0  # below the least probable piece
PIECES, TRAINER, NORMALISER, DENORMALISER = 1, 2, 3, 5  # fields of the file
MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


class Kind(IntEnum):
    """What a piece is there for."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


KINDS = {bytes((0x18, kind)): kind for kind in Kind}  # as the file writes them


@dataclass(slots=True)
class _Contents:
    """What the file says, with the defaults for what it leaves out."""

    pieces: list[tuple[str, float, Kind]] = field(default_factory=list)
    model_type: int = 1
    space_behind: bool = False
    byte_fallback: bool = False
    characters: bytes = b""
    space_ahead: bool = True
    single_spaces: bool = True
    escaped_spaces: bool = True
    denormalises: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece as it is spelt, and the characters of the text, begin and end, that it touches."""

    spelling: str
    span: tuple[int, int]


class SentencePieceModel:
    """Cuts texts into pieces as the package `sentencepiece` does with the same file."""

    def __init__(self, file: bytes) -> None:
        """`file` is the content of the `.spm` file.

        Raises:
            ValueError: it is damaged, or of a kind that is not read here; the message says what.
        """
        try:
            contents = _read(file)
            self._characters = CharacterMap(contents.characters)
            self._space_ahead = contents.space_ahead
            self._single_spaces = contents.single_spaces
            self._user_defined = sorted(
                (piece for piece, _, kind in contents.pieces if kind == Kind.USER_DEFINED),
                key=len,
                reverse=True,
            )
            self.byte_pieces = {
                piece: int(piece[3:5], 16)
                for piece, _, kind in contents.pieces
                if kind == Kind.BYTE and contents.byte_fallback
            }
        except (TypeError, AttributeError, IndexError, KeyError) as error:
            raise ValueError(f"it is no such file ({error})") from error
        self._scores = _scores(contents.pieces)
        self._longest: dict[str, int] = {}  # the most characters of a piece, by the first one
        for piece in self._scores:
            self._longest[piece[0]] = max(self._longest.get(piece[0], 0), len(piece))
        least = min((score for _, score, kind in contents.pieces if kind == Kind.NORMAL), default=0)
        self._unknown_score = c_float(least - UNKNOWN_PENALTY).value

    def cut(self, text: str) -> list[Piece]:
        """The pieces of a text; characters without a piece come as they are, several together,
        or as the pieces of their bytes where the model has those."""
        normal, spans = self._normalised(text)
        pieces: list[Piece] = []
        for begin, end in self._most_probable(normal):
            spelling, span = normal[begin:end], (spans[begin][0], spans[end - 1][1])
            if self.byte_pieces and spelling not in self._scores:
                pieces += [Piece(f"<0x{byte:02X}>", span) for byte in spelling.encode()]
            else:
                pieces.append(Piece(spelling, span))
        return pieces

    def _most_probable(self, normal: str) -> list[tuple[int, int]]:
        """Where the pieces of the best sum of scores begin and end (Viterbi 1967); characters
        without a piece that follow each other come as one."""
        best = [0.0] + [-1.0] * len(normal)  # rounded to float32, as the package keeps it
        begins = [0] + [-1] * len(normal)
        scores = self._scores
        for begin, first in enumerate(normal):
            so_far = best[begin]
            last = min(begin + self._longest.get(first, 0), len(normal))
            for end in range(begin + 1, last + 1):
                score = scores.get(normal[begin:end])
                if score is None:
                    continue
                candidate = c_float(score + so_far).value
                if begins[end] < 0 or candidate > best[end]:
                    best[end], begins[end] = candidate, begin
            if first not in scores:
                score = c_float(self._unknown_score + so_far).value
                if begins[begin + 1] < 0 or score > best[begin + 1]:
                    best[begin + 1], begins[begin + 1] = score, begin
        found: list[tuple[int, int]] = []
        end = len(normal)
        while end:
            begin = begins[end]
            unknown = normal[begin:end] not in scores
            if unknown and found and normal[slice(*found[-1])] not in scores:
                found[-1] = (begin, found[-1][1])
            else:
                found.append((begin, end))
            end = begin
        return found[::-1]

    def _normalised(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """The text as the model's pieces spell it, and for each of its characters those of the
        text, begin and end, that it comes from."""
        characters: list[str] = []
        spans: list[tuple[int, int]] = []
        behind_space = self._single_spaces
        for written, begin, end in self._replacements(text):
            kept = written.lstrip(" ") if behind_space else written
            characters += kept
            spans += [(begin, end)] * len(kept)
            behind_space = self._single_spaces and (kept.endswith(" ") if kept else behind_space)
        while self._single_spaces and characters and characters[-1] in (" ", SPACE):
            characters.pop()
        if not text or (self._single_spaces and not characters):
            return "", []
        ahead = [SPACE] * self._space_ahead
        normal = "".join(ahead + characters).replace(" ", SPACE)
        return normal, [(0, 0)] * self._space_ahead + spans

    def _replacements(self, text: str) -> Iterator[tuple[str, int, int]]:
        """What the text's characters become: a string, and where those it stands for lie."""
        place = 0
        while place < len(text):
            written, count = self._own(text, place) or self._characters.replaced(text, place)
            yield written, place, place + count
            place += count

    def _own(self, text: str, place: int) -> tuple[str, int] | None:
        """The symbol that the user of the trainer has defined, if one begins here."""
        for symbol in self._user_defined:
            if text.startswith(symbol, place):
                return symbol, len(symbol)
        return None


def _scores(pieces: list[tuple[str, float, Kind]]) -> dict[str, float]:
    """The log-probabilities of those pieces that a text can have."""
    best = max((score for _, score, kind in pieces if kind == Kind.NORMAL), default=0.0)
    scores: dict[str, float] = {}
    for piece, score, kind in pieces:
        if kind == Kind.NORMAL:
            scores[piece] = score
        elif kind == Kind.USER_DEFINED:  # whatever it was trained to, it stays whole
            scores[piece] = c_float(len(piece.encode()) * best).value - 0.1
    return scores


def _read(file: bytes) -> _Contents:
    contents = _Contents()
    for number, value in fields(file):
        if number == PIECES:
            contents.pieces.append(_piece(value))
        elif number == TRAINER:
            spec = dict(fields(_bytes(value)))
            contents.model_type = int(_number(spec.get(3, 1)))
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


def _check(contents: _Contents) -> None:
    """Raises ValueError for a model that would be cut in another way than here."""
    if not contents.pieces:
        raise ValueError("it has no pieces")
    if contents.model_type != 1:
        kind = MODEL_TYPES.get(contents.model_type, str(contents.model_type))
        raise ValueError(f"its model_type is {kind}, and only unigram is read")
    refused = {
        "treat_whitespace_as_suffix": contents.space_behind,
        "escape_whitespaces=false": not contents.escaped_spaces,
        "a denormalizer": contents.denormalises,
    }
    for what, there in refused.items():
        if there:
            raise ValueError(f"it has {what}, which is not read")


def _piece(value: int | bytes | float) -> tuple[str, float, Kind]:
    message = _bytes(value)
    if found := _usual_piece(message):
        return found
    spec = dict(fields(message))
    kind = int(_number(spec.get(3, 1)))
    return _bytes(spec[1]).decode(), float(_number(spec.get(2, 0.0))), Kind(kind)


def _usual_piece(message: bytes) -> tuple[str, float, Kind] | None:
    """A piece written as they all are, read fast: the text, the score, and the kind where it is
    not the normal one. None: it is written in another way."""
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
    raise ValueError(f"{value} stands where bytes should")


def _number(value: int | bytes | float) -> int | float:
    if isinstance(value, bytes):
        raise ValueError("bytes stand where a number should")
    return value
