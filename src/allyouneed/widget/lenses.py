"""Lenses: the attention weights, and quantities derived from them.

L layers · H heads · T queries · S keys
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.insight.attribution import gradient_times_attention, rollout, value_weighted
from allyouneed.insight.trace import MODULES, Kind, Trace

Layers = Mapping[Kind, Sequence[Tensor]]


def layers_seen(model: Transformer, trace: Trace, lens: str) -> Layers:
    """The attention HTS of every layer of each kind through a lens. The model must have the same
    changes as when the trace was made.

    "raw" is the weights; "value-weighted" the norms of the weighted value vectors (Kobayashi et al.
    2020); "rollout" the share of each input token after each layer (Abnar & Zuidema 2020), the same
    for all heads; "gradient" each weight times the gradient of log P with respect to it (Chefer et
    al. 2021), including negative values.
    """
    if lens == "raw":
        return _by_kind(model, trace.weights)
    if lens == "rollout":
        raw = _by_kind(model, trace.weights)
        mixed = rollout(raw["encoder"], raw["decoder"], raw["cross"])
        heads = model.config.heads
        return {
            "encoder": [one.expand(heads, -1, -1) for one in mixed.encoder],
            "decoder": [one.expand(heads, -1, -1) for one in mixed.target],
            "cross": [one.expand(heads, -1, -1) for one in mixed.source],
        }
    device = next(model.parameters()).device
    source_1S, target_1T = (
        torch.tensor([[one.id for one in side]], device=device)
        for side in (trace.source, trace.target)
    )
    if lens == "value-weighted":
        norms = value_weighted(model, source_1S, target_1T)
        return _by_kind(model, {name: one.heads_BHTS[0] for name, one in norms.items()})
    products = gradient_times_attention(model, source_1S, target_1T)
    return _by_kind(model, {name: one_BHTS[0] for name, one_BHTS in products.items()})


def _by_kind(model: Transformer, weights: Mapping[str, Tensor]) -> dict[Kind, list[Tensor]]:
    layers: dict[Kind, int] = {
        "encoder": model.config.encoder_layers,
        "decoder": model.config.decoder_layers,
        "cross": model.config.decoder_layers,
    }
    return {
        kind: [weights[MODULES[kind].format(layer)] for layer in range(count)]
        for kind, count in layers.items()
    }
