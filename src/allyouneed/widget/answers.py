"""What the view is told about a translation: its trace as JSON, and as arrays by layer.

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
from allyouneed.widget.packing import Answer

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


def layers_of(config: TransformerConfig, kind: str) -> int:
    """How many layers have this kind of attention."""
    return config.encoder_layers if kind == "encoder" else config.decoder_layers


def translation(id: str, trace: Trace, source: Source, baseline: Trace | None) -> dict[str, Any]:
    """A translation with its steps and its beam tree; each source token with the `index` of the
    token in the state's text that it stands for."""
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
        "notes": list(trace.notes),
    }


def lens(trace: Trace) -> dict[str, Any]:
    """What the decoder would have said, by target position, from the lowest sub-layer up."""
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
    """A token as the view takes it; its place counts characters."""
    begin, end = token.span
    return {"text": token.text, "id": token.id, "begin": begin, "end": end, "word": token.word}


def finite(number: float) -> float | None:
    """The number, or None for what JSON cannot hold."""
    return number if math.isfinite(number) else None


def attention(weights_HTS: Tensor) -> Answer:
    """One layer."""
    return Answer({}, {"weights": weights_HTS.detach().float().cpu().numpy()})


def maps(weights: Sequence[Tensor]) -> Answer:
    """All layers HTS, small."""
    if not weights:
        return Answer({}, {"maps": torch.zeros(0, 0, 0, 0).numpy()})
    maps_LHTS = small(torch.stack([weights_HTS.detach().float() for weights_HTS in weights]))
    return Answer({}, {"maps": maps_LHTS.cpu().numpy()})


def metrics(trace: Trace, config: TransformerConfig) -> dict[str, Any]:
    """Every measure of every head in this sentence, by kind, layer and head; what cannot be
    measured here is left out."""
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
