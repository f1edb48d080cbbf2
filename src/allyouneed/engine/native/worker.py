"""Workers: threads of the compiled library that encode and decode one batch at a time."""

import math
import os
from collections.abc import Iterator, Sequence
from ctypes import byref, c_int32, cast, create_string_buffer, pointer
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.chances import chances
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.length_penalty import LengthPenalty, Wu
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.decoding.terms import WantedTerms
from allyouneed.engine.leaving import Leaving
from allyouneed.engine.native import bindings
from allyouneed.engine.native.interruption import Interrupted, Watch
from allyouneed.engine.native.packed import PackedModel
from allyouneed.errors import AllYouNeedError, ShapeError, counted

Number = TypeVar("Number", bound=np.generic)
Ids = Sequence[Sequence[int]]
Options = BeamOptions | SamplingOptions


class Worker:
    """Threads and memory for one batch at a time.

    `threads` is the number of threads that run, which may be fewer than were asked for.

    Raises:
        MemoryError: memory is short. All methods may raise it too.
        AllYouNeedError: the library rejects the request. All methods may raise it too.
    """

    def __init__(self, model: PackedModel, threads: int) -> None:
        self.model = model
        self.threads = threads
        self.sentences = self.rows = 0  # sentences of the batch; hypotheses that are decoded
        self._process = os.getpid()
        self.begin_anew()

    def __del__(self) -> None:
        self._free()

    def begin_anew(self) -> None:
        """Frees the memory that earlier batches needed, and drops the present batch."""
        self._free()
        error = create_string_buffer(bindings.ERROR_BYTES)
        library = self.model.library
        self.pointer = library.aya_worker_new(self.model.pointer, self.threads, error)
        if not self.pointer:
            raise AllYouNeedError(
                f"{counted(self.threads, 'thread')} cannot be started: {error.value.decode()}; "
                "free some memory, or use fewer threads"
            )
        self.threads = library.aya_worker_threads(self.pointer)

    def _free(self) -> None:
        # A forked process lacks its parent's threads, and joining them would never return.
        if getattr(self, "pointer", None) and self._process == os.getpid():
            self.model.library.aya_worker_free(self.pointer)
        self.pointer = None

    def search(
        self,
        sources: Ids,
        options: Options,
        prefixes: Ids | None = None,
        selection: Sequence[NDArray[np.int64]] | None = None,
        leaving: Leaving | None = None,
        numbers: Sequence[int] | None = None,
        heads: AlignmentHeads | None = None,
        terms: WantedTerms | None = None,
    ) -> list[list[Hypothesis]]:
        """Searches one batch. Python's other threads can run meanwhile.

        `selection` holds the ids that each sentence's translation may contain. `numbers` are the
        numbers of the sentences, None for 0, 1, 2 and so on; together with the seed they determine
        samples. With `heads`, each hypothesis gets its cross-attention. `leaving` ends the whole
        search or the search for a sentence, within 50 ms and a step. A signal handler that raises
        (Ctrl-C) ends the search just as soon.

        Raises:
            Interrupted: `leaving.every` was set.
        """
        leaving = leaving or Leaving()
        config = self.model.config
        asked = _Asked(config, sources, options, prefixes, selection, numbers, heads, terms)

        def let_go() -> None:
            gone = [n for n in range(len(sources)) if leaving.is_gone(n)]
            asked.limits[gone] = 0  # the search reads the limits at each step

        watch = Watch(leaving.every, let_go)
        many = options.n_best if isinstance(options, BeamOptions) else options.samples
        shape = (len(sources), many, asked.room)
        width = max(map(len, sources)) if heads else 0
        ids, log_p = np.empty(shape, np.int32), np.empty(shape, np.float32)
        lengths, scores = np.zeros(shape[:2], np.int32), np.zeros(shape[:2], np.float64)
        attention = np.empty((*shape, width), np.float32)
        found = bindings.Found(
            room=asked.room,
            source_room=width,
            places=lengths.size,
            ids=_address(ids, bindings.Ints),
            log_p=_address(log_p, bindings.Floats),
            lengths=_address(lengths, bindings.Ints),
            scores=_address(scores, bindings.Doubles),
            attention=_address(attention, bindings.Floats) if heads else None,
        )
        asked.request.interrupted = watch.interrupted
        with watch:
            self._call("aya_search", byref(asked.request), byref(found))
        return [
            [
                _hypothesis(
                    ids[s, n, :length].tolist(),
                    log_p[s, n, :length].tolist(),
                    score,
                    config.end,
                    attention[s, n, :length, : len(source)].copy() if heads else None,
                )
                for n, (length, score) in enumerate(zip(*places, strict=True))
                if length
            ]
            for s, (source, *places) in enumerate(
                zip(sources, lengths.tolist(), scores.tolist(), strict=True)
            )
        ]

    def stream(
        self,
        source: Sequence[int],
        options: Options,
        prefix: Sequence[int] = (),
        selection: NDArray[np.int64] | None = None,
        number: int = 0,
    ) -> Iterator[int]:
        """The ids of a greedy search or of one sample, each as soon as it is chosen."""
        rows = None if selection is None else [selection]
        asked = _Asked(self.model.config, [source], options, [prefix], rows, [number])
        # One sample without chances takes the most probable token at each step: greedy search.
        asked.request.options.samples = 1
        self._call("aya_begin", byref(asked.request))
        newest = c_int32()
        while True:
            self._call("aya_next", byref(newest))
            if newest.value < 0:
                return
            yield newest.value

    def encode(self, sources: Ids) -> None:
        """Encodes a batch."""
        self.sentences = len(sources)
        self._call("aya_encode", byref(_Lists(sources).lists))
        self.rows = len(sources)

    def start(self, hypotheses: int) -> None:
        """Starts this number of empty hypotheses for each sentence."""
        self._call("aya_start", hypotheses)
        self.rows = self.sentences * hypotheses

    def step(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """Logits of the next token, shape (rows, vocabulary), given each row's newest id.

        Raises:
            ShapeError: there is not one id for each row.
        """
        if ids.size != self.rows:
            raise ShapeError(f"{ids.size} ids for {self.rows} hypotheses; give one for each")
        logits = np.empty((ids.size, self.model.config.vocabulary), np.float32)
        self._call(
            "aya_step", ids.size, _address(ids, bindings.Ints), _address(logits, bindings.Floats)
        )
        return logits

    def select(self, parents: NDArray[np.int32]) -> None:
        """Row r continues the row that had number `parents[r]`; rows without a child are dropped.

        Raises:
            ShapeError: a parent is not the number of a row.
        """
        if parents.size and not 0 <= parents.min() <= parents.max() < self.rows:
            raise ShapeError(
                f"hypotheses {parents.min()} ... {parents.max()} cannot be kept; there are only "
                f"0 ... {self.rows - 1}"
            )
        self._call("aya_select", parents.size, _address(parents, bindings.Ints))
        self.rows = parents.size

    def _call(self, name: str, *arguments: Any) -> None:
        error = create_string_buffer(bindings.ERROR_BYTES)
        status = getattr(self.model.library, name)(self.pointer, *arguments, error)
        if status == bindings.OK:
            return
        if status == bindings.MEMORY:
            raise MemoryError(error.value.decode())
        if status == bindings.STOPPED:
            raise Interrupted(error.value.decode())
        remedy = "; check its weights for NaN" if status == bindings.NOT_FINITE else ""
        raise AllYouNeedError(error.value.decode() + remedy)


class _Asked:
    """A request in the library's form, with the memory that it points to."""

    def __init__(
        self,
        config: TransformerConfig,
        sources: Ids,
        options: Options,
        prefixes: Ids | None,
        selection: Sequence[NDArray[np.int64]] | None,
        numbers: Sequence[int] | None,
        heads: AlignmentHeads | None = None,
        terms: WantedTerms | None = None,
    ) -> None:
        self.limits = np.array([options.limit(len(s) - 1, config) for s in sources], np.int32)
        self.room = int(self.limits.max())
        self.lists = [None if rows is None else _Lists(rows) for rows in (prefixes, selection)]
        self.sources = _Lists(sources)
        self.terms = _Terms(terms) if terms else None
        heads = heads or (terms.heads if terms else None)
        self.heads = np.array(heads.heads if heads else (), np.int32)
        forced, chosen = (rows and pointer(rows.lists) for rows in self.lists)
        self.request = bindings.Request(
            sources=self.sources.lists,
            limits=_address(self.limits, bindings.Ints),
            prefixes=forced,
            selection=chosen,
            options=self._options(options, numbers),
            attention=bindings.Attention(
                layer=range(config.decoder_layers)[heads.layer] if heads else -1,
                head_count=self.heads.size,
                heads=_address(self.heads, bindings.Ints),
            ),
            terms=pointer(self.terms.terms) if self.terms else None,
        )

    def _options(self, options: Options, numbers: Sequence[int] | None) -> bindings.Options:
        shared = bindings.Options(
            beam=1,
            n_best=1,
            min_length=options.min_length,
            no_repeat_ngram=options.no_repeat_ngram,
            loop_guard=options.loop_guard,
            given=options.given,
            top_p=1.0,
            temperature=1.0,
        )
        if isinstance(options, BeamOptions):
            penalty, count = options.penalty, self.room + 2
            if isinstance(penalty, Wu):
                self.penalties = _known_penalties(penalty, count)
            else:
                self.penalties = _penalties(penalty, count)
            shared.beam = options.beam
            shared.n_best = options.n_best
            shared.stop_exact = options.stop == "exact"
            shared.stop_first = options.stop == "first"
            shared.penalty_count = self.penalties.size
            shared.penalties = _address(self.penalties, bindings.Doubles)
        else:
            places = range(len(self.limits)) if numbers is None else numbers
            self.chances = np.array(chances(options, places, self.room), np.float64)
            shared.samples = options.samples
            shared.top_k = min(options.top_k, 2**31 - 1)
            shared.top_p = options.top_p
            shared.temperature = options.temperature
            shared.chance_count = self.chances.size
            shared.chances = _address(self.chances, bindings.Doubles)
        return shared


class _Lists:
    """Lists of ids in the library's form, with their memory."""

    def __init__(self, lists: Ids | Sequence[NDArray[np.int64]]) -> None:
        offsets = list(accumulate(map(len, lists), initial=0))
        self.offsets = np.array(offsets, np.int64)
        self.ids = np.empty(offsets[-1], np.int32)
        for row, (begin, end) in zip(lists, pairwise(offsets), strict=True):
            self.ids[begin:end] = np.asarray(row, np.int32)
        self.lists = bindings.Lists(
            count=len(lists),
            size=self.ids.size,
            ids=_address(self.ids, bindings.Ints),
            offsets=_address(self.offsets, bindings.Offsets),
        )


class _Terms:
    """Terms in the library's form, and the memory that holds them."""

    def __init__(self, wanted: WantedTerms) -> None:
        each = [term for terms in wanted.sentences for term in terms]
        self.forms = _Lists([form for term in each for form in term.forms])
        self.sources = _Lists([term.source for term in each])
        numbered = [
            (k, form) for ts in wanted.sentences for k, t in enumerate(ts) for form in t.forms
        ]
        self.term_of = np.array([k for k, _ in numbered], np.int32)
        forms = [sum(len(term.forms) for term in terms) for terms in wanted.sentences]
        self.forms_of = np.cumsum([0, *forms], dtype=np.int64)
        self.terms_of = np.cumsum([0, *map(len, wanted.sentences)], dtype=np.int64)
        self.edges = np.frombuffer(wanted.edges, np.uint8)
        self.terms = bindings.Terms(
            forms=self.forms.lists,
            term_of=_address(self.term_of, bindings.Ints),
            forms_of=_address(self.forms_of, bindings.Offsets),
            sources=self.sources.lists,
            terms_of=_address(self.terms_of, bindings.Offsets),
            edges=_address(self.edges, bindings.Bytes),
        )


def _penalties(penalty: LengthPenalty, count: int) -> NDArray[np.float64]:
    """The penalties of the lengths 0 to `count` - 1. Length 0 has the penalty of length 1."""
    return np.array([penalty(max(n, 1)) for n in range(count)])


@lru_cache(256)
def _known_penalties(penalty: Wu, count: int) -> NDArray[np.float64]:
    """As `_penalties`, with a cache, because most searches need the same penalties."""
    return _penalties(penalty, count)


def _hypothesis(
    ids: list[int],
    log_p: list[float],
    score: float,
    end: int,
    attention_TS: NDArray[np.float32] | None,
) -> Hypothesis:
    return Hypothesis(
        ids=tuple(ids),
        token_log_probabilities=tuple(log_p),
        log_probability=math.fsum(log_p),
        score=score,
        finished=ids[-1] == end,
        attention_TS=attention_TS,
    )


def _address(array: "NDArray[Number]", kind: Any) -> Any:
    """A pointer to the array's memory; the array must live as long as the pointer is used.
    `array.ctypes.data_as` would put the array into a reference cycle, and a batch's memory would
    then stay until Python collects cycles."""
    return cast(array.ctypes.data, kind)
