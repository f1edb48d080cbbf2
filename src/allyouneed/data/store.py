"""Pairs as token ids in memory-mapped files, made once per content, tokenizer and filters."""

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
from allyouneed.data.corpus import Corpus
from allyouneed.data.filters import Filters
from allyouneed.data.lock import locked
from allyouneed.data.noise.noise import Noise
from allyouneed.data.report import DataReport
from allyouneed.data.store_writer import Encoder, Progress, write_store
from allyouneed.errors import DataError
from allyouneed.files import whole_folder

# Part of every key: a change of layout, filters or made corpora raises it.
VERSION = 1

Ids = NDArray[np.unsignedinteger[Any]]


class TokenStore:
    """The pairs of a store folder, numbered from 0 in reading order.

    `corpus_bounds[c]` to `corpus_bounds[c + 1]` are the pairs of corpus c. `names` are what to
    call the corpora, in place of what they were called when the store was made.

    Raises DataError when the folder is damaged.
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
                f"{folder}: the token store is damaged ({error}); it is made anew from the corpora"
            ) from error
        if names is not None:
            self.report.corpora = list(names)
        self.corpus_bounds = np.cumsum([0, *self.report.kept_by_corpus])

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def corpora(self) -> int:
        """How many corpora it was made from."""
        return len(self.corpus_bounds) - 1

    def pair(self, index: int) -> tuple[Ids, Ids]:
        """(source ids, target ids) of a pair, each ending in the end token; read-only views."""
        if not 0 <= index < len(self):
            raise IndexError(f"pair {index} of a store of {len(self)}")
        return self._sentence("source", index), self._sentence("target", index)

    def _sentence(self, side: str, index: int) -> Ids:
        first, end = self._offsets[side][index : index + 2]
        ids: Ids = self._ids[side][first:end]
        return ids

    def lengths(
        self, first: int = 0, end: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(source, target) lengths in tokens, end tokens counted, of the pairs first to end - 1;
        of all without `end`."""
        last = len(self) if end is None else min(end, len(self))
        source, target = (
            np.diff(self._offsets[side][first : last + 1]).astype(np.int32)
            for side in ("source", "target")
        )
        return source, target

    def corpus_of(self, index: int) -> int:
        """The number of the corpus a pair came from."""
        return int(np.searchsorted(self.corpus_bounds, index, side="right")) - 1

    def line_of(self, index: int) -> tuple[str, int]:
        """(name of the corpus, line in it) of a pair."""
        return self.report.corpora[self.corpus_of(index)], int(self._lines[index])


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
        arrays[name] = mapped.view(np.ndarray)  # slices of a plain array are made faster
    return arrays


def build_store(
    corpora: Sequence[Corpus],
    tokenizer: Encoder,
    filters: Filters,
    cache_dir: Path,
    progress: Progress | None = None,
    noise: Noise | None = None,
) -> TokenStore:
    """The store of these corpora, out of `cache_dir` if it is there, made and kept there if not.

    Its folder is named by the sha256 over file contents, tokenizer, filters, noise and version. It
    is written beside under a lock and renamed into place, so a store is whole or absent; a second
    process waits for the first and shares its work. A damaged store is made anew, with a remark
    in the report.

    Raises DataError when a corpus cannot be read, no pair is left, or `cache_dir` cannot be
    written (no space, no permission).
    """
    if not corpora:
        raise DataError("no corpus is named; name at least one")
    files = [path for corpus in corpora for path in corpus.files]
    what = Content(
        [corpus.name for corpus in corpora],
        files,
        lambda content: _described(corpora, tokenizer, filters, noise, content),
        lambda folder, progress: write_store(folder, corpora, tokenizer, filters, progress, noise),
    )
    return keep_store(what, cache_dir, progress)


@dataclass(frozen=True, slots=True)
class Content:
    """What a store is made from: corpora by name, their files, these and all else that decides
    what it holds, as JSON can hold it, and what fills an empty folder."""

    names: Sequence[str]
    files: Sequence[Path]
    described: Callable[[ContentHashes], Any]
    write: Callable[[Path, Progress], None]


def keep_store(what: Content, cache_dir: Path, progress: Progress | None = None) -> TokenStore:
    """The store with this content: kept in `cache_dir` and made there once, as `build_store` says.

    Raises DataError when `cache_dir` cannot be written, and the errors of `what`.
    """
    try:
        return _open_or_build(what, cache_dir, progress if progress is not None else _silent)
    except OSError as error:
        raise DataError(
            f"{cache_dir}: cannot keep the token store there: {error}; "
            "free some space or choose another folder"
        ) from error


def _silent(stage: str, done: int, total: int | None) -> None:
    pass


def _open_or_build(what: Content, cache_dir: Path, progress: Progress) -> TokenStore:
    cache_dir.mkdir(parents=True, exist_ok=True)
    states = {path: file_state(path) for path in what.files}
    folder = cache_dir / content_key(cache_dir, what.described)
    if folder.exists():
        with suppress(DataError):  # damaged: looked at again under the lock
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
            shutil.rmtree(leftover)  # its process is dead: the lock is ours
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
    tokenizer: Encoder,
    filters: Filters,
    noise: Noise | None,
    content: ContentHashes,
) -> dict[str, Any]:
    """Everything that decides what a store holds. Weights and paths do not."""
    return {
        "version": VERSION,
        "tokenizer": tokenizer.fingerprint(),
        "filters": asdict(filters),
        **({} if noise is None else {"noise": asdict(noise)}),
        "corpora": described(corpora, content),
    }


def described(corpora: Sequence[Corpus], content: ContentHashes) -> list[dict[str, Any]]:
    """All that decides which pairs are read from these corpora, as JSON can hold it."""
    return [
        {"made": [corpus.made, corpus.pairs, corpus.seed], **_read_as(corpus)}
        if corpus.made is not None
        else {
            "files": [content(path) for path in corpus.files],
            # the same bytes are read differently under another format or compression
            "suffixes": [path.suffix for path in corpus.files],
            "format": corpus.resolved_format,
            "fields": [corpus.source_field, corpus.target_field],
            **_read_as(corpus),
        }
        for corpus in corpora
    ]


def _read_as(corpus: Corpus) -> dict[str, Any]:
    """What is made of the pairs in its files; nothing where they are read as they are."""
    read_as: dict[str, Any] = {}
    if corpus.normaliser is not None:
        read_as["normaliser"] = corpus.normaliser
    if corpus.history is not None:
        said = [corpus.one_conversation, corpus.turn_fields, corpus.spaced]
        read_as["replies"] = [asdict(corpus.history), *said]
    return read_as
