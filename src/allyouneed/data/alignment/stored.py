"""Which source tokens each target token of a store comes from, worked out once and kept.

S source tokens · T target tokens · L links
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

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

VERSION = 1  # part of every name: a change of what is linked raises it
NEWS_EVERY = 1000  # pairs

Spans = Sequence[tuple[int, int]]


class Decoder(Protocol):
    """What is asked of a tokenizer: the text of ids, and where each of them lies in it."""

    def decode(self, ids: Sequence[int]) -> str: ...
    def spans(self, ids: Sequence[int]) -> Spans: ...


class StoredLinks:
    """The links of all pairs of a store, in a folder."""

    def __init__(self, folder: Path) -> None:
        """Raises DataError when the folder is damaged."""
        try:
            sizes = json.loads((folder / "links.json").read_text())
            for name, size in sizes.items():
                if (folder / name).stat().st_size != size:
                    raise ValueError(f"{name} holds {(folder / name).stat().st_size} of {size}")
            self._ends = np.fromfile(folder / "ends", dtype="<i8")
            self._links_L2 = _mapped(folder / "links")
        except (OSError, ValueError, AttributeError) as error:
            raise DataError(
                f"{folder}: the word alignments are damaged ({error}); remove the folder, and they "
                "are made anew"
            ) from error

    def matrix(self, index: int, target: int, source: int) -> NDArray[np.bool_]:
        """Which of so many source tokens each of so many target tokens comes from, TS."""
        first = int(self._ends[index - 1]) if index else 0
        links_L2 = self._links_L2[first : int(self._ends[index])]
        linked_TS = np.zeros((target, source), dtype=np.bool_)
        linked_TS[links_L2[:, 1], links_L2[:, 0]] = True
        return linked_TS


def keep_links(
    store: TokenStore, tokenizer: Decoder, seed: int, cache_dir: Path, progress: Progress
) -> StoredLinks:
    """The word alignments of a store, out of `cache_dir` if they are there, made there if not.

    The aligner learns from the store's own pairs, in an order that follows from the seed. A link of
    two words is one of all tokens of both.

    Raises DataError when no pair has words, or `cache_dir` cannot be written.
    """
    folder = cache_dir / f"links-{VERSION}-{seed}-{store.folder.name[:16]}"
    with locked(cache_dir / "lock", lambda: progress("waiting for another process", 0, None)):
        if not folder.exists():
            try:
                with whole_folder(folder) as beside:
                    _write(beside, store, tokenizer, seed, progress)
            except OSError as error:
                raise DataError(
                    f"{cache_dir}: cannot keep the word alignments there: {error}; free some space "
                    "or choose another folder"
                ) from error
    return StoredLinks(folder)


def _write(
    folder: Path, store: TokenStore, tokenizer: Decoder, seed: int, progress: Progress
) -> None:
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(store))
    aligner = Aligner.learn((_words(store, tokenizer, int(n)) for n in order), progress)
    end = 0
    with (folder / "links").open("wb") as links, (folder / "ends").open("wb") as ends:
        found = aligner.align(_words(store, tokenizer, n) for n in range(len(store)))
        for number, linked in enumerate(found):
            tokens = list(_between_tokens(linked, store, tokenizer, number))
            end += len(tokens)
            links.write(np.array(tokens, dtype="<u2").tobytes())
            ends.write(np.array(end, dtype="<i8").tobytes())
            if number % NEWS_EVERY == 0:
                progress("aligning", number, len(store))
    sizes = {name: (folder / name).stat().st_size for name in ("links", "ends")}
    (folder / "links.json").write_text(json.dumps(sizes))


def _words(store: TokenStore, tokenizer: Decoder, number: int) -> tuple[list[str], list[str]]:
    source, target = (atoms(tokenizer.decode(ids.tolist())) for ids in store.pair(number))
    return [atom.text for atom in source], [atom.text for atom in target]


def _between_tokens(
    links: Sequence[Link], store: TokenStore, tokenizer: Decoder, number: int
) -> Iterator[Link]:
    """The links (source token, target token) of a pair whose words have these links."""
    source, target = (_tokens_of_atoms(tokenizer, ids.tolist()) for ids in store.pair(number))
    for one, other in links:
        yield from ((s, t) for s in source[one] for t in target[other])


def _tokens_of_atoms(tokenizer: Decoder, ids: Sequence[int]) -> list[list[int]]:
    """For each atom of a sentence the tokens that end in it."""
    found: list[Atom] = atoms(tokenizer.decode(ids))
    tokens: list[list[int]] = [[] for _ in found]
    at = 0
    for number, (begin, end) in enumerate(tokenizer.spans(ids)):
        while at < len(found) and found[at].end < end:
            at += 1
        if begin < end and at < len(found) and found[at].begin < end:
            tokens[at].append(number)
    return tokens


def _mapped(path: Path) -> NDArray[Any]:
    """Pairs of numbers; nothing can be mapped where there are none."""
    if not path.stat().st_size:
        return np.empty((0, 2), dtype="<u2")
    return np.memmap(path, dtype="<u2", mode="r").view(np.ndarray).reshape(-1, 2)
