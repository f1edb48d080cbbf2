"""Answers to the view about a translation: its trace as JSON, and its attention as arrays.

L layers · H heads · T queries · S keys
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.insight.head_measures import sentence_measures
from allyouneed.insight.tokens import Token
from allyouneed.insight.trace import Kind, Trace
from allyouneed.widget.disturbance import Source
from allyouneed.widget.maps import small
from allyouneed.widget.packing import ViewAnswer

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


def layers_of(config: TransformerConfig, kind: str) -> int:
    """The number of layers with this kind of attention."""
    return config.encoder_layers if kind == "encoder" else config.decoder_layers


def translation(
    id: str, trace: Trace, source: Source, baseline: Trace | None, parts: Sequence[str]
) -> dict[str, Any]:
    """A translation with its steps and its beam tree. `index` of a source token is the number of
    the token in the state's text that it stands for. `parts` are the parts of the whole text."""
    places = source.indices(one.span for one in trace.source)
    return {
        "id": id,
        "source": [
            {**token(one), "index": index} for one, index in zip(trace.source, places, strict=True)
        ],
        "target": [token(one) for one in trace.target],
        "text": trace.text,
        "score": trace.score,
        "log_probability": trace.log_probability,
        "steps": [
            {
                "log_probability": step.log_probability,
                "alternatives": [
                    {"id": a.id, "text": a.text, "log_probability": a.log_probability}
                    for a in step.alternatives
                ],
            }
            for step in trace.steps
        ],
        "beamTree": [
            {
                "number": node.number,
                "parent": node.parent,
                "step": node.step,
                "id": node.id,
                "text": node.text,
                "log_probability": finite(node.log_probability),
                "score": finite(node.score),
                "fate": node.fate,
            }
            for node in trace.beam_tree.nodes
        ],
        "seconds": trace.seconds,
        "baseline": baseline
        and {
            "text": baseline.text,
            "score": baseline.score,
            "log_probability": baseline.log_probability,
            "target": [token(one) for one in baseline.target],
        },
        "aligning": list(aligning_head(trace)),
        "parts": list(parts),
        "notes": list(trace.notes),
    }


def aligning_head(trace: Trace) -> tuple[int, int]:
    """Layer and number of the cross-attention head that aligns best.

    The words are aligned as `Translator.attention` aligns them: each target token with the source
    token that has the largest mean weight in the last layer. The head that gives these source
    tokens the most weight aligns best. The end tokens are not counted, because heads that have
    nothing to look at look at the end.
    """
    layers = sum(name.endswith("cross_attention") for name in trace.weights)
    tokens, words = max(1, len(trace.target) - 1), max(1, len(trace.source) - 1)
    weights_LHTS = torch.stack(
        [trace.attention("cross", layer)[:, :tokens, :words] for layer in range(layers)]
    )
    aligned_T = weights_LHTS[-1].mean(dim=0).argmax(dim=-1)
    agreement_LH = weights_LHTS[:, :, torch.arange(tokens), aligned_T].mean(dim=-1)
    return divmod(int(agreement_LH.argmax()), agreement_LH.size(1))


def lens(trace: Trace) -> dict[str, Any]:
    """The tokens that the decoder would have predicted after each sub-layer, from the lowest up,
    for each target position."""
    return {
        "positions": [
            [
                {
                    "name": row.name,
                    "top": [
                        {"id": one.id, "text": one.text, "probability": one.probability}
                        for one in row.cells[position].top
                    ],
                    "crossShare": row.cells[position].cross_share,
                }
                for row in trace.lens
            ]
            for position in range(len(trace.target))
        ]
    }


def token(token: Token) -> dict[str, Any]:
    """A token as the view reads it; `begin` and `end` count characters."""
    begin, end = token.span
    return {"text": token.text, "id": token.id, "begin": begin, "end": end, "word": token.word}


def finite(number: float) -> float | None:
    """The number, or None for an infinity or NaN, which JSON cannot hold."""
    return number if math.isfinite(number) else None


def attention(weights_HTS: Tensor) -> ViewAnswer:
    """The attention weights of one layer."""
    return ViewAnswer({}, {"weights": weights_HTS.detach().float().cpu().numpy()})


def maps(weights: Sequence[Tensor]) -> ViewAnswer:
    """The attention weights HTS of all layers, as small maps."""
    if not weights:
        return ViewAnswer({}, {"maps": torch.zeros(0, 0, 0, 0).numpy()})
    maps_LHTS = small(torch.stack([weights_HTS.detach().float() for weights_HTS in weights]))
    return ViewAnswer({}, {"maps": maps_LHTS.cpu().numpy()})


def metrics(trace: Trace, config: TransformerConfig) -> dict[str, Any]:
    """Every measure of every head in this sentence, by kind, layer and head. A measure that this
    sentence has no rows for is left out."""
    source = [one.id for one in trace.source]
    looked_at = {"encoder": source, "cross": source}
    looked_at["decoder"] = [config.start, *(one.id for one in trace.target[:-1])]
    return {
        kind: [
            _by_head(
                sentence_measures(
                    trace.attention(kind, layer), looked_at[kind], config, causal=kind == "decoder"
                ),
                config.heads,
            )
            for layer in range(layers_of(config, kind))
        ]
        for kind in KINDS
    }


def _by_head(measures: dict[str, list[float]], heads: int) -> list[dict[str, float]]:
    return [
        {name: values[head] for name, values in measures.items() if math.isfinite(values[head])}
        for head in range(heads)
    ]
