"""Attention (section 3.2): the formula written out, the same fused, and many heads of it.

B batch · H heads · T queries · S keys · D d_model · K head width (d_k = d_v)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from allyouneed.core.config import width_of_head
from allyouneed.core.dropout import Dropout
from allyouneed.core.positions import Rotary


def masked_softmax(scores_BHTS: Tensor, may_look: Tensor | None = None) -> Tensor:
    """Softmax over the keys that may be looked at; a row that may look at none gives zeros.

    `may_look` is boolean and broadcastable to BHTS. The input is left as it was.
    """
    if may_look is None:
        return scores_BHTS.softmax(dim=-1)
    lowest = torch.finfo(scores_BHTS.dtype).min  # finite: a fully hidden row must not become NaN
    weights_BHTS = scores_BHTS.masked_fill(~may_look, lowest).softmax(dim=-1)
    return weights_BHTS.masked_fill(~may_look, 0.0)


def attention_weights(q_BHTK: Tensor, k_BHSK: Tensor, may_look: Tensor | None = None) -> Tensor:
    """softmax(QKᵀ / √d_k), the first half of equation 1. Returns BHTS."""
    return masked_softmax(q_BHTK @ k_BHSK.mT / math.sqrt(q_BHTK.size(-1)), may_look)


def attention(
    q_BHTK: Tensor, k_BHSK: Tensor, v_BHSK: Tensor, may_look: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention, equation 1, written out.

    Attention(Q, K, V) = softmax(QKᵀ / √d_k) V. Returns the result BHTK and the weights BHTS.
    """
    weights_BHTS = attention_weights(q_BHTK, k_BHSK, may_look)
    return weights_BHTS @ v_BHSK, weights_BHTS


def fused_attention(
    q_BHTK: Tensor,
    k_BHSK: Tensor,
    v_BHSK: Tensor,
    may_look: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Equation 1 by PyTorch's kernels, which as a rule never hold the weights. Returns BHTK."""
    if q_BHTK.device.type == "cpu" and q_BHTK.dtype == torch.bfloat16 and not dropout:
        # There the kernel takes two to seven times as long as the two products that it replaces.
        return attention(q_BHTK, k_BHSK, v_BHSK, may_look)[0]
    return nn.functional.scaled_dot_product_attention(
        q_BHTK, k_BHSK, v_BHSK, attn_mask=may_look, dropout_p=dropout
    )


@dataclass(frozen=True, slots=True)
class Site:
    """Where and when attention weights arise.

    `module` is the module's path, such as "decoder.layers.3.cross_attention"; `step` the position
    of the first query; `sentences` names, for each row of the weights' B axis, the sentence of the
    encoded batch that it belongs to; `may_look` is the mask, broadcastable to BHTS (None: all).
    """

    module: str
    step: int
    sentences: Tensor
    may_look: Tensor | None = None


Probe = Callable[[Tensor, Site], Tensor]
"""probe(weights_BHTS, site) → weights_BHTS: sees the weights, and may return others."""


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O, section 3.2.2.

    The heads' projections lie side by side in W_Q, W_K and W_V. `positions` rotates queries and
    keys. `probes` are called with the weights, in order; while there are any, equation 1 is
    written out, otherwise it is fused. `name` is the module's path in its model.

    Raises:
        ConfigError: heads that do not divide d_model, where no head_width is given.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        head_width: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        positions: Rotary | None = None,
    ) -> None:
        super().__init__()
        self.heads = heads
        width = heads * (width_of_head(d_model, heads) if head_width is None else head_width)
        self.W_Q = nn.Linear(d_model, width, bias=bias)
        self.W_K = nn.Linear(d_model, width, bias=bias)
        self.W_V = nn.Linear(d_model, width, bias=bias)
        self.W_O = nn.Linear(width, d_model, bias=bias)
        self.dropout = Dropout(dropout)
        self.positions = positions
        self.probes: list[Probe] = []
        self.name = ""

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, may_look: Tensor | None = None) -> Tensor:
        """Every position of x looks at every position of memory that it may look at.

        For self-attention both are the same tensor. `may_look` broadcasts to BHTS. Returns BTD.
        """
        k_BHSK, v_BHSK = self.keys_values(memory_BSD)
        return self.attend(self.queries(x_BTD), k_BHSK, v_BHSK, may_look)

    def queries(self, x_BTD: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Q, split into heads: BHTK. `offset` is the position of the first row."""
        q_BHTK = self._split(self.W_Q(x_BTD))
        return self.positions(q_BHTK, offset) if self.positions else q_BHTK

    def keys_values(self, memory_BSD: Tensor, offset: int | Tensor = 0) -> tuple[Tensor, Tensor]:
        """K and V, split into heads: BHSK each. `offset` is the position of the first row."""
        k_BHSK, v_BHSK = self._split(self.W_K(memory_BSD)), self._split(self.W_V(memory_BSD))
        return (self.positions(k_BHSK, offset) if self.positions else k_BHSK), v_BHSK

    def attend(
        self,
        q_BHTK: Tensor,
        k_BHSK: Tensor,
        v_BHSK: Tensor,
        may_look: Tensor | None = None,
        *,
        step: int = 0,
        sentences: Tensor | None = None,
    ) -> Tensor:
        """Equation 1 in every head, then Concat and W_O. `step` and `sentences` go into the
        probes' `Site`; without `sentences`, row b is sentence b. Returns BTD."""
        if self.probes:
            if sentences is None:
                sentences = torch.arange(q_BHTK.size(0), device=q_BHTK.device)
            weights_BHTS = attention_weights(q_BHTK, k_BHSK, may_look)
            for probe in self.probes:
                weights_BHTS = probe(weights_BHTS, Site(self.name, step, sentences, may_look))
            heads_BHTK = self.dropout(weights_BHTS) @ v_BHSK
        else:
            rate = self.dropout.rate if self.training else 0.0
            heads_BHTK = fused_attention(q_BHTK, k_BHSK, v_BHSK, may_look, rate)
        concat = heads_BHTK.transpose(1, 2).flatten(2)
        return self.W_O(concat)

    def _split(self, x_BTW: Tensor) -> Tensor:
        return x_BTW.view(*x_BTW.shape[:2], self.heads, -1).transpose(1, 2)
