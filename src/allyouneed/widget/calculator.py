"""Computes every number of one query's attention in one head, step by step in the paper's words.

S keys · H heads · K head width · D d_model
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.residual import PostNorm
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.scoring import teacher_input
from allyouneed.errors import UsageError
from allyouneed.insight.capture import capture
from allyouneed.insight.names import attentions, check_name
from allyouneed.widget.packing import ViewAnswer

STEPS = {
    "q": ("Query", "q = x W_Q", "the position's state, projected for this head"),
    "keys": (
        "Keys",
        "k = memory W_K",
        "the states of all visible positions, projected for this head",
    ),
    "products": ("Dot products", "q · k", "how well the query fits each key"),
    "scaled": ("Scaling", "q · k / √d_k", "keeps long vectors from saturating the softmax"),
    "mask": ("Mask", "may look?", "products with future positions become -∞ before the softmax"),
    "weights": ("Softmax", "softmax(q · k / √d_k)", "the attention weights; they sum to 1"),
    "values": ("Values", "v = memory W_V", "the vector that each position offers to this head"),
    "sum": ("Weighted sum", "Σ weight · v", "the head's result: the values, weighted"),
    "output": (
        "Output projection",
        "head W_O",
        "this head's part of Concat(head_1, …, head_h) W_O",
    ),
    "attention": ("MultiHead", "Concat(head_1, …, head_h) W_O", "all heads together"),
    "residual": ("Add", "x + Sublayer(x)", "the residual connection"),
    "norm": ("Norm", "LayerNorm(x + Sublayer(x))", "the input of the next sub-layer"),
}
BEFORE = ("Norm", "LayerNorm(x)", "the input of this sub-layer: here the norm comes first")


@torch.inference_mode()
def calculate(
    model: Transformer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    module: str,
    head: int,
    query: int,
) -> ViewAnswer:
    """The steps of equation 1 for one query, by teacher forcing.

    The arrays are q [K], keys [S, K], products, scaled, mask (1 = may look) and weights [S],
    values [S, K], sum [K], and output, attention, residual and norm [D].

    Raises:
        UsageError: an unknown module, head or query; the message lists the known ones.
    """
    known = attentions(model)
    check_name(module, known, "to calculate")
    attention = known[module]
    if head >= attention.heads:
        raise UsageError(f"{module} has the heads 0 … {attention.heads - 1}, not {head}")
    device = next(model.parameters()).device
    source_1S = torch.tensor([list(source_ids)], device=device)
    target_1T = torch.tensor([list(target_ids)], device=device)
    with (
        capture(model, residuals=True, queries_keys=True, values=True, names=[module]) as tape,
        _stream_into(model.get_submodule(f"{module}_residual")) as before,
    ):
        model(source_1S, teacher_input(model, source_1S, target_1T))
    queries_TK = tape.queries[module][0, head]
    if query >= queries_TK.size(0):
        raise UsageError(f"{module} has the queries 0 … {queries_TK.size(0) - 1}, not {query}")
    x_D = before[0][0, query]
    arrays = _products(queries_TK[query], tape.keys[module][0, head])
    weights_S, values_SK = tape[module][0, head, query], tape.values[module][0, head]
    sum_K = weights_S @ values_SK
    causal = module.startswith("decoder") and "self" in module
    positions_S = torch.arange(weights_S.numel(), device=device)
    arrays |= {
        "mask": (positions_S <= query).float() if causal else torch.ones_like(weights_S),
        "weights": weights_S,
        "values": values_SK,
        "sum": sum_K,
        "output": sum_K @ _slice_of_W_O(attention, head).mT,
        "attention": tape.outputs[module][0, query],
        "residual": x_D + tape.outputs[module][0, query],
    }
    residual = model.get_submodule(f"{module}_residual")
    post = isinstance(residual, PostNorm)
    assert isinstance(residual.norm, nn.Module)
    arrays["norm"] = residual.norm(arrays["residual"] if post else x_D)
    return ViewAnswer(
        _in_words(attention, arrays, post),
        {name: arrays[name].float().cpu().numpy() for name in STEPS},
    )


def _products(q_K: Tensor, keys_SK: Tensor) -> dict[str, Tensor]:
    products_S = keys_SK @ q_K
    scaled_S = products_S / math.sqrt(q_K.numel())
    return {"q": q_K, "keys": keys_SK, "products": products_S, "scaled": scaled_S}


def _slice_of_W_O(attention: MultiHeadAttention, head: int) -> Tensor:
    """The columns of W_O that the head's result meets, DK."""
    width = attention.W_O.in_features // attention.heads
    return attention.W_O.weight[:, head * width : (head + 1) * width]


def _in_words(
    attention: MultiHeadAttention, arrays: dict[str, Tensor], post: bool
) -> dict[str, Any]:
    steps = STEPS if post else {**STEPS, "norm": BEFORE}
    weights = {f"W_{name}": getattr(attention, f"W_{name}").weight for name in "QKVO"}
    return {
        "shapes": {name: list(array.shape) for name, array in (weights | arrays).items()},
        "steps": [
            {"name": name, "title": title, "formula": formula, "words": words}
            for name, (title, formula, words) in steps.items()
        ],
    }


@contextmanager
def _stream_into(residual: nn.Module) -> Iterator[list[Tensor]]:
    """The residual stream BTD that a sub-layer is given, once it has run."""
    seen: list[Tensor] = []
    hook = residual.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        yield seen
    finally:
        hook.remove()
