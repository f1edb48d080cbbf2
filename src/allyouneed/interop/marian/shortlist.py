"""Converts Marian's lexical shortlists, `lex.*.bin` or their text form, to vocabulary selections.

S source ids · C target ids of all lists together
"""

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from allyouneed.errors import ModelFolderError
from allyouneed.interop.marian.packed_file import read_file
from allyouneed.model_folder.vocabulary_selection import VocabularySelection
from allyouneed.text.marian_tokenizer import MarianTokenizer

MAGIC = 0xF11A48D5013417F5
HEAD = struct.Struct("<6Q")  # magic, checksum, first, best, number of offsets, number of ids
LARGEST = 1 << 30  # bytes
FIRST, BEST = 50, 50  # as in `lex.50.50`: the most frequent ids, and the best ids of each word

Ids = NDArray[np.int64]


def read_shortlist(path: Path, tokenizer: MarianTokenizer, shared: bool) -> VocabularySelection:
    """The selection of a shortlist, for a model with this tokenizer. `shared` says that both sides
    have the same vocabulary; then a source word may always be copied.

    Raises:
        ModelFolderError: the file is damaged, or made for another vocabulary.
    """
    content = read_file(path, LARGEST)
    try:
        if content[:8] == MAGIC.to_bytes(8, "little"):
            first, offsets, ids_C = read_binary_shortlist(content)
        else:
            first, offsets, ids_C = _read_text(content, tokenizer)
    except ValueError as error:
        raise ModelFolderError(f"{path}: {error}; it cannot be imported") from error
    target = tokenizer.target
    highest = int(ids_C.max(initial=0))
    if len(offsets) - 1 > len(tokenizer) or max(highest, first - 1) >= len(target):
        raise ModelFolderError(
            f"{path} is for {len(offsets) - 1} source ids and names the target id {highest}; the "
            f"model has {len(tokenizer)} and {len(target)}: the two must come from one model"
        )
    if shared:
        offsets, ids_C = _with_themselves(offsets, ids_C)
    missing = len(tokenizer) + 1 - len(offsets)
    offsets = np.concatenate([offsets, np.full(missing, offsets[-1])])
    special = (target.PAD, target.END, target.UNKNOWN)
    always_A = np.union1d(np.arange(first), special).astype(np.int32)
    return VocabularySelection(offsets, ids_C.astype(np.int32), always_A)


def read_binary_shortlist(content: bytes) -> tuple[int, Ids, Ids]:
    """(first, offsets, ids): every sentence may use the ids 0 to first - 1, and source id n adds
    `ids[offsets[n] : offsets[n + 1]]`.

    Raises:
        ValueError: the file is damaged; the message says how.
    """
    if len(content) < HEAD.size:
        raise ValueError(f"it is cut short: {len(content)} bytes")
    magic, checksum, first, _, count, total = HEAD.unpack_from(content)
    if magic != MAGIC:
        raise ValueError("it does not begin as a binary shortlist does")
    if HEAD.size + 8 * count + 4 * total > len(content) or count < 2 or first > 1 << 31:
        raise ValueError(f"it is cut short: {len(content)} bytes for {count} offsets, {total} ids")
    if checksum != checksum_of(content[16:]):
        raise ValueError("its checksum is not that of its content: it is damaged")
    offsets = np.frombuffer(content, "<u8", count, HEAD.size)
    ids_C = np.frombuffer(content, "<u4", total, HEAD.size + 8 * count)
    if offsets[0] or offsets[-1] > total or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"its offsets do not part {total} ids")
    return first, offsets.astype(np.int64), ids_C[: int(offsets[-1])].astype(np.int64)


def checksum_of(content: bytes) -> int:
    """The checksum of the 8-byte numbers that follow the checksum in a shortlist."""
    seed, mask = 0, (1 << 64) - 1
    for (number,) in struct.iter_unpack("<Q", content[: len(content) // 8 * 8]):
        seed ^= (number + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & mask
    return seed


def binary_shortlist(selection: VocabularySelection, rows: tuple[int, int], end: int) -> bytes:
    """The selection as a `lex.*.bin` for a model with these numbers (`rows`) of source and target
    ids.

    In that format the ids for every sentence are 0, 1, …. Other ids that every sentence may use are
    put into the list of the end token, which every sentence contains.
    """
    sources, targets = rows
    always_A = np.sort(selection.always_A[selection.always_A < targets]).astype(np.int64)
    first = int((always_A == np.arange(len(always_A))).sum())
    lists = [
        selection.ids_C[begin:until]
        for begin, until in zip(selection.offsets[:sources], selection.offsets[1:], strict=False)
    ]
    lists[end] = np.union1d(lists[end], always_A[first:])
    kept = [ids[ids < targets] for ids in lists]
    offsets = np.cumsum([0, *map(len, kept)]).astype("<u8")
    ids_C = np.concatenate(kept).astype("<u4")
    filling = len(ids_C) % 2  # the file's size must be a multiple of 8 bytes
    offsets[-1] += filling
    body = struct.pack("<4Q", first, BEST, len(offsets), len(ids_C) + filling)
    body += offsets.tobytes() + ids_C.tobytes() + bytes(4 * filling)
    return struct.pack("<QQ", MAGIC, checksum_of(body)) + body


def _read_text(content: bytes, tokenizer: MarianTokenizer) -> tuple[int, Ids, Ids]:
    """Reads lines of "target source probability". Keeps the `BEST` most probable targets of each
    source."""
    found: dict[int, list[tuple[float, int]]] = {}
    for target, source, probability in _lines(content):
        source_id, target_id = tokenizer.ids.get(source), tokenizer.target.ids.get(target)
        if source_id is not None and target_id is not None:
            found.setdefault(source_id, []).append((-probability, target_id))
    best = [
        sorted(id_ for _, id_ in sorted(found.get(source, ()))[:BEST])
        for source in range(len(tokenizer))
    ]
    offsets = np.cumsum([0, *map(len, best)])
    return FIRST, offsets, np.array([id_ for ids in best for id_ in ids], np.int64)


def _lines(content: bytes) -> Iterator[tuple[str, str, float]]:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no UTF-8: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        parts = line.split()
        if not parts or "NULL" in parts[:2]:
            continue
        try:
            target, source, probability = parts
            yield target, source, float(probability)
        except ValueError as error:
            raise ValueError(
                f'line {number}, {line[:60]!r}, is not "target source probability"'
            ) from error


def _with_themselves(offsets: Ids, ids_C: Ids) -> tuple[Ids, Ids]:
    """The lists, with each source id itself at the beginning of its list."""
    sources = np.arange(len(offsets) - 1)
    return offsets + np.arange(len(offsets)), np.insert(ids_C, offsets[:-1], sources)
