"""Writes a token store. Pairs are read twice: first for duplicates and errors, then for tokens.

The second time, reading, tokenising and writing run in three threads. The tokenizer's library works
outside the interpreter's lock, so its cores do not wait for reading and writing.
"""

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allyouneed.data.corpus import Corpus, Pair
from allyouneed.data.duplicates import mark_repeats, pair_key
from allyouneed.data.filters import Filters
from allyouneed.data.noise.noise import Noise
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.errors import DataError
from allyouneed.pipeline import ahead

CHUNK_PAIRS = 8192
CHUNK_CHARACTERS = 4_000_000

# (name of the stage, pairs done, number of all pairs or None while unknown)
Progress = Callable[[str, int, int | None], None]


HINTED = "terms written into the source"  # a note of the report


class SourceHints(Protocol):
    """Something that training writes into the ids of sources, such as terms."""

    @property
    def settings(self) -> Any:
        """The settings that change the hints, as JSON values: a store with others is made anew."""

    def added(
        self, pairs: Sequence[Pair], sources: list[list[int]], tell: Callable[[Pair], None]
    ) -> list[list[int]]:
        """The ids of the pairs' sources with their hints. `tell` is called for each such pair."""


class TextEncoder(Protocol):
    """The part of a tokenizer that a store uses: ids with the end token, and a fingerprint."""

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]: ...
    def mark(self, language: str) -> int: ...
    def fingerprint(self) -> str: ...
    def __len__(self) -> int: ...


def write_store(
    folder: Path,
    corpora: Sequence[Corpus],
    tokenizer: TextEncoder,
    filters: Filters,
    progress: Progress,
    noise: Noise | None = None,
    hints: SourceHints | None = None,
) -> None:
    """Writes a store to an empty folder. Memory holds a chunk of text, and a byte for each pair.
    Noise is added after duplicates are removed, so copies of a pair are not duplicates. Hints are
    written into the ids of the noisy sources.

    Raises:
        DataError: a corpus cannot be read, or no pair is left.
        OSError: the disk is full.
    """
    repeats = mark_repeats(_keys(corpora, progress), folder)
    report = DataReport([corpus.name for corpus in corpora], [0] * len(corpora))
    chunks = ahead(_read(corpora, repeats, filters, report, noise))
    with (
        StoreFiles(folder, len(tokenizer)) as files,
        closing(ahead(_tokenised(chunks, corpora, tokenizer, hints, report))) as tokenised,
    ):
        for chunk, sources, targets in tokenised:
            kept = _append(files, chunk, sources, targets, filters, report)
            report.kept_by_corpus[chunk.index] += kept
            progress("tokenising", chunk.done, len(repeats))
    if report.kept == 0:
        raise DataError(f"{', '.join(report.corpora)}: no pair is left; {report.summary()}")
    (folder / "report.json").write_text(json.dumps(report.to_dict(), indent=1))
    (folder / "store.json").write_text(json.dumps(files.description(), indent=1))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some wanted pairs of corpus `index`. `done` is the number of pairs read so far, including
    these."""

    index: int
    pairs: list[Pair]
    done: int


def _keys(corpora: Sequence[Corpus], progress: Progress) -> Iterator[bytes]:
    """A key for each pair in reading order. Malformed lines are counted in the second reading."""
    uncounted = DataReport([corpus.name for corpus in corpora])
    done = 0
    for index, corpus in enumerate(corpora):
        # names that are spelt alike in all languages are no duplicates
        into = corpus.languages[1] + "\n" if corpus.languages else ""
        for pair in read_pairs(corpus, uncounted, index):
            yield pair_key(into + pair.source, pair.target)
            done += 1
            if done % CHUNK_PAIRS == 0:
                progress("reading", done, None)


def _read(
    corpora: Sequence[Corpus],
    repeats: NDArray[np.bool_],
    filters: Filters,
    report: DataReport,
    noise: Noise | None,
) -> Iterator[Chunk]:
    done = 0
    for index, corpus in enumerate(corpora):
        for chunk in _chunks(read_pairs(corpus, report, index)):
            repeated = repeats[done : done + len(chunk)]
            if len(repeated) < len(chunk):
                raise DataError(f"{corpus.name}: grew while it was read; start again")
            done += len(chunk)
            wanted = _wanted(chunk, repeated, filters, report, index, corpus.languages)
            if noise is not None:

                def tell(kind: str, pair: Pair, index: int = index) -> None:
                    report.note(f"noise: {kind}", index, pair.line, "")

                wanted = noise.of(wanted, tell)
            yield Chunk(index, wanted, done)


def _chunks(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    chunk: list[Pair] = []
    characters = 0
    for pair in pairs:
        chunk.append(pair)
        characters += len(pair.source) + len(pair.target)
        if len(chunk) == CHUNK_PAIRS or characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _wanted(
    chunk: list[Pair],
    repeated: NDArray[np.bool_],
    filters: Filters,
    report: DataReport,
    index: int,
    languages: tuple[str, str] | None,
) -> list[Pair]:
    wanted = []
    for pair, repeats in zip(chunk, repeated.tolist(), strict=True):
        verdict = filters.judge_text(pair, languages)
        if verdict is None and repeats and filters.drop_duplicates:
            verdict = "duplicate", ""
        if verdict is not None:
            report.leave_out(verdict[0], index, pair.line, verdict[1])
            continue
        wanted.append(pair)
        if odd := filters.other_script(pair, languages):
            report.note(odd[0], index, pair.line, odd[1])
    return wanted


def _tokenised(
    chunks: Generator[Chunk, None, None],
    corpora: Sequence[Corpus],
    tokenizer: TextEncoder,
    hints: SourceHints | None,
    report: DataReport,
) -> Iterator[tuple[Chunk, list[list[int]], list[list[int]]]]:
    """Each chunk with the ids of its sources and of its targets."""
    with closing(chunks):
        for chunk in chunks:
            pairs = chunk.pairs
            ids = tokenizer.encode_ids([p.source for p in pairs] + [p.target for p in pairs])
            sources, targets = ids[: len(pairs)], ids[len(pairs) :]
            if hints is not None:

                def tell(pair: Pair, index: int = chunk.index) -> None:
                    report.note(HINTED, index, pair.line, "")

                sources = hints.added(pairs, sources, tell)
            if languages := corpora[chunk.index].languages:
                mark = tokenizer.mark(languages[1])
                sources = [[mark, *source] for source in sources]
            yield chunk, sources, targets


def _append(
    files: "StoreFiles",
    chunk: Chunk,
    sources: list[list[int]],
    targets: list[list[int]],
    filters: Filters,
    report: DataReport,
) -> int:
    """Writes the pairs whose lengths pass the filters. Returns their number."""
    kept = []
    for position, pair in enumerate(chunk.pairs):
        verdict = filters.judge_lengths(len(sources[position]), len(targets[position]))
        if verdict is None:
            kept.append(position)
        else:
            report.leave_out(verdict[0], chunk.index, pair.line, verdict[1])
    files.append(
        [sources[n] for n in kept],
        [targets[n] for n in kept],
        [chunk.pairs[n].line for n in kept],
    )
    return len(kept)


class StoreFiles:
    """The arrays of a store as files that grow: ids and offsets of both sides, line numbers."""

    def __init__(self, folder: Path, vocabulary: int) -> None:
        self._folder = folder
        self._dtype = np.dtype("<u2" if vocabulary <= 1 << 16 else "<u4")
        self._tokens = {"source": 0, "target": 0}
        self._files: dict[str, IO[bytes]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> "StoreFiles":
        for name in ("source_ids", "source_offsets", "target_ids", "target_offsets", "lines"):
            file = (self._folder / name).open("wb")
            self._files[name] = self._stack.enter_context(file)
        for side in self._tokens:
            self._write(f"{side}_offsets", [0], "<i8")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def append(self, sources: list[list[int]], targets: list[list[int]], lines: list[int]) -> None:
        for side, sentences in (("source", sources), ("target", targets)):
            lengths = np.fromiter(map(len, sentences), "<i8", len(sentences))
            tokens = int(lengths.sum())
            ids = np.fromiter(chain.from_iterable(sentences), self._dtype, tokens)
            self._write(f"{side}_ids", ids, self._dtype)
            self._write(f"{side}_offsets", self._tokens[side] + lengths.cumsum(), "<i8")
            self._tokens[side] += tokens
        self._write("lines", lines, "<i8")

    def _write(self, name: str, values: Any, dtype: Any) -> None:
        self._files[name].write(np.asarray(values, dtype=dtype).tobytes())

    def description(self) -> dict[str, Any]:
        """The content of `store.json`: the type of the ids, and each file's size in bytes."""
        sizes = {name: (self._folder / name).stat().st_size for name in self._files}
        return {"dtype": self._dtype.str, "bytes": sizes}
