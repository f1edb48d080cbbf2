"""A model packed by the compiled library, and workers that decode with it."""

import ctypes
import os
from collections.abc import Mapping, Sequence
from ctypes import byref, c_char_p, create_string_buffer
from threading import Event
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import Activation, TransformerConfig
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native import bindings
from allyouneed.engine.native.interruption import Interrupted, Watch
from allyouneed.errors import AllYouNeedError, ShapeError

Ids = Sequence[Sequence[int]]


class PackedModel:
    """The weights as the library lays them out: int8 or float32, fused, in panels.

    Raises:
        AllYouNeedError: weights that hold NaN or infinity, by their name, or too little memory.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        config: TransformerConfig,
        arrays: Mapping[str, NDArray[np.float32]],
        int8: bool,
    ) -> None:
        self.library = library
        self.config = config
        tensors = {**arrays, **_position_tables(config, arrays)}
        tensors = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
        # These are read where they lie, so they have to stay; the others are copied.
        self._kept = [a for name, a in tensors.items() if "embeddings" in name or "norm" in name]
        names = (c_char_p * len(tensors))(*(name.encode() for name in tensors))
        data = (bindings.Floats * len(tensors))(*map(_floats, tensors.values()))
        sizes = np.array([array.size for array in tensors.values()], np.int64)
        error = create_string_buffer(bindings.ERROR_BYTES)
        self.pointer = library.aya_model_new(
            byref(_numbers(config)), int8, len(tensors), names, data, _offsets(sizes), error
        )
        if not self.pointer:
            raise AllYouNeedError(f"the weights cannot be packed: {error.value.decode()}")

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self.library.aya_model_free(self.pointer)


class Worker:
    """Threads and memory for one batch at a time.

    Methods raise MemoryError where memory is short and AllYouNeedError where the library refuses;
    so does making one where there is too little memory for it.
    """

    def __init__(self, model: PackedModel, threads: int) -> None:
        self.model = model
        self.threads = threads
        self.sentences = self.rows = 0  # of the batch, and of what is decoded
        self._process = os.getpid()
        self.begin_anew()

    def __del__(self) -> None:
        self._free()

    def begin_anew(self) -> None:
        """Gives back the memory that batches have made it take; there is no batch any more."""
        self._free()
        error = create_string_buffer(bindings.ERROR_BYTES)
        self.pointer = self.model.library.aya_worker_new(self.model.pointer, self.threads, error)
        if not self.pointer:
            raise AllYouNeedError(
                f"{self.threads} threads cannot be set up: {error.value.decode()}; free some "
                "memory, or take fewer threads"
            )

    def _free(self) -> None:
        # A process that was forked has none of the threads, and would wait for them for ever.
        if getattr(self, "pointer", None) and self._process == os.getpid():
            self.model.library.aya_worker_free(self.pointer)
        self.pointer = None

    def search(
        self,
        sources: Ids,
        options: BeamOptions,
        prefixes: Ids | None = None,
        selection: Sequence[NDArray[np.int64]] | None = None,
        left: Event | None = None,
    ) -> list[list[Hypothesis]]:
        """Beam search over one batch; other threads of Python run meanwhile.

        `selection` are the ids that each sentence's translation may be made of, in ascending order.
        When `left` is set, or a signal handler raises (Ctrl-C), the search ends within a step.

        Raises:
            Interrupted: `left` was set.
        """
        watch = Watch(left or Event())
        config = self.model.config
        limits = np.array([options.limit(len(s) - 1, config) for s in sources], np.int32)
        room = int(limits.max())
        penalties = np.array([options.length_penalty(max(n, 1)) for n in range(room + 2)])
        shape = (len(sources), options.n_best)
        ids, log_p = np.empty((*shape, room), np.int32), np.empty((*shape, room), np.float32)
        lengths, scores = np.zeros(shape, np.int32), np.zeros(shape, np.float64)
        numbers = bindings.Options(
            options.beam,
            options.n_best,
            options.min_length,
            options.no_repeat_ngram,
            options.loop_guard,
            options.stop == "exact",
            options.stop == "first",
            _doubles(penalties),
            watch.interrupted,
        )
        found = bindings.Found(_ints(ids), _floats(log_p), _ints(lengths), _doubles(scores), room)
        given, forced, chosen = _lists(sources), _lists(prefixes), _lists(selection)
        with watch:
            self._call(
                "aya_search",
                len(sources),
                given.reference,
                _ints(limits),
                forced.reference,
                chosen.reference,
                byref(numbers),
                byref(found),
            )
        return [
            [
                _hypothesis(ids[s, n, :length], log_p[s, n, :length], scores[s, n], config.end)
                for n, length in enumerate(lengths[s])
                if length
            ]
            for s in range(len(sources))
        ]

    def encode(self, sources: Ids) -> None:
        """Takes in a batch."""
        self.sentences = len(sources)
        given = _lists(sources)
        self._call("aya_encode", len(sources), given.reference)
        self.rows = len(sources)

    def start(self, hypotheses: int) -> None:
        """Gives each sentence so many hypotheses, of no step yet."""
        self._call("aya_start", hypotheses)
        self.rows = self.sentences * hypotheses

    def step(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """Logits, shape (rows, vocabulary), of what follows each row's newest id.

        Raises:
            ShapeError: not one id for each row.
        """
        if ids.size != self.rows:
            raise ShapeError(f"{ids.size} ids for {self.rows} hypotheses; give one for each")
        logits = np.empty((ids.size, self.model.config.vocabulary), np.float32)
        self._call("aya_step", _ints(ids), _floats(logits))
        return logits

    def select(self, parents: NDArray[np.int32]) -> None:
        """Row r goes on from what row `parents[r]` was; other rows are gone.

        Raises:
            ShapeError: a parent that there is not.
        """
        if parents.size and not 0 <= parents.min() <= parents.max() < self.rows:
            raise ShapeError(
                f"hypotheses {parents.min()} ... {parents.max()} cannot be kept of {self.rows}; "
                f"they are 0 ... {self.rows - 1}"
            )
        self._call("aya_select", parents.size, _ints(parents))
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


class _Lists:
    """Lists of ids as the library takes them; keeps the memory alive."""

    def __init__(self, lists: Ids | Sequence[NDArray[np.int64]]) -> None:
        lengths = np.fromiter((len(row) for row in lists), np.int64, len(lists))
        self.offsets = np.concatenate([np.zeros(1, np.int64), lengths.cumsum()])
        rows = [np.asarray(row, np.int32) for row in lists]
        self.ids = np.concatenate(rows) if rows else np.empty(0, np.int32)
        self.reference = byref(bindings.Lists(_ints(self.ids), _offsets(self.offsets)))


class _NoLists:
    reference = None


def _lists(lists: Ids | Sequence[NDArray[np.int64]] | None) -> _Lists | _NoLists:
    return _NoLists() if lists is None else _Lists(lists)


def _hypothesis(
    ids: NDArray[np.int32], log_p: NDArray[np.float32], score: float, end: int
) -> Hypothesis:
    return Hypothesis(
        ids=tuple(ids.tolist()),
        token_log_probabilities=tuple(log_p.tolist()),
        log_probability=float(log_p.sum(dtype=np.float64)),
        score=float(score),
        finished=bool(ids[-1] == end),
    )


def _numbers(config: TransformerConfig) -> bindings.Config:
    return bindings.Config(
        vocabulary=config.vocabulary,
        source_vocabulary=config.source_vocabulary or config.vocabulary,
        d_model=config.d_model,
        heads=config.heads,
        head_width=config.width_of_head,
        d_ff=config.d_ff,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        max_positions=config.max_positions,
        pre_norm=config.residual == "pre-norm",
        rms=config.norm == "rms",
        activation=get_args(Activation).index(config.activation),
        rotary=config.positions == "rotary",
        normalise_embeddings=config.normalise_embeddings,
        bias=config.bias,
        pad=config.pad,
        start=config.start,
        end=config.end,
        norm_epsilon=config.norm_epsilon,
        embedding_scale=config.d_model**0.5 if config.scale_embeddings else 1.0,
    )


def _position_tables(
    config: TransformerConfig, arrays: Mapping[str, NDArray[np.float32]]
) -> dict[str, NDArray[np.float32]]:
    """What is added to the embeddings of either side, by the one name that the library knows."""
    sides = [f"{side}.embeddings.positions" for side in ("encoder", "decoder")]
    match config.positions:
        case "sinusoidal":
            table = sinusoids(config.max_positions, config.d_model)
            return {f"{side}.table": table for side in sides}
        case "learned":
            return {f"{side}.table": arrays[f"{side}.weight"] for side in sides}
        case _:  # stored ones have that name already; others add nothing
            return {}


def sinusoids(positions: int, d_model: int) -> NDArray[np.float32]:
    """`core.positions.sinusoidal_encoding` without torch: the table of section 3.5."""
    two_i = np.arange(0, d_model, 2) / d_model
    angles = np.arange(positions)[:, None] / 10000.0**two_i
    return (
        np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, d_model).astype("f4")
    )


def _floats(array: NDArray[np.float32]) -> Any:
    return array.ctypes.data_as(bindings.Floats)


def _ints(array: NDArray[np.int32]) -> Any:
    return array.ctypes.data_as(bindings.Ints)


def _offsets(array: NDArray[np.int64]) -> Any:
    return array.ctypes.data_as(bindings.Offsets)


def _doubles(array: NDArray[np.float64]) -> Any:
    return array.ctypes.data_as(bindings.Doubles)
