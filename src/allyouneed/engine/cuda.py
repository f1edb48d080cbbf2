"""The GPU engine's model: bfloat16, with each decoding step recorded as one CUDA graph.

A step runs some hundred short kernels. Starting them one by one takes longer than running them; a
graph starts them all at once. `static_cache` describes the cache that a graph requires. On other
devices the same step runs without a graph, in float32.

B sentences · N hypotheses of each · R = B·N rows · T target positions · S source length ·
D d_model · H heads · K head width · V vocabulary · X = T·N positions in all columns
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from threading import RLock
from typing import cast

import torch
from torch import Tensor

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.decoder import DecoderLayer
from allyouneed.core.encoder import Memory
from allyouneed.core.positions import Rotary
from allyouneed.core.transformer import Transformer
from allyouneed.engine.static_cache import (
    LEAST_LENGTH,
    Buffers,
    LayerBuffers,
    Pool,
    StaticCache,
    bucket,
)
from allyouneed.errors import ShapeError
from allyouneed.model_folder.weights.model import check_finite

TURN = RLock()
"""Held by the thread that uses an engine for CUDA. A process can record one graph at a time, and
the buffers of a model are used by one search at a time."""


class CudaTransformer:
    """A `Decodable` model on a GPU.

    If memory runs short, its methods free all buffers that no cache uses, and raise
    torch.OutOfMemoryError.

    Raises:
        ModelFolderError: the weights contain NaN or infinity.
    """

    def __init__(self, model: Transformer, device: torch.device | str) -> None:
        check_finite(model)
        self.config = model.config
        self.device = torch.device(device)
        self.graphs = self.device.type == "cuda"
        dtype = torch.bfloat16 if self.graphs else torch.float32
        self._model = deepcopy(model).eval().requires_grad_(False).to(self.device, dtype)
        for ours, theirs in zip(self._model.modules(), model.modules(), strict=True):
            if isinstance(ours, Rotary) and isinstance(theirs, Rotary):  # angles need float32
                ours.cos, ours.sin = theirs.cos.to(self.device), theirs.sin.to(self.device)
        self._layers = cast("list[DecoderLayer]", list(self._model.decoder.layers))
        self._pool = Pool(self.config, self.device, dtype)

    def encode(self, source_BS: Tensor) -> Memory:
        """Source ids → memory."""
        return self._model.encode(source_BS)

    def start(self, memory: Memory, hypotheses: int, max_length: int) -> StaticCache:
        """A cache for decoding `hypotheses` per sentence, for `max_length` steps, or for as many
        as the model has positions if that is fewer."""
        sentences, source, _ = memory.states_BSD.shape
        capacity = min(max_length, self.config.max_positions)
        with self._freeing_memory():
            cache = StaticCache(self._pool, sentences, hypotheses, source, capacity)
            cache.buffers.may_look_B11S[:sentences] = False
            cache.buffers.may_look_B11S[:sentences, ..., :source] = memory.may_look_B11S
            for layer, buffers in zip(self._layers, cache.buffers.layers, strict=True):
                k_BHSK, v_BHSK = layer.cross_attention.keys_values(memory.states_BSD)
                buffers.memory_keys_BHSK[:sentences, :, :source] = k_BHSK
                buffers.memory_values_BHSK[:sentences, :, :source] = v_BHSK
        return cache

    def step(self, ids_BN: Tensor, cache: StaticCache) -> Tensor:
        """Logits BNV of the next token, given each hypothesis' newest id.

        Raises:
            ShapeError: there is not one id per hypothesis, or the cache is full.
        """
        sentences, hypotheses = cache.places_B.numel(), cache.hypotheses
        if tuple(ids_BN.shape) != (sentences, hypotheses):
            raise ShapeError(
                f"a step takes one id for each of {sentences} sentences × {hypotheses} hypotheses, "
                f"not {tuple(ids_BN.shape)}"
            )
        if cache.length >= cache.capacity:
            raise ShapeError(f"the cache was made for {cache.capacity} steps and is full")
        buffers, reach = cache.buffers, bucket(cache.length + 1, LEAST_LENGTH)
        with self._freeing_memory():
            buffers.ids_BN[cache.places_B] = ids_BN
            buffers.position_1.fill_(cache.length)
            if self.graphs:
                if reach not in buffers.recordings:
                    buffers.recordings[reach] = self._record(buffers, reach)
                buffers.recordings[reach].replay()
            else:
                self._step(buffers, reach)
            cache.length += 1
            return buffers.logits_BNV[cache.places_B]

    def _step(self, buffers: Buffers, reach: int) -> None:
        """Computes `logits_BNV` from `ids_BN` at `position_1`, attending to `reach` positions.

        Everything that changes from step to step is read from tensors in `buffers`, because a
        recording repeats Python's numbers unchanged. Running the step twice has the same effect as
        running it once.
        """
        decoder = self._model.decoder
        columns_N = buffers.columns_N
        own_BN1 = columns_N[:, None].expand(len(buffers.ids_BN), -1, 1)
        buffers.ancestors_BNT.index_copy_(2, buffers.position_1, own_BN1)
        is_ancestor_BNTN = buffers.ancestors_BNT[..., :reach, None] == columns_N
        may_look_B1NX = is_ancestor_BNTN.flatten(2)[:, None]
        x_R1D = decoder.embeddings(buffers.ids_BN.view(-1, 1), buffers.position_1)
        for layer, state in zip(self._layers, buffers.layers, strict=True):
            x_R1D = layer.self_attention_residual(
                x_R1D,
                partial(look_back, layer.self_attention, state, buffers.position_1, may_look_B1NX),
            )
            x_R1D = layer.cross_attention_residual(
                x_R1D, partial(look_across, layer.cross_attention, state, buffers.may_look_B11S)
            )
            x_R1D = layer.feed_forward_residual(x_R1D, layer.feed_forward)
        logits_R1V = self._model.output(decoder.norm(x_R1D))
        buffers.logits_BNV.copy_(logits_R1V.view_as(buffers.logits_BNV))

    def _record(self, buffers: Buffers, reach: int) -> torch.cuda.CUDAGraph:
        """The step recorded as a graph. The step runs once before the recording, because kernels
        set themselves up at their first run. All recordings of the same buffers share the memory
        for intermediate results."""
        recorded = next(iter(buffers.recordings.values()), None)
        with torch.cuda.device(self.device):
            aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                self._step(buffers, reach)
            torch.cuda.current_stream().wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            pool = recorded.pool() if recorded else None
            # thread_local: other threads, such as those that score with the core, may go on
            with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
                self._step(buffers, reach)
        return graph

    @contextmanager
    def _freeing_memory(self) -> Iterator[None]:
        """Frees the pool's buffers if the block runs out of memory, and raises the error again."""
        try:
            yield
        except torch.OutOfMemoryError:
            self._pool.forget()
            raise


def look_back(
    heads: MultiHeadAttention,
    state: LayerBuffers,
    position_1: Tensor,
    may_look_B1NX: Tensor,
    x_R1D: Tensor,
) -> Tensor:
    """Self-attention R1D. Writes this position's keys and values into each hypothesis' own column,
    then attends to all columns of the sentence; a mask lets each hypothesis see only the columns of
    its ancestors."""
    sentences, _, _, hypotheses, _ = state.keys_BHTNK.shape

    def columns(x_RH1K: Tensor) -> Tensor:
        x_BNH1K = x_RH1K.view(sentences, hypotheses, *x_RH1K.shape[1:])
        return x_BNH1K.permute(0, 2, 3, 1, 4)  # BH1NK

    k_RH1K, v_RH1K = heads.keys_values(x_R1D, position_1)
    state.keys_BHTNK.index_copy_(2, position_1, columns(k_RH1K))
    state.values_BHTNK.index_copy_(2, position_1, columns(v_RH1K))
    reach = may_look_B1NX.size(-1) // hypotheses
    x_BND = heads.attend(
        columns(heads.queries(x_R1D, position_1)).squeeze(2),
        state.keys_BHTNK[:, :, :reach].flatten(2, 3),
        state.values_BHTNK[:, :, :reach].flatten(2, 3),
        may_look_B1NX,
    )
    return x_BND.view(x_R1D.shape)


def look_across(
    heads: MultiHeadAttention, state: LayerBuffers, may_look_B11S: Tensor, x_R1D: Tensor
) -> Tensor:
    """Cross-attention R1D. All hypotheses of a sentence read the same copy of the memory."""
    x_BND = heads.attend(
        heads.queries(x_R1D.view(len(may_look_B11S), -1, x_R1D.size(-1))),
        state.memory_keys_BHSK,
        state.memory_values_BHSK,
        may_look_B11S,
    )
    return x_BND.view(x_R1D.shape)
