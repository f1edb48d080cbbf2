"""Converts a model of ours to Marian's settings and weights.

V vocabulary · D d_model · P positions
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import TransformerConfig
from allyouneed.interop.marian.names import is_transposed, names
from allyouneed.interop.marian.shape import ACTIVATIONS, EPSILON, OURS, WIRING_KEYS, WIRINGS
from allyouneed.interop.marian.weights import NEVER, sinusoids

Arrays = Mapping[str, NDArray[np.float32]]
TOKENS = "encoder.embeddings.tokens.weight", "decoder.embeddings.tokens.weight"
NEARLY = 1e-4
LARGEST_EPSILON = 1e-5  # Marian's is 1e-9; with a variance near 1 the difference has no effect
FIXED = {
    "norm": "layer",
    "normalise_embeddings": False,
    "scale_embeddings": True,
}


@dataclass(frozen=True, slots=True)
class MarianExpression:
    """A model in Marian's form. `settings` are those of special:model.yml, `arrays` have Marian's
    layout, and `names` maps our names to Marian's."""

    settings: dict[str, Any]
    arrays: dict[str, NDArray[np.float32]]
    names: dict[str, str]


def express(
    config: TransformerConfig,
    weights: Arrays,
    rows: tuple[int, int],
) -> MarianExpression:
    """The same model in Marian's form; `inexpressible` must have found nothing in it. `rows` are
    the numbers of source and target ids, without a pad at the end."""
    complete = _complete(config, weights)
    settings = _settings(config, rows)
    theirs = names(config, settings)
    arrays = {}
    for ours, name in theirs.items():
        array = complete[ours]
        if ours.endswith("tokens.weight") or ours.startswith("output."):
            array = array[: rows[0 if ours == TOKENS[0] else 1]]
        arrays[name] = np.ascontiguousarray(array.T if is_transposed(ours) else array)
    return MarianExpression(settings, arrays, theirs)


def inexpressible(
    config: TransformerConfig, weights: Arrays, tables: Mapping[str, NDArray[np.float32]]
) -> Iterator[str]:
    """What Marian cannot represent of a model, one phrase for each part. `tables` are the positions
    PD of "encoder" and "decoder"."""
    for name, only in FIXED.items():
        if getattr(config, name) != only:
            yield f"{name}={getattr(config, name)!r}, of which Marian knows only {only!r}"
    if config.residual == "pre-norm" and config.decoder == "self-attention":
        yield (
            "residual='pre-norm' with self-attention in the decoder, where Marian's search leaves "
            "out norms"
        )
    if config.activation not in ACTIVATIONS.values():
        yield f"activation={config.activation!r}, which Marian lacks"
    if config.norm_epsilon > LARGEST_EPSILON:
        yield f"norm_epsilon={config.norm_epsilon}, where Marian adds {EPSILON}"
    if config.heads * config.width_of_head != config.d_model:
        yield (
            f"{config.heads} heads of width {config.width_of_head}, which are together not as wide "
            f"as d_model={config.d_model}"
        )
    own = sinusoids(config.max_positions, config.d_model) if config.d_model > 2 else None
    if own is None or not all(np.allclose(table, own, atol=NEARLY) for table in tables.values()):
        yield f"positions={config.positions!r}, as Marian's sinusoids have other frequencies"
    if weights[config.tied_weights().get(TOKENS[1], TOKENS[1])][config.start].any():
        yield (
            f"the embedding of start={config.start}, as Marian begins every translation with a "
            "vector of zeros"
        )


def _complete(config: TransformerConfig, weights: Arrays) -> dict[str, NDArray[np.float32]]:
    """The weights with zeros for missing biases, and with a bias that excludes ids which are never
    produced."""
    found = dict(weights)
    for name in weights:
        bias = f"{name.removesuffix('weight')}bias"
        if name.endswith(".weight") and not name.endswith(("tokens.weight", "recurrence.W.weight")):
            found.setdefault(bias, np.zeros(len(weights[name]), np.float32))
    owner = config.tied_weights().get("output.weight", "output.weight")
    found["output.weight"] = weights[owner]
    found.setdefault(TOKENS[1], weights[config.tied_weights().get(TOKENS[1], TOKENS[1])])
    bias_V = found.get("output.bias", np.zeros(config.vocabulary, np.float32)).copy()
    for id_ in {config.pad, config.start} - {config.end}:
        bias_V[id_] = NEVER
    return found | {"output.bias": bias_V}


def _settings(config: TransformerConfig, rows: tuple[int, int]) -> dict[str, Any]:
    activations = {ours: theirs for theirs, ours in ACTIVATIONS.items()}
    sharing = config.shared_embeddings
    wiring = next(ops for ops, residual in WIRINGS.items() if residual == config.residual)
    return {
        "dec-cell": "ssru",
        "dec-cell-base-depth": 2,
        "dec-cell-high-depth": 1,
        "dec-depth": config.decoder_layers,
        "dim-emb": config.d_model,
        "dim-rnn": 1024,
        "dim-vocabs": list(rows),
        "enc-cell": "gru",
        "enc-cell-depth": 1,
        "enc-depth": config.encoder_layers,
        "enc-type": "bidirectional",
        "input-types": [],
        "layer-normalization": False,
        "lemma-dim-emb": 0,
        "right-left": False,
        "skip": False,
        "tied-embeddings": sharing == "output",
        "tied-embeddings-all": sharing == "all",
        "tied-embeddings-src": False,
        "transformer-aan-activation": "swish",
        "transformer-aan-depth": 2,
        "transformer-aan-nogate": False,
        "transformer-decoder-autoreg": "rnn" if config.decoder == "ssru" else "self-attention",
        "transformer-dim-aan": 2048,
        "transformer-dim-ffn": config.d_ff,
        "transformer-ffn-activation": activations[config.activation],
        "transformer-ffn-depth": 2,
        "transformer-guided-alignment-layer": "last",
        "transformer-heads": config.heads,
        "transformer-no-projection": False,
        "transformer-postprocess-emb": "d",
        "transformer-tied-layers": [],
        "transformer-train-position-embeddings": False,
        "type": "transformer",
        "ulr": False,
        "version": OURS,
        **dict(zip(WIRING_KEYS, wiring, strict=True)),
    }
