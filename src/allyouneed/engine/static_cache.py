"""A decoder's state in memory of fixed addresses and sizes.

A CUDA graph is a recording of kernels together with their addresses and sizes. A decoding step that
is replayed must therefore find everything in the same place each time. So all sizes are rounded up
to one of a few (`bucket`), and buffers of these sizes are made once and reused. Values that differ
from step to step lie in small tensors inside the buffers: the newest ids, the position, and each
hypothesis' ancestors.

No keys or values are copied when a search re-orders hypotheses. They stay in the column (one of N)
that computed them. `ancestors_BNT` says in which column each position of a hypothesis lies, and a
mask made from it lets the hypothesis see only these columns.

B sentences · N hypotheses of each · T target positions · S source length · H heads · K head width ·
V vocabulary
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig

LEAST_LENGTH = 32  # keeps the number of buckets small and the kernels' rows aligned
MOST_BUFFERS = 32  # enough for two batches that shrink to their last sentence
SHRINK = 4  # sentences move to smaller buffers when at most 1/SHRINK of the places are in use
NOBODY = -1  # the ancestor at a position that has not been computed yet


def bucket(count: int, least: int = 1) -> int:
    """The smallest of 1, 2, 3, 4, 6, 8, 12, 16, 24, … (2ⁿ and 3 · 2ⁿ) that is at least `count` and
    at least `least`. `least` must itself be one of these numbers."""
    size = least
    while size < count:
        size = size * 4 // 3 if size % 3 == 0 else max(size + 1, size * 3 // 2)
    return size


class Shape(NamedTuple):
    """The sizes of buffers."""

    sentences: int
    hypotheses: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class LayerBuffers:
    """The keys and values of one decoder layer, for the memory and for the target so far."""

    memory_keys_BHSK: Tensor
    memory_values_BHSK: Tensor
    keys_BHTNK: Tensor
    values_BHTNK: Tensor


class Buffers:
    """The tensors that a step reads and writes, and the step's recordings by the number of target
    positions that they attend to."""

    def __init__(
        self, config: TransformerConfig, shape: Shape, device: torch.device, dtype: torch.dtype
    ) -> None:
        self.shape = shape
        self.owner: Callable[[], object | None] = lambda: None
        self.recordings: dict[int, torch.cuda.CUDAGraph] = {}
        sentences, hypotheses, source, target = shape
        memory_size = (sentences, config.heads, source, config.width_of_head)
        target_size = (sentences, config.heads, target, hypotheses, config.width_of_head)
        sizes = (memory_size, memory_size, target_size, target_size)
        with torch.inference_mode(False):  # such tensors can be written in and outside the mode
            new = torch.empty(0, device=device, dtype=dtype).new_empty
            self.layers = [
                LayerBuffers(*(new(size) for size in sizes)) for _ in range(config.decoder_layers)
            ]
            self.may_look_B11S = new((sentences, 1, 1, source), dtype=torch.bool)
            self.ancestors_BNT = new((sentences, hypotheses, target), dtype=torch.long)
            self.columns_N = torch.arange(hypotheses, device=device)
            self.ids_BN = new((sentences, hypotheses), dtype=torch.long)
            self.position_1 = new(1, dtype=torch.long)
            self.logits_BNV = new((sentences, hypotheses, config.vocabulary))

    def clear(self) -> None:
        """Empties the buffers. Masked positions must hold finite numbers too, as 0 · NaN is NaN."""
        for layer in self.layers:
            for tensor in (
                layer.memory_keys_BHSK, layer.memory_values_BHSK,
                layer.keys_BHTNK, layer.values_BHTNK,
            ):  # fmt: skip
                tensor.zero_()
        self.may_look_B11S.fill_(True)  # unused places see zeros: a softmax over nothing gives NaN
        self.ancestors_BNT.fill_(NOBODY)
        self.ids_BN.zero_()


class Pool:
    """Buffers for reuse, each by one cache at a time."""

    def __init__(self, config: TransformerConfig, device: torch.device, dtype: torch.dtype) -> None:
        self._config, self._device, self._dtype = config, device, dtype
        self._buffers: list[Buffers] = []  # ordered by last use, the newest last

    def take(self, shape: Shape, owner: object) -> Buffers:
        """Empty buffers of this shape. They belong to `owner` until it is deleted, or until `free`.

        Raises:
            torch.OutOfMemoryError: they do not fit, even after all unused buffers were freed.
        """
        idle = (b for b in self._buffers if b.shape == shape and b.owner() is None)
        buffers = next(idle, None)
        if buffers is None:
            try:
                buffers = Buffers(self._config, shape, self._device, self._dtype)
            except torch.OutOfMemoryError:
                self.forget()
                buffers = Buffers(self._config, shape, self._device, self._dtype)
        else:
            self._buffers.remove(buffers)
        self._buffers = [*self._buffers, buffers][-MOST_BUFFERS:]
        buffers.owner = weakref.ref(owner)
        buffers.clear()
        return buffers

    def free(self, buffers: Buffers) -> None:
        """Returns the buffers to the pool."""
        buffers.owner = lambda: None

    def forget(self) -> None:
        """Drops all buffers from the pool. Buffers in use live until their cache is deleted."""
        self._buffers.clear()


class StaticCache:
    """The decoder's state between steps, in buffers from a pool.

    Each sentence has a place in the buffers, `places_B`. Places of finished sentences are still
    computed, and ignored. When at most a quarter of the places are in use, the remaining sentences
    move to smaller buffers. They do not move earlier, because each size needs recordings of its
    own, and recording a step takes longer than computing some unused places.
    """

    def __init__(
        self, pool: Pool, sentences: int, hypotheses: int, source: int, target: int
    ) -> None:
        self.capacity = target
        self.length = 0
        self._pool = pool
        self._sizes = (bucket(source, LEAST_LENGTH), bucket(target, LEAST_LENGTH))
        shape = Shape(bucket(sentences), hypotheses, *self._sizes)
        self.buffers = pool.take(shape, self)
        self.places_B = torch.arange(sentences, device=self.buffers.ids_BN.device)

    @property
    def hypotheses(self) -> int:
        """The number of hypotheses of each sentence."""
        return self.buffers.shape.hypotheses

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        """As `DecodingCache.select`, except that a sentence can be kept at most once."""
        if sentences_B is None and hypotheses_BN is None:
            return
        if sentences_B is not None:
            self.places_B = self.places_B[sentences_B]
        hypotheses = self.hypotheses if hypotheses_BN is None else hypotheses_BN.size(1)
        shape = Shape(self._sentences(), hypotheses, *self._sizes)
        if hypotheses_BN is None and shape == self.buffers.shape:
            return
        ancestors_BNT = self.buffers.ancestors_BNT[self.places_B]
        if hypotheses_BN is not None:
            indices_BNT = hypotheses_BN[..., None].expand(-1, -1, ancestors_BNT.size(2))
            ancestors_BNT = ancestors_BNT.gather(1, indices_BNT)
        if shape == self.buffers.shape:
            self.buffers.ancestors_BNT[self.places_B] = ancestors_BNT
        else:
            self._move(shape, ancestors_BNT)

    def _sentences(self) -> int:
        """The places that the buffers should have for the sentences that are left."""
        places, left = self.buffers.shape.sentences, self.places_B.numel()
        return bucket(left) if left * SHRINK <= places else places

    def _move(self, shape: Shape, ancestors_BNT: Tensor) -> None:
        """Moves the state to buffers of another shape, and each hypothesis' past to its own
        column."""
        old, new = self.buffers, self._pool.take(shape, self)
        here, places_B, past = slice(self.places_B.numel()), self.places_B, slice(self.length)
        new.may_look_B11S[here] = old.may_look_B11S[places_B]
        column_BTN = ancestors_BNT[..., past].mT

        def past_of(buffer_BHTNK: Tensor) -> Tensor:
            known_BHTNK = buffer_BHTNK[places_B, :, past]
            _, heads, _, _, width = known_BHTNK.shape
            column_BHTNK = column_BTN[:, None, :, :, None].expand(-1, heads, -1, -1, width)
            return known_BHTNK.gather(3, column_BHTNK)

        for theirs, ours in zip(old.layers, new.layers, strict=True):
            ours.memory_keys_BHSK[here] = theirs.memory_keys_BHSK[places_B]
            ours.memory_values_BHSK[here] = theirs.memory_values_BHSK[places_B]
            ours.keys_BHTNK[here, :, past] = past_of(theirs.keys_BHTNK)
            ours.values_BHTNK[here, :, past] = past_of(theirs.values_BHTNK)
        new.ancestors_BNT[:, :, past] = new.columns_N[:, None]
        self._pool.free(old)
        self.buffers = new
        self.places_B = torch.arange(places_B.numel(), device=places_B.device)
