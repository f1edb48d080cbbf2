"""Token stores: pairs as token ids in memory-mapped files, made once for each combination of corpus
content, tokenizer, filters, noise and hints."""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allyouneed.data.contents import ContentHashes, content_key, file_state
from allyouneed.data.corpus import Corpus, Side
from allyouneed.data.filters import Filters
from allyouneed.data.lock import locked
from allyouneed.data.noise.noise import Noise
from allyouneed.data.report import DataReport
from allyouneed.data.store_writer import Progress, SourceHints, TextEncoder, write_store
from allyouneed.errors import DataError
from allyouneed.files import whole_folder

# Part of every key. Raise it with every change of layout, filters or made corpora.
VERSION = 2

Ids = NDArray[np.unsignedinteger[Any]]


class TokenStore:
    """The pairs of a store folder, numbered from 0 in reading order.

    The pairs of corpus c have the numbers `corpus_bounds[c]` to `corpus_bounds[c + 1]` - 1. `names`
    are the corpora's current names; they replace those that were saved with the store.

    Raises:
        DataError: the folder is damaged.
    """

    def __init__(self, folder: Path, names: Sequence[str] | None = None) -> None:
        self.folder = folder
        try:
            description = _json(folder / "store.json")
            self.report = DataReport.from_dict(_json(folder / "report.json"))
            arrays = _mapped(folder, description["bytes"], np.dtype(description["dtype"]))
            self._ids = {side: arrays[f"{side}_ids"] for side in ("source", "target")}
            self._offsets = {side: arrays[f"{side}_offsets"] for side in ("source", "target")}
            self._lines = arrays["lines"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{folder}: the token store is damaged ({error}); it is made again from the corpora"
            ) from error
        if names is not None:
            self.report.corpora = list(names)
        self.corpus_bounds = np.cumsum([0, *self.report.kept_by_corpus])

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def corpora(self) -> int:
        """The number of corpora in the store."""
        return len(self.corpus_bounds) - 1

    def pair(self, index: int) -> tuple[Ids, Ids]:
        """(source ids, target ids) of a pair, each with the end token, as read-only views."""
        if not 0 <= index < len(self):
            raise IndexError(f"pair {index} of a store of {len(self)}")
        return self._sentence("source", index), self._sentence("target", index)

    def padded(self, side: Side, numbers: Sequence[int], pad: int) -> NDArray[np.int64]:
        """A side of the pairs with these numbers as one array BS, padded on the right with
        `pad`. The ids are gathered all at once: pair by pair it takes ten times as long."""
        first_B, end_B = (self._offsets[side][np.add(numbers, more)] for more in (0, 1))
        places_BS = first_B[:, None] + np.arange((end_B - first_B).max())
        there_BS = places_BS < end_B[:, None]
        ids_BS = np.full(places_BS.shape, pad, dtype=np.int64)
        ids_BS[there_BS] = self._ids[side][places_BS[there_BS]]
        return ids_BS

    def _sentence(self, side: str, index: int) -> Ids:
        first, end = self._offsets[side][index : index + 2]
        ids: Ids = self._ids[side][first:end]
        return ids

    def lengths(
        self, first: int = 0, end: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(source, target) lengths in tokens, including end tokens, of the pairs `first` to
        `end - 1`, or to the last pair if `end` is None."""
        last = len(self) if end is None else min(end, len(self))
        source, target = (
            np.diff(self._offsets[side][first : last + 1]).astype(np.int32)
            for side in ("source", "target")
        )
        return source, target

    def corpus_of(self, index: int) -> int:
        """The number of the corpus that a pair comes from."""
        return int(np.searchsorted(self.corpus_bounds, index, side="right")) - 1

    def line_of(self, index: int) -> tuple[str, int]:
        """(name of the corpus, line in it) of a pair."""
        return self.report.corpora[self.corpus_of(index)], int(self._lines[index])


class CorpusOfStore:
    """The lengths of one corpus of a store, as a sampler reads them. Its pair 0 is pair `first` of
    the store."""

    def __init__(self, store: TokenStore, corpus: int) -> None:
        self._store = store
        self.first, self._end = map(int, store.corpus_bounds[corpus : corpus + 2])
        self.corpora = 1
        self.corpus_bounds = np.array([0, self._end - self.first])

    def __len__(self) -> int:
        return self._end - self.first

    def lengths(
        self, first: int = 0, end: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The same as `TokenStore.lengths`, of this corpus."""
        last = len(self) if end is None else min(end, len(self))
        return self._store.lengths(self.first + first, self.first + last)

    def line_of(self, index: int) -> tuple[str, int]:
        """The same as `TokenStore.line_of`, of this corpus."""
        return self._store.line_of(self.first + index)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error


def _mapped(folder: Path, sizes: dict[str, int], dtype: np.dtype[Any]) -> dict[str, NDArray[Any]]:
    arrays = {}
    for name, size in sizes.items():
        path = folder / name
        if path.stat().st_size != size:
            raise ValueError(f"{name} holds {path.stat().st_size} bytes of {size}")
        mapped = np.memmap(path, dtype=dtype if name.endswith("_ids") else "<i8", mode="r")
        arrays[name] = mapped.view(np.ndarray)  # slicing a plain array is faster
    return arrays


def build_store(
    corpora: Sequence[Corpus],
    tokenizer: TextEncoder,
    filters: Filters,
    cache_dir: Path,
    progress: Progress | None = None,
    noise: Noise | None = None,
    hints: SourceHints | None = None,
) -> TokenStore:
    """The store of these corpora. It is opened if it is in `cache_dir`, otherwise made there.

    The store's folder is named after the sha256 of file contents, tokenizer, filters, noise, hints
    and version. It is written under another name, with a lock, and then renamed, so a store is
    whole or absent. A second process waits for the first and uses its store. A damaged store is
    made again, with a remark in the report.

    Raises:
        DataError: a corpus cannot be read, no pair is left, or `cache_dir` cannot be written.
    """
    if not corpora:
        raise DataError("no corpus is named; name at least one")
    files = [path for corpus in corpora for path in corpus.files]
    what = Content(
        [corpus.name for corpus in corpora],
        files,
        lambda content: _described(corpora, tokenizer, filters, noise, hints, content),
        lambda folder, progress: write_store(
            folder, corpora, tokenizer, filters, progress, noise, hints
        ),
    )
    return keep_store(what, cache_dir, progress)


@dataclass(frozen=True, slots=True)
class Content:
    """The origin of a store: the names of its corpora, their files, a description of everything
    that its content depends on (as JSON values), and a function that writes it to a folder."""

    names: Sequence[str]
    files: Sequence[Path]
    described: Callable[[ContentHashes], Any]
    write: Callable[[Path, Progress], None]


def keep_store(what: Content, cache_dir: Path, progress: Progress | None = None) -> TokenStore:
    """The store with this content, opened from `cache_dir` or made there, as by `build_store`.

    Raises:
        DataError: `cache_dir` cannot be written, or a function of `what` raised it.
    """
    try:
        return _open_or_build(what, cache_dir, progress if progress is not None else _silent)
    except OSError as error:
        raise DataError(
            f"{cache_dir}: the token store cannot be written there: {error}; "
            "free some space or choose another folder"
        ) from error


def _silent(stage: str, done: int, total: int | None) -> None:
    pass


def _open_or_build(what: Content, cache_dir: Path, progress: Progress) -> TokenStore:
    cache_dir.mkdir(parents=True, exist_ok=True)
    states = {path: file_state(path) for path in what.files}
    folder = cache_dir / content_key(cache_dir, what.described)
    if folder.exists():
        with suppress(DataError):  # a damaged store is opened again under the lock
            return TokenStore(folder, what.names)
    remarks = []
    with locked(cache_dir / "lock", lambda: progress("waiting for another process", 0, None)):
        if folder.exists():
            try:
                return TokenStore(folder, what.names)
            except DataError as error:
                remarks.append(str(error))
                shutil.rmtree(folder)
        for leftover in cache_dir.glob(".*.partial"):
            shutil.rmtree(leftover)  # its process has ended, because we hold the lock
        with whole_folder(folder) as beside:
            what.write(beside, progress)
            _check_unchanged(states)
    store = TokenStore(folder, what.names)
    store.report.remarks += remarks
    return store


def _check_unchanged(states: dict[Path, tuple[int, int]]) -> None:
    for path, state in states.items():
        if file_state(path) != state:
            raise DataError(f"{path}: changed while it was read; start again once it is complete")


def _described(
    corpora: Sequence[Corpus],
    tokenizer: TextEncoder,
    filters: Filters,
    noise: Noise | None,
    hints: SourceHints | None,
    content: ContentHashes,
) -> dict[str, Any]:
    """Everything that a store's content depends on. It does not depend on weights and paths."""
    return {
        "version": VERSION,
        "tokenizer": tokenizer.fingerprint(),
        "filters": asdict(filters) | {"apart_from": sorted(filters.apart_from)},
        **({} if noise is None else {"noise": asdict(noise)}),
        **({} if hints is None else {"hints": hints.settings}),
        "corpora": described(corpora, content),
    }


def described(corpora: Sequence[Corpus], content: ContentHashes) -> list[dict[str, Any]]:
    """Everything that the pairs read from these corpora depend on, as JSON values."""
    return [
        {"made": [corpus.made, corpus.pairs, corpus.seed], **_read_as(corpus)}
        if corpus.made is not None
        else {
            "files": [content(path) for path in corpus.files],
            # another format or compression reads other pairs from the same bytes
            "suffixes": [path.suffix for path in corpus.files],
            "format": corpus.resolved_format,
            "fields": [corpus.source_field, corpus.target_field],
            **_read_as(corpus),
        }
        for corpus in corpora
    ]


def _read_as(corpus: Corpus) -> dict[str, Any]:
    """The settings that change the pairs of the corpus' files; empty if the pairs are not
    changed."""
    read_as: dict[str, Any] = {}
    if corpus.normaliser is not None:
        read_as["normaliser"] = corpus.normaliser
    if corpus.languages is not None:
        read_as["languages"] = [*corpus.languages, corpus.swapped]
    if corpus.quoted:
        read_as["quoted"] = True
    if corpus.history is not None:
        said = [corpus.one_conversation, corpus.turn_fields, corpus.spaced]
        read_as["replies"] = [asdict(corpus.history), *said]
    return read_as
