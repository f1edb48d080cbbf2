"""Makes a tokenizer from Marian's vocabularies: `.spm` files, and `vocab.yml` with ids of
pieces."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from allyouneed.errors import ModelFolderError
from allyouneed.interop.marian.packed_file import read_file
from allyouneed.interop.marian.yaml_lines import read_yaml
from allyouneed.text.marian_tokenizer import MarianTokenizer
from allyouneed.text.sentencepiece_file import Kind
from allyouneed.text.sentencepiece_model import SentencePieceModel

END, UNKNOWN, PAD = "</s>", "<unk>", "<pad>"
LARGEST = 256 << 20  # bytes of a vocabulary
MOST_IDS = 4_000_000


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Marian's ids of one side's pieces, and the spelling of its two special pieces."""

    ids: Mapping[str, int]
    end: str
    unknown: str


def spm_vocabulary(path: Path, file: bytes) -> Vocabulary:
    """The vocabulary if the pieces' ids are those of the `.spm` file itself.

    Raises:
        ModelFolderError: the file is damaged or not supported, or has no end or unknown piece.
    """
    try:
        model = SentencePieceModel(file)
    except (ValueError, ModelFolderError) as error:
        raise ModelFolderError(f"{path}: {error}; it cannot be imported") from error
    ids = {piece: id_ for id_, piece in enumerate(model.pieces)}
    unknown = [p for p, kind in zip(model.pieces, model.kinds, strict=True) if kind == Kind.UNKNOWN]
    if len(ids) != len(model.pieces) or END not in ids or len(unknown) != 1:
        raise ModelFolderError(
            f"{path} has no piece {END!r}, no unknown one, or one twice; Marian's vocabularies "
            "have each once"
        )
    return Vocabulary(ids, END, unknown[0])


def table_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary in a vocab.yml or vocab.json.

    Raises:
        ModelFolderError: the file is damaged, or an id is not a number from 0.
    """
    content = read_file(path, LARGEST)
    try:
        text = content.decode()
        table = json.loads(text) if text.lstrip().startswith("{") else read_yaml(text)
    except (ValueError, RecursionError) as error:
        raise ModelFolderError(f"{path}: {error}; it cannot be imported") from error
    for piece, id_ in table.items():
        if type(id_) is not int or not 0 <= id_ < MOST_IDS:
            raise ModelFolderError(f"{path}: {piece!r} has {id_!r} as its id, which is not an id")
    if END not in table or UNKNOWN not in table:
        raise ModelFolderError(f"{path} lacks {END} or {UNKNOWN}; Marian's vocabularies have both")
    return Vocabulary(table, END, UNKNOWN)


def tokenizer_of(
    path: Path,
    files: tuple[bytes, bytes],
    vocabularies: tuple[Vocabulary, Vocabulary],
    sizes: tuple[int, int],
    language_codes: bool,
) -> MarianTokenizer:
    """The tokenizer of a model whose matrices have these `sizes`, (source, target).

    `files` are the two `.spm` files. The pad of both sides is the first id after the larger
    vocabulary. Ids without a spelling in a vocabulary get names that no text contains.
    `language_codes` says whether a text may begin with a code such as ">>fra<<".

    Raises:
        ModelFolderError: there are more pieces than rows, or the parts do not fit each other.
    """
    pad = max(sizes)
    sides = [
        _filled(path, vocabulary, size, pad)
        for vocabulary, size in zip(vocabularies, sizes, strict=True)
    ]
    source, target = vocabularies
    if (source.end, source.unknown) != (target.end, target.unknown) or sides[0][source.end] != (
        sides[1][source.end]
    ):
        raise ModelFolderError(
            f"{path}: the two vocabularies have different ids for {END}; both need the same"
        )
    special = {"pad": _pad_name(sides), "end": source.end, "unknown": source.unknown}
    for side in sides:
        side[special["pad"]] = pad
    apart = sides[1] if sides[0] != sides[1] else None
    try:
        return MarianTokenizer.of_files(
            *files, sides[0], apart, special, language_codes=language_codes
        )
    except (ValueError, ModelFolderError) as error:
        raise ModelFolderError(f"{path}: {error}; it cannot be imported") from error


def _filled(path: Path, vocabulary: Vocabulary, size: int, pad: int) -> dict[str, int]:
    """All ids below `pad`, including ids without a spelling."""
    ids = dict(vocabulary.ids)
    if len(set(ids.values())) != len(ids) or max(ids.values()) >= size:
        raise ModelFolderError(
            f"{path}: a vocabulary with {len(ids)} pieces and ids up to {max(ids.values())} does "
            f"not fit a model with {size} rows; the two must come from one model"
        )
    missing = set(range(pad)) - set(ids.values())
    ids.update((_free(ids, f"<no piece {id_}>"), id_) for id_ in sorted(missing))
    return ids


def _pad_name(sides: Iterable[Mapping[str, int]]) -> str:
    taken = {piece for side in sides for piece in side}
    return _free(taken, PAD)


def _free(taken: Iterable[str], name: str) -> str:
    known = taken if isinstance(taken, dict | set) else set(taken)
    while name in known:
        name += "_"
    return name
