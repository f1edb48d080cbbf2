"""Which source tokens each target token of a store comes from, worked out once and kept.

S source tokens · T target tokens · L links
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allyouneed.data.alignment.aligner import Aligner
from allyouneed.data.alignment.symmetrise import Link
from allyouneed.data.lock import locked
from allyouneed.data.store import TokenStore
from allyouneed.data.store_writer import Progress
from allyouneed.errors import DataError
from allyouneed.files import whole_folder
from allyouneed.text.atoms import Atom, atoms

VERSION = 2  # part of every name: a change of what is linked raises it
AT_ONCE = 4096  # pairs

Spans = Sequence[tuple[int, int]]


class IdDecoder(Protocol):
    """The methods of a tokenizer that alignment uses: the text of ids, and the place of each id in
    this text."""

    def decode(self, ids: Sequence[int]) -> str: ...
    def spans(self, ids: Sequence[int]) -> Spans: ...


Direction = tuple[str, str] | None
"""Languages of source and target; None where the corpora name none."""


class Wanted(NamedTuple):
    """The choice of pairs to align: `most` pairs of each direction, drawn by `seed`; None means all
    pairs. `directions` has the direction of each corpus."""

    directions: Sequence[Direction]
    seed: int
    most: int | None = None


class StoredLinks:
    """The links of the pairs of a store, in a folder. Pairs that were not aligned have none."""

    def __init__(self, folder: Path) -> None:
        """Raises DataError when the folder is damaged."""
        try:
            sizes = json.loads((folder / "links.json").read_text())
            for name, size in sizes.items():
                if (folder / name).stat().st_size != size:
                    raise ValueError(f"{name} holds {(folder / name).stat().st_size} of {size}")
            self._bounds = np.fromfile(folder / "bounds", dtype="<i8").reshape(-1, 2)
            self._links_L2 = _mapped(folder / "links")
        except (OSError, ValueError, AttributeError) as error:
            raise DataError(
                f"{folder}: the word alignments are damaged ({error}); remove the folder, and they "
                "are made anew"
            ) from error

    def matrices(self, numbers: Sequence[int], target: int, source: int) -> NDArray[np.bool_]:
        """The links of pairs as matrices BTS: the source tokens that each target token comes
        from."""
        first_B, end_B = self._bounds[np.asarray(numbers)].T
        counts_B = end_B - first_B
        rows_L = np.repeat(np.arange(len(counts_B)), counts_B)
        ends_B = np.cumsum(counts_B)
        places_L = np.arange(len(rows_L)) + np.repeat(end_B - ends_B, counts_B)
        links_L2 = self._links_L2[places_L]
        linked_BTS = np.zeros((len(counts_B), target, source), dtype=np.bool_)
        linked_BTS[rows_L, links_L2[:, 1], links_L2[:, 0]] = True
        return linked_BTS


def keep_links(
    store: TokenStore, tokenizer: IdDecoder, wanted: Wanted, cache_dir: Path, progress: Progress
) -> StoredLinks:
    """The word alignments of a store, out of `cache_dir` if they are there, made there if not.

    Each pair of languages has an aligner of its own, for both directions. It learns from those
    pairs of one direction that it then aligns. A link of two words is one of all tokens of both.

    Raises DataError when no pair has words, or `cache_dir` cannot be written.
    """
    drawn = f"{wanted.seed}-{wanted.most or 'all'}"
    folder = cache_dir / f"links-{VERSION}-{drawn}-{store.folder.name[:16]}"
    with locked(cache_dir / "lock", lambda: progress("waiting for another process", 0, None)):
        if not folder.exists():
            try:
                with whole_folder(folder) as beside:
                    _write(beside, store, tokenizer, wanted, progress)
            except OSError as error:
                raise DataError(
                    f"{cache_dir}: cannot keep the word alignments there: {error}; free some space "
                    "or choose another folder"
                ) from error
    return StoredLinks(folder)


def _write(
    folder: Path, store: TokenStore, tokenizer: IdDecoder, wanted: Wanted, progress: Progress
) -> None:
    bounds = np.zeros((len(store), 2), dtype="<i8")
    drawn = _drawn(store, wanted)
    aligned, total, end = 0, sum(len(numbers) for group in drawn for numbers in group), 0
    with (folder / "links").open("wb") as links:
        for group in drawn:
            aligner = Aligner.learn((_words(store, tokenizer, n) for n in group[0]), progress)
            for numbers in group:
                for number, tokens in _aligned(aligner, store, tokenizer, sorted(numbers)):
                    bounds[number] = end, end + len(tokens)
                    end += len(tokens)
                    links.write(np.array(tokens, dtype="<u2").tobytes())
                    aligned += 1
                    if aligned % AT_ONCE == 0:
                        progress("aligning", aligned, total)
                aligner = aligner.turned()
    (folder / "bounds").write_bytes(bounds.tobytes())
    sizes = {name: (folder / name).stat().st_size for name in ("links", "bounds")}
    (folder / "links.json").write_text(json.dumps(sizes))


def _drawn(store: TokenStore, wanted: Wanted) -> list[list[list[int]]]:
    """The numbers of the pairs to align, in the order of drawing. There is a list for each pair of
    languages; it has a list for each direction."""
    chance = np.random.Generator(np.random.PCG64(wanted.seed))
    corpora: dict[frozenset[str], dict[Direction, list[NDArray[np.int64]]]] = {}
    for corpus, direction in enumerate(wanted.directions):
        numbers = np.arange(*store.corpus_bounds[corpus : corpus + 2])
        both = corpora.setdefault(frozenset(direction or ()), {})
        both.setdefault(direction, []).append(numbers)
    drawn = [
        [chance.permutation(np.concatenate(n))[: wanted.most].tolist() for n in both.values()]
        for both in corpora.values()
    ]
    return [found for group in drawn if (found := [numbers for numbers in group if numbers])]


def _aligned(
    aligner: Aligner, store: TokenStore, tokenizer: IdDecoder, numbers: Sequence[int]
) -> Iterator[tuple[int, list[Link]]]:
    """The links (source token, target token) of these pairs."""
    for first in range(0, len(numbers), AT_ONCE):
        some = numbers[first : first + AT_ONCE]
        sides = [[_side(tokenizer, ids.tolist()) for ids in store.pair(n)] for n in some]
        found = aligner.align((source.words, target.words) for source, target in sides)
        for number, (source, target), links in zip(some, sides, found, strict=True):
            tokens = (product(source.tokens[one], target.tokens[other]) for one, other in links)
            yield number, list(chain.from_iterable(tokens))


def _words(store: TokenStore, tokenizer: IdDecoder, number: int) -> tuple[list[str], list[str]]:
    source, target = (atoms(tokenizer.decode(ids.tolist())) for ids in store.pair(number))
    return [atom.text for atom in source], [atom.text for atom in target]


class _Side(NamedTuple):
    """The words of a sentence, and for each of them the tokens that end in it."""

    words: list[str]
    tokens: list[list[int]]


def _side(tokenizer: IdDecoder, ids: Sequence[int]) -> _Side:
    found: list[Atom] = atoms(tokenizer.decode(ids))
    tokens: list[list[int]] = [[] for _ in found]
    at = 0
    for number, (begin, end) in enumerate(tokenizer.spans(ids)):
        while at < len(found) and found[at].end < end:
            at += 1
        if begin < end and at < len(found) and found[at].begin < end:
            tokens[at].append(number)
    return _Side([atom.text for atom in found], tokens)


def _mapped(path: Path) -> NDArray[Any]:
    """The pairs of numbers as a memory map, or as an empty array if there are none, because an
    empty file cannot be mapped."""
    if not path.stat().st_size:
        return np.empty((0, 2), dtype="<u2")
    return np.memmap(path, dtype="<u2", mode="r").view(np.ndarray).reshape(-1, 2)
