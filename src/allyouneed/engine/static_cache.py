"""A decoder's state in memory that never moves and never changes its size.

A CUDA graph is a recording of kernels with the addresses and sizes that they had. To be played
again and again, a decoding step must therefore find everything in the same place each time. So all
sizes are rounded up to a few (`bucket`), buffers of these sizes are made once and used again, and
what differs from step to step lies in small tensors inside them: the newest ids, the position, and
each hypothesis' ancestors.

Nothing is copied where a search re-orders hypotheses. Keys and values stay in the column, of N,
that computed them; `ancestors_BNT` says for each hypothesis in which column each of its positions
lies, and a mask made of it lets the hypothesis see those and no others.

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

LEAST_LENGTH = 32  # so that lengths have few buckets, and kernels rows that are aligned
MOST_BUFFERS = 32  # two runs from a full batch down to its last sentence
NOBODY = -1  # the ancestor at a position to come


def bucket(count: int, least: int = 1) -> int:
    """The smallest of 1, 2, 3, 4, 6, 8, 12, 16, 24, … (2ⁿ and 3 · 2ⁿ) that is not below `count`,
    nor `least`, which must be one of them."""
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
    """Keys and values of one decoder layer: of the memory, and of the target so far."""

    memory_keys_BHSK: Tensor
    memory_values_BHSK: Tensor
    keys_BHTNK: Tensor
    values_BHTNK: Tensor


class Buffers:
    """The tensors that a step reads and writes, and recordings of that step, by the number of
    target positions that it looks back over."""

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
        with torch.inference_mode(False):  # so that they can be written inside it and outside
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
        """Empties them. What nobody may look at must be finite too, as 0 · NaN is NaN."""
        for layer in self.layers:
            for tensor in (
                layer.memory_keys_BHSK, layer.memory_values_BHSK,
                layer.keys_BHTNK, layer.values_BHTNK,
            ):  # fmt: skip
                tensor.zero_()
        self.may_look_B11S.fill_(True)  # a place without a sentence looks at zeros, not at nothing
        self.ancestors_BNT.fill_(NOBODY)
        self.ids_BN.zero_()


class Pool:
    """Buffers to be used again, each by one cache at a time."""

    def __init__(self, config: TransformerConfig, device: torch.device, dtype: torch.dtype) -> None:
        self._config, self._device, self._dtype = config, device, dtype
        self._buffers: list[Buffers] = []  # the one used last stands last

    def take(self, shape: Shape, owner: object) -> Buffers:
        """Empty buffers of this shape; they are the owner's as long as it lives, or until `free`.

        Raises:
            torch.OutOfMemoryError: no room for them, even without all that nobody uses.
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
        """Their owner needs them no longer."""
        buffers.owner = lambda: None

    def forget(self) -> None:
        """Lets go of all buffers; those in use live as long as the caches that use them."""
        self._buffers.clear()


class StaticCache:
    """The decoder's state between steps, in buffers from a pool.

    Each sentence has a place in the buffers, `places_B`. Places of sentences that have left are
    computed on, unseen, until the rest fits into the next smaller buffers and moves there.
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
        """How many of each sentence."""
        return self.buffers.shape.hypotheses

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        """As `DecodingCache.select`; a sentence is kept at most once."""
        if sentences_B is None and hypotheses_BN is None:
            return
        if sentences_B is not None:
            self.places_B = self.places_B[sentences_B]
        hypotheses = self.hypotheses if hypotheses_BN is None else hypotheses_BN.size(1)
        shape = Shape(bucket(self.places_B.numel()), hypotheses, *self._sizes)
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

    def _move(self, shape: Shape, ancestors_BNT: Tensor) -> None:
        """Into buffers of another shape, where each hypothesis' past lies in its own column."""
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
