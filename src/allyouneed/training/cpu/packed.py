"""Computes the decoder's states of a training batch on a CPU with native kernels, without padding.
The reference implementation is the model itself.

B batch · S source length · T target length · P packed positions · D d_model
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.embeddings import Embeddings
from allyouneed.core.residual import PostNorm, PreNorm
from allyouneed.core.simple_recurrent_unit import scan
from allyouneed.core.transformer import Transformer
from allyouneed.training.cpu.blocks import best_unit
from allyouneed.training.cpu.fused import AttentionShape, Packing, add_norm, attend
from allyouneed.training.cpu.products import Projector, filled
from allyouneed.training.guided_alignment import GuidedHead

Sublayer = tuple[PostNorm | PreNorm, Callable[[Tensor], Tensor]]


LONGEST = 4096  # keys of a query: the kernels cannot draw dropout for more


def why_not_packed(model: Transformer) -> str | None:
    """The property of this model that the kernels do not support; None if they support it."""
    config = model.config
    if model.output.weight.dtype != torch.float32:
        return f"weights in {model.output.weight.dtype}"
    if config.norm != "layer":
        return f"norm={config.norm!r}"
    if config.attention_dropout and config.max_positions > LONGEST:
        return f"attention_dropout and max_positions={config.max_positions}"
    return None


class PackedTransformer:
    """The model's encoder and decoder over the tokens of all sentences, concatenated.

    The weights are the model's own tensors. Products run in the dtype of autocast, or in float32.
    Linear layers are computed by a projector. The sub-layers that call linear layers themselves get
    stand-ins, which use it.
    """

    def __init__(self, model: Transformer, kernels: ctypes.CDLL) -> None:
        self._model = model
        self.kernels = kernels
        self.guided: GuidedHead | None = None  # sees its queries and keys
        self._project = Projector(kernels, best_unit(kernels))
        layers: Any = (*model.encoder.layers, *model.decoder.layers)
        self._feed_forwards = {one: self._project.stand_in(one.feed_forward) for one in layers}
        recurrent: Any = model.decoder.layers if model.config.decoder == "ssru" else ()
        self._recurrences = {one: self._project.stand_in(one.recurrence) for one in recurrent}

    def states(self, source_BS: Tensor, target_in_BT: Tensor, kept_BT: Tensor) -> Tensor:
        """States PD of the target positions with tokens, in order.

        `kept_BT` is True where a target has a token; padding may only follow the tokens.
        """
        encoder, decoder = self._model.encoder, self._model.decoder
        source, x_PD = _packed(encoder.embeddings, source_BS, source_BS != encoder.embeddings.pad)
        memory_PD = self._through(self._encoder_sublayers(source), x_PD, encoder.norm)
        target, x_PD = _packed(decoder.embeddings, target_in_BT, kept_BT)
        sublayers = self._decoder_sublayers(memory_PD, source, target)
        return self._through(sublayers, x_PD, decoder.norm)[: target.positions]

    def _through(self, sublayers: Sequence[Sublayer], x_PD: Tensor, last: nn.Module) -> Tensor:
        """Runs x through a stack of sub-layers. A norm before a sub-layer is computed together with
        the sum of the preceding one, in one pass."""
        post_norm = self._model.config.residual == "post-norm"
        norms: list[Any] = [wiring.norm for wiring, _ in sublayers]
        if not post_norm:
            norms.append(last)
        n_PD = _as_inputs(x_PD if post_norm else norms.pop(0)(x_PD))
        for (wiring, sublayer), norm in zip(sublayers, norms, strict=True):
            rate = wiring.dropout.rate if wiring.training else 0.0
            y_PD = sublayer(n_PD)
            x_PD, n_PD = add_norm(self.kernels, x_PD, y_PD, norm, rate, post_norm)
        return n_PD

    def _encoder_sublayers(self, source: Packing) -> list[Sublayer]:
        layers: Any = self._model.encoder.layers
        return [
            wired
            for layer in layers
            for wired in (
                self._self_attention(layer, source, causal=False),
                (layer.feed_forward_residual, self._feed_forwards[layer]),
            )
        ]

    def _decoder_sublayers(
        self, memory_PD: Tensor, source: Packing, target: Packing
    ) -> list[Sublayer]:
        layers: Any = self._model.decoder.layers
        return [
            wired
            for layer, kv_PD in zip(layers, self._keys_values(memory_PD), strict=True)
            for wired in (
                self._past(layer, target),
                self._cross_attention(layer, kv_PD, source, target),
                (layer.feed_forward_residual, self._feed_forwards[layer]),
            )
        ]

    def _keys_values(self, memory_PD: Tensor) -> Sequence[Tensor]:
        """Keys and values of the memory for all decoder layers, by one product. Each item holds one
        layer's keys and values side by side."""
        layers: Any = self._model.decoder.layers
        attentions = [layer.cross_attention for layer in layers]
        parts = [part for one in attentions for part in (one.W_K, one.W_V)]
        return self._project(memory_PD, *parts).chunk(len(attentions), dim=-1) if parts else ()

    def _self_attention(self, layer: Any, packing: Packing, causal: bool) -> Sublayer:
        attention: MultiHeadAttention = layer.self_attention
        shape = self._shape(attention, causal)

        def sublayer(n_PD: Tensor) -> Tensor:
            qkv_PD = self._project(n_PD, attention.W_Q, attention.W_K, attention.W_V)
            heads_PD = attend(self.kernels, qkv_PD, None, packing, packing, shape)
            return self._project(heads_PD, attention.W_O)

        return layer.self_attention_residual, sublayer

    def _past(self, layer: Any, packing: Packing) -> Sublayer:
        """The first sub-layer of a decoder layer: masked self-attention or a recurrence."""
        if self._model.config.decoder == "self-attention":
            return self._self_attention(layer, packing, causal=True)
        unit: Any = self._recurrences[layer]
        starts = packing.starts.long()
        longest = int(starts.diff().max())

        def sublayer(n_PD: Tensor) -> Tensor:
            forget_PD, new_PD = unit.gated(n_PD)
            first_P1 = torch.zeros(len(n_PD), 1, dtype=torch.bool)
            first_P1[starts[starts < len(n_PD)]] = True  # the state is reset at each sentence
            state_1PD = scan(forget_PD.masked_fill(first_P1, 0.0)[None], new_PD[None], longest)
            return state_1PD[0].relu().to(n_PD.dtype)

        return layer.recurrence_residual, sublayer

    def _cross_attention(
        self, layer: Any, kv_PD: Tensor, source: Packing, target: Packing
    ) -> Sublayer:
        attention: MultiHeadAttention = layer.cross_attention
        shape = self._shape(attention, causal=False)

        def sublayer(n_PD: Tensor) -> Tensor:
            q_PD = self._project(n_PD, attention.W_Q)
            if self.guided is not None and self.guided.attention is attention:
                self.guided.see_packed(q_PD, kv_PD, target.starts, source.starts)
            heads_PD = attend(self.kernels, q_PD, kv_PD, target, source, shape)
            return self._project(heads_PD, attention.W_O)

        return layer.cross_attention_residual, sublayer

    def _shape(self, attention: MultiHeadAttention, causal: bool) -> AttentionShape:
        rate = attention.dropout.rate if attention.training else 0.0
        width = self._model.config.width_of_head
        return AttentionShape(attention.heads, width, causal, rate, attention.positions)


def _packed(embeddings: Embeddings, ids_BT: Tensor, kept_BT: Tensor) -> tuple[Packing, Tensor]:
    """The packing of the kept tokens, and their embeddings PD with padding rows."""
    starts = nn.functional.pad(kept_BT.sum(dim=1).cumsum(dim=0), (1, 0)).to(torch.int32)
    kept_P = kept_BT.flatten().nonzero()[:, 0]
    fill = filled(max(1, len(kept_P))) - len(kept_P)
    kept_P = nn.functional.pad(kept_P, (0, fill))  # any index: padding rows get no gradient
    return Packing(starts), embeddings(ids_BT).flatten(0, 1).index_select(0, kept_P)


def _as_inputs(x_PD: Tensor) -> Tensor:
    """x in the dtype of the products."""
    if torch.is_autocast_enabled("cpu"):
        return x_PD.to(torch.get_autocast_dtype("cpu"))
    return x_PD
