"""The native engine: a model packed for the processor, with the search in compiled code."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Literal

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import (
    BeamOptions,
    SamplingOptions,
    check_streamable,
    check_takes_terms,
)
from allyouneed.decoding.prefixes import check_prefixes, check_room
from allyouneed.decoding.terms import WantedTerms, with_terms
from allyouneed.engine.batches import BATCH_HYPOTHESES
from allyouneed.engine.engine import Note, ignore
from allyouneed.engine.leaving import leaving_here
from allyouneed.engine.native.interruption import Interrupted
from allyouneed.engine.native.library import Library, find_library
from allyouneed.engine.native.packed import PackedModel
from allyouneed.engine.native.packed_cache import open_packed
from allyouneed.engine.native.worker import Worker
from allyouneed.errors import AllYouNeedError, ModelFolderError, ShapeError, counted
from allyouneed.model_folder.folder import ModelFolder
from allyouneed.pipeline import processors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allyouneed.engine.native.decodable import NativeDecodable
    from allyouneed.model_folder.vocabulary_selection import VocabularySelection

Precision = Literal["int8", "float32"]
BATCH_TOKENS = 4096  # source tokens in a batch


class NativeEngine:
    """Translates with compiled code. Each thread works on a batch of its own; if there are fewer
    batches than threads, several threads share a batch.

    `batch_tokens` and `batch_hypotheses` limit the size of a batch. `workers` is the number of
    batches that are decoded at the same time (None: one for each of the `threads` threads).
    """

    def __init__(self, model: PackedModel, library: Library, precision: Precision, threads: int):
        self.model = model
        self.library = library
        self.precision = precision
        self.threads = threads
        self.batch_tokens = BATCH_TOKENS
        self.batch_hypotheses = BATCH_HYPOTHESES
        self.workers: int | None = None
        self.selection: VocabularySelection | None = None
        self._idle: dict[tuple[int, int], list[Worker]] = {}  # key: process id, threads

    @classmethod
    def open(
        cls, folder: ModelFolder, precision: Precision = "int8", threads: int | None = None
    ) -> "NativeEngine":
        """Packs the weights of a model folder, or reads them from the cache of packed weights.

        The engine has fewer `threads` than asked for (None: than processors) where memory is short.

        Raises:
            NoLibrary: the engine is not compiled and cannot be compiled.
            ModelFolderError: weights are missing, damaged or of another shape.
            AllYouNeedError: weights contain NaN or infinity; the message names the tensor. Or no
                thread can be started.
        """
        library = find_library()
        try:
            model = open_packed(library, folder, precision == "int8")
        except ModelFolderError:
            raise  # it names the file
        except AllYouNeedError as error:
            raise AllYouNeedError(f"{folder.path}: {error}") from error
        return cls(model, library, precision, _runnable(model, threads or processors()))

    @property
    def name(self) -> str:
        """The name for `load(engine=...)`."""
        return f"cpu-{self.precision}"

    @property
    def description(self) -> str:
        """A description in words, such as "int8, native (AVX-512 VNNI), 2 threads"."""
        return f"{self.precision}, native ({self.library.units}), {counted(self.threads, 'thread')}"

    @property
    def config(self) -> TransformerConfig:
        """The shape of the model."""
        return self.model.config

    @cached_property
    def decodable(self) -> "NativeDecodable":
        """The same model as a `Decodable`, for searches written in Python. Needs torch."""
        from allyouneed.engine.native.decodable import NativeDecodable

        return NativeDecodable(self.model, self.threads)

    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: BeamOptions | SamplingOptions,
        prefixes: Sequence[Sequence[int]] | None = None,
        numbers: Sequence[int] | None = None,
        heads: AlignmentHeads | None = None,
        note: Note = ignore,
        terms: WantedTerms | None = None,
    ) -> list[list[Hypothesis]]:
        """As `Engine.search`."""
        self._check(sources, options, prefixes, heads)
        if terms is not None:
            self._check_terms(terms, options)
        found: list[list[Hypothesis]] = [[] for _ in sources]
        numbers = range(len(sources)) if numbers is None else numbers
        leaving = leaving_here()

        def decode(worker: Worker, batch: list[int]) -> None:
            given = [sources[n] for n in batch]
            forced = None if prefixes is None else [prefixes[n] for n in batch]
            wanted = None if terms is None else terms.of(batch)
            needed = with_terms(forced, wanted)
            rows = self.selection.rows(given, needed) if self.selection else None
            own = [numbers[n] for n in batch]
            results = worker.search(
                given, options, forced, rows, leaving.of(batch), own, heads, wanted
            )
            for n, hypotheses in zip(batch, results, strict=True):
                found[n] = hypotheses

        width = options.beam if isinstance(options, BeamOptions) else options.samples
        batches = self._batches([len(source) for source in sources], width)
        self._work_off(deque(batches), decode, leaving.every, note)
        return found

    def stream(
        self,
        source: Sequence[int],
        options: BeamOptions | SamplingOptions,
        prefix: Sequence[int] = (),
        number: int = 0,
    ) -> Iterator[int]:
        """As `Engine.stream`."""
        check_streamable(options)
        self._check([source], options, [prefix], None)
        rows = self.selection.rows([source], [prefix]) if self.selection else [None]
        worker = self._worker(self.threads)
        yield from worker.stream(source, options, prefix, rows[0], number)
        self._idle.setdefault((os.getpid(), self.threads), []).append(worker)

    def attention(
        self, source: Sequence[int], target: Sequence[int], heads: AlignmentHeads
    ) -> "NDArray[np.float32] | None":
        """As `Engine.attention`. A search with the target as forced prefix computes it; the last
        step is left free, because a prefix must be shorter than the limit."""
        if len(target) > self.config.max_positions:
            raise ShapeError(
                f"{len(target)} tokens do not fit into max_positions={self.config.max_positions}"
            )
        options = BeamOptions(beam=1, min_length=0, max_length=len(target))
        [[found]] = self.search([source], options, [target[:-1]], heads=heads)
        return found.attention_TS

    def _check(
        self,
        sources: Sequence[Sequence[int]],
        options: BeamOptions | SamplingOptions,
        prefixes: Sequence[Sequence[int]] | None,
        heads: AlignmentHeads | None,
    ) -> None:
        """Raises the errors of `Engine.search` for sources, prefixes or heads that do not fit."""
        for source in sources:
            if len(source) > self.config.max_positions:
                raise ShapeError(
                    f"{len(source)} tokens do not fit into max_positions="
                    f"{self.config.max_positions}; split the text or build the model with more"
                )
        if prefixes is not None:
            check_prefixes(prefixes, len(sources), self.config)
            check_room(prefixes, [options.limit(len(s) - 1, self.config) for s in sources])
        if heads:
            heads.check(self.config.decoder_layers, self.config.heads)

    def _check_terms(self, terms: WantedTerms, options: BeamOptions | SamplingOptions) -> None:
        """Raises the errors that `Engine.search` documents for terms or heads that do not fit."""
        check_takes_terms(options)
        terms.heads.check(self.config.decoder_layers, self.config.heads)
        if len(terms.edges) != self.config.vocabulary:
            raise ShapeError(
                f"edges of {len(terms.edges)} pieces for a vocabulary of {self.config.vocabulary}"
            )

    def _batches(self, lengths: Sequence[int], beam: int) -> list[list[int]]:
        """The batches, with the longest sentences first, so that the last batches to end are short.
        There is at least one batch for each worker if there are enough sentences."""
        fair = -(-len(lengths) // (self.workers or self.threads))
        most = max(1, min(self.batch_hypotheses // beam, fair))
        ordered = sorted(range(len(lengths)), key=lambda n: -lengths[n])
        batches: list[list[int]] = []
        tokens = 0
        for n in ordered:
            if not batches or len(batches[-1]) == most or tokens + lengths[n] > self.batch_tokens:
                batches.append([])
                tokens = 0
            batches[-1].append(n)
            tokens += lengths[n]
        return batches

    def _work_off(
        self,
        batches: deque[list[int]],
        decode: Callable[[Worker, list[int]], None],
        left: Event,
        note: Note,
    ) -> None:
        """Calls decode(worker, batch) for all batches, several at a time. A single batch is decoded
        by all threads together.

        When a call fails, or the user interrupts, `left` is set: no further batch is begun, and
        running searches end within a step."""
        workers = min(self.workers or self.threads, len(batches)) or 1
        threads = max(1, self.threads // workers)

        self._keep_few()

        def work() -> None:
            worker = self._worker(threads)
            try:
                while batch := _next(batches):
                    try:
                        decode(worker, batch)
                    except MemoryError as error:
                        batches.extendleft(_halves(batch, error, note))
                        self._idle.clear()  # idle workers hold memory of earlier batches
                        worker.begin_anew()
            except Interrupted:  # `left` is set: its cause is raised elsewhere
                pass
            except BaseException:
                batches.clear()
                left.set()
                raise
            finally:
                idle = self._idle.setdefault((os.getpid(), threads), [])
                # Many threads may search at the same time, so more than this call used are kept.
                if worker.pointer and len(idle) < max(self.threads // threads, processors()):
                    idle.append(worker)

        if workers == 1:
            work()
            return
        from concurrent.futures import Future, ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            begun: list[Future[None]] = []
            try:
                while batches and len(begun) < workers:
                    try:
                        begun.append(pool.submit(work))
                    except RuntimeError:  # no more threads can be started
                        if not self._idle:
                            break  # those that were started do the work
                        self._idle.clear()  # idle workers have threads, too
                for done in begun:
                    done.result()
                if not begun:
                    work()
            except BaseException:
                batches.clear()
                left.set()
                raise

    def _keep_few(self) -> None:
        """Drops idle workers, except those of the last two keys (process, threads)."""
        for key in [*self._idle][:-2]:
            self._idle.pop(key, None)

    def _worker(self, threads: int) -> Worker:
        """An idle worker of this process, or a new one. A forked process cannot use the workers of
        its parent, whose threads it lacks."""
        try:
            return self._idle[os.getpid(), threads].pop()
        except LookupError:
            return Worker(self.model, threads)


def _runnable(model: PackedModel, threads: int) -> int:
    """How many of these threads searches run with. Where not all of them can be started, it is half
    of those that can be: the memory of the others is left to the searches themselves."""
    started = Worker(model, threads).threads
    return threads if started == threads else max(1, started // 2)


def _next(batches: deque[list[int]]) -> list[int] | None:
    with suppress(IndexError):
        return batches.popleft()
    return None


def _halves(batch: list[int], error: MemoryError, note: Note) -> list[list[int]]:
    if len(batch) == 1:
        raise AllYouNeedError(
            "one sentence alone does not fit into memory; translate it in parts, or use a smaller "
            "beam or max_length"
        ) from error
    for n in batch:
        note(n, f"memory ran short for a batch of {len(batch)} sentences; it was split in halves")
    middle = len(batch) // 2
    return [batch[:middle], batch[middle:]]
