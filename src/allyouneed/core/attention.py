"""Attention (section 3.2): equation 1 written out, equation 1 as a fused kernel, and multi-head
attention.

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
    """Softmax over the keys that `may_look` allows: attention weights BHTS.

    `may_look` is boolean, True = may look, and broadcasts to BHTS; None allows every key. A query
    that may look at no key gets weights of zero. `scores_BHTS` is not changed.
    """
    if may_look is None:
        return scores_BHTS.softmax(dim=-1)
    lowest = torch.finfo(scores_BHTS.dtype).min  # finite: a fully hidden row must not become NaN
    weights_BHTS = scores_BHTS.masked_fill(~may_look, lowest).softmax(dim=-1)
    return weights_BHTS.masked_fill(~may_look, 0.0)


def attention_weights(q_BHTK: Tensor, k_BHSK: Tensor, may_look: Tensor | None = None) -> Tensor:
    """softmax(QKᵀ / √d_k), the first factor of equation 1: attention weights BHTS."""
    return masked_softmax(q_BHTK @ k_BHSK.mT / math.sqrt(q_BHTK.size(-1)), may_look)


def attention(
    q_BHTK: Tensor, k_BHSK: Tensor, v_BHSK: Tensor, may_look: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(QKᵀ / √d_k) V, equation 1: the result BHTK, the weights BHTS.

    This is the reference for `fused_attention`.
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
    """Equation 1 by PyTorch's fused kernel, with dropout on the weights. Returns BHTK.

    The kernel usually avoids storing the weights BHTS, which saves memory.
    """
    if q_BHTK.device.type == "cpu" and q_BHTK.dtype == torch.bfloat16 and not dropout:
        # PyTorch's kernel for bfloat16 on a CPU takes 2 to 7 times as long as equation 1.
        return attention(q_BHTK, k_BHSK, v_BHSK, may_look)[0]
    return nn.functional.scaled_dot_product_attention(
        q_BHTK, k_BHSK, v_BHSK, attn_mask=may_look, dropout_p=dropout
    )


@dataclass(frozen=True, slots=True)
class Site:
    """The place in the model and in the batch that a set of attention weights comes from.

    `module` is the module's path, such as "decoder.layers.3.cross_attention".
    `step` is the position of the first query.
    `sentences` has, for each row of the weights' B axis, the index of the row's sentence in the
    encoded batch.
    `may_look` is the mask, which broadcasts to BHTS; None means that every key is visible.
    """

    module: str
    step: int
    sentences: Tensor
    may_look: Tensor | None = None


Probe = Callable[[Tensor, Site], Tensor]
"""probe(weights_BHTS, site) → weights_BHTS: reads the weights and may return different ones."""


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O, section 3.2.2.

    W_Q, W_K and W_V each hold the projections of all heads, side by side. `positions` rotates
    queries and keys; None leaves them unchanged. `name` is the module's path in its model.

    `probes` are called in order, each with the weights that the one before returned. A module
    with probes computes equation 1 as written, a module without probes uses the fused kernel.

    Raises:
        ConfigError: `heads` does not divide `d_model`, and no `head_width` is given.
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
        """Attention of each position of `x_BTD` (queries) to `memory_BSD` (keys, values): BTD.

        For self-attention both arguments are the same tensor. `may_look` broadcasts to BHTS.
        """
        k_BHSK, v_BHSK = self.keys_values(memory_BSD)
        return self.attend(self.queries(x_BTD), k_BHSK, v_BHSK, may_look)

    def queries(self, x_BTD: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Q = x W_Q, split into heads: BHTK. `offset` is the position of x_BTD[:, 0]."""
        q_BHTK = self._split(self.W_Q(x_BTD))
        return self.positions(q_BHTK, offset) if self.positions else q_BHTK

    def keys_values(self, memory_BSD: Tensor, offset: int | Tensor = 0) -> tuple[Tensor, Tensor]:
        """K and V, split into heads: BHSK each. `offset` is the position of memory_BSD[:, 0]."""
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
        """Equation 1 in every head, then Concat and W_O. Returns BTD.

        `step` and `sentences` are passed to the probes in their `Site`. Without `sentences`, row
        b belongs to sentence b.
        """
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
