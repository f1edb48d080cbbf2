"""The layers of the core as nodes of ONNX. Each function adds the nodes of a module's `forward`.

B batch · T positions · S keys · D d_model · H heads · K head width. Values are given by name.
"""

import math
from collections.abc import Callable

import numpy as np
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.embeddings import Embeddings
from allyouneed.core.feed_forward import FeedForward, GatedFeedForward
from allyouneed.core.positions import LearnedPositions, Rotary, TablePositions
from allyouneed.core.residual import PostNorm, PreNorm
from allyouneed.core.simple_recurrent_unit import SimpleRecurrentUnit
from allyouneed.interop.onnx_graph import Graph

LOWEST = float(np.finfo(np.float32).min)


def embed(g: Graph, embeddings: Embeddings, ids_BT: str, positions: str) -> str:
    """√d_model · token + position, BTD. `positions` are BT or broadcast to BT."""
    x_BTD = g.op("Gather", g.weight(embeddings.tokens.weight), ids_BT)
    if embeddings.scale != 1.0:
        x_BTD = g.op("Mul", x_BTD, g.constant(embeddings.scale))
    match embeddings.positions:
        case TablePositions(table=table):
            x_BTD = g.op("Add", x_BTD, g.op("Gather", g.weight(table), positions))
        case LearnedPositions(weight=table):
            x_BTD = g.op("Add", x_BTD, g.op("Gather", g.weight(table), positions))
    return normalise(g, embeddings.norm, x_BTD)


def normalise(g: Graph, norm: nn.Module, x_BTD: str) -> str:
    """Layer norm, RMS norm, or x itself if there is no norm."""
    match norm:
        case nn.LayerNorm():
            parts = (g.weight(norm.weight), g.weight(norm.bias))
            return g.op("LayerNormalization", x_BTD, *parts, axis=-1, epsilon=norm.eps)
        case nn.RMSNorm():
            squares = g.op("ReduceMean", g.op("Mul", x_BTD, x_BTD), axes=[-1])
            root = g.op("Sqrt", g.op("Add", squares, g.constant(norm.eps)))
            return g.op("Mul", g.op("Div", x_BTD, root), g.weight(norm.weight))
    return x_BTD


def linear(g: Graph, module: nn.Module, x: str) -> str:
    """x Wᵀ + b."""
    assert isinstance(module, nn.Linear)
    y = g.op("MatMul", x, g.weight(module.weight.T))
    return y if module.bias is None else g.op("Add", y, g.weight(module.bias))


def residual(g: Graph, wiring: nn.Module, x_BTD: str, sublayer: Callable[[str], str]) -> str:
    """A sub-layer with its residual connection, post-norm or pre-norm."""
    assert isinstance(wiring, PostNorm | PreNorm)
    if isinstance(wiring, PreNorm):
        return g.op("Add", x_BTD, sublayer(normalise(g, wiring.norm, x_BTD)))
    return normalise(g, wiring.norm, g.op("Add", x_BTD, sublayer(x_BTD)))


def feed_forward(g: Graph, module: nn.Module, x_BTD: str) -> str:
    """FFN(x), equation 2, or its gated variant."""
    assert isinstance(module, FeedForward | GatedFeedForward)
    inner = _activate(g, module.activation, linear(g, module.W_1, x_BTD))
    if isinstance(module, GatedFeedForward):
        inner = g.op("Mul", inner, linear(g, module.V_1, x_BTD))
    return linear(g, module.W_2, inner)


def _activate(g: Graph, activation: nn.Module, x: str) -> str:
    kinds = [type(part) for part in activation.modules()]
    if nn.GELU in kinds:  # x Φ(x)
        erf = g.op("Erf", g.op("Mul", x, g.constant(math.sqrt(0.5))))
        half = g.op("Mul", x, g.constant(0.5))
        return g.op("Mul", half, g.op("Add", erf, g.constant(1.0)))
    if nn.SiLU in kinds:
        return g.op("Mul", x, g.op("Sigmoid", x))
    return g.op("Relu", x)


def recurrence(g: Graph, unit: SimpleRecurrentUnit, x_B1D: str, state_BD: str) -> tuple[str, str]:
    """y_t B1D and c_t BD of the SSRU, from c_{t-1}, which is zero at the first position."""
    forget_B1D = g.op("Sigmoid", linear(g, unit.W_f, x_B1D))
    share_B1D = g.op("Sub", g.constant(1.0), forget_B1D)
    new_B1D = g.op("Mul", share_B1D, linear(g, unit.W, x_B1D))
    kept_B1D = g.op("Mul", forget_B1D, g.op("Unsqueeze", state_BD, g.numbers(1)))
    state_B1D = g.op("Add", new_B1D, kept_B1D)
    return g.op("Relu", state_B1D), g.op("Squeeze", state_B1D, g.numbers(1))


def queries(g: Graph, attention: MultiHeadAttention, x_BTD: str, positions: str) -> str:
    """Q in heads, BHTK."""
    q_BHTK = _split(g, attention, linear(g, attention.W_Q, x_BTD))
    return _rotate(g, attention.positions, q_BHTK, positions)


def keys_values(
    g: Graph, attention: MultiHeadAttention, x_BSD: str, positions: str
) -> tuple[str, str]:
    """K and V in heads, BHSK each."""
    k_BHSK = _split(g, attention, linear(g, attention.W_K, x_BSD))
    v_BHSK = _split(g, attention, linear(g, attention.W_V, x_BSD))
    return _rotate(g, attention.positions, k_BHSK, positions), v_BHSK


def attend(
    g: Graph, attention: MultiHeadAttention, q: str, k: str, v: str, may_look: str | None
) -> str:
    """Equation 1 in every head, then Concat and W_O; `may_look` broadcasts to BHTS."""
    width = attention.W_Q.out_features // attention.heads
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g.op("Mul", scores, g.constant(1 / math.sqrt(width)))
    if may_look is not None:
        scores = g.op("Where", may_look, scores, g.constant(LOWEST))
    weights = g.op("Softmax", scores, axis=-1)
    if may_look is not None:
        weights = g.op("Where", may_look, weights, g.constant(0.0))
    heads = g.op("Transpose", g.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    concat = g.op("Reshape", heads, g.numbers(0, 0, attention.W_O.in_features))
    return linear(g, attention.W_O, concat)


def _split(g: Graph, attention: MultiHeadAttention, x_BTW: str) -> str:
    width = attention.W_Q.out_features // attention.heads
    x_BTHK = g.op("Reshape", x_BTW, g.numbers(0, 0, attention.heads, width))
    return g.op("Transpose", x_BTHK, perm=[0, 2, 1, 3])


def _rotate(g: Graph, rotary: Rotary | None, x_BHTK: str, positions_T: str) -> str:
    """Rotates each pair of components by the angle of its position."""
    if rotary is None:
        return x_BHTK
    last, pairs = g.numbers(3), rotary.cos.size(1)
    even, odd = (
        g.op("Slice", x_BHTK, g.numbers(first), g.numbers(2 * pairs), last, g.numbers(2))
        for first in (0, 1)
    )
    cos, sin = (_rows(g, table, positions_T) for table in (rotary.cos, rotary.sin))
    turned_even = g.op("Sub", g.op("Mul", even, cos), g.op("Mul", odd, sin))
    turned_odd = g.op("Add", g.op("Mul", even, sin), g.op("Mul", odd, cos))
    column = g.numbers(4)
    both = [g.op("Unsqueeze", half, column) for half in (turned_even, turned_odd)]
    together = g.op("Concat", *both, axis=4)
    return g.op("Reshape", together, g.numbers(0, 0, 0, 2 * pairs))


def _rows(g: Graph, table: Tensor, positions: str) -> str:
    return g.op("Gather", g.weight(table), positions)
