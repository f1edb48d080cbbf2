"""Converts state dicts of fairseq, and of NVIDIA's branch of it, to weights of a `Transformer`.

Versions of fairseq use different names, and NVIDIA's branch others. All names are first converted
to those of fairseq 0.12:

| there | in fairseq 0.12 |
|---|---|
| `self_attn.in_proj_weight` (3D, D), `in_proj_bias` | `q_proj`, `k_proj`, `v_proj`, in this order |
| NVIDIA: `in_proj_weight_q`, `_k`, `_v` (D, D), no bias | `q_proj.weight` …, transposed; zeros |
| `layer_norms.0`, `layer_norms.1` (encoder) | `self_attn_layer_norm`, `final_layer_norm` |
| NVIDIA: `maybe_ln1.ln`, `maybe_ln2.ln` (encoder) | the same two |
| NVIDIA: `self_attn_layer_norm.ln` and the like (decoder) | without `.ln` |
| `decoder.embed_out` | `decoder.output_projection.weight` |

D d_model · L max_positions
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.interop.fairseq_shape import kinds_of_positions
from allyouneed.model_folder.weights.shapes import weight_shapes
from allyouneed.text.fairseq_tokenizer import FairseqTokenizer

MODULES = {
    "embeddings.tokens": "embed_tokens",
    "embeddings.positions": "embed_positions",
    "embeddings.norm": "layernorm_embedding",
    "self_attention.W_Q": "self_attn.q_proj",
    "self_attention.W_K": "self_attn.k_proj",
    "self_attention.W_V": "self_attn.v_proj",
    "self_attention.W_O": "self_attn.out_proj",
    "self_attention_residual.norm": "self_attn_layer_norm",
    "cross_attention.W_Q": "encoder_attn.q_proj",
    "cross_attention.W_K": "encoder_attn.k_proj",
    "cross_attention.W_V": "encoder_attn.v_proj",
    "cross_attention.W_O": "encoder_attn.out_proj",
    "cross_attention_residual.norm": "encoder_attn_layer_norm",
    "feed_forward.W_1": "fc1",
    "feed_forward.W_2": "fc2",
    "feed_forward_residual.norm": "final_layer_norm",
    "norm": "layer_norm",
}
OUTPUT = "decoder.output_projection.weight"
NO_WEIGHTS = re.compile(  # entries of the state dict that are not weights
    r"(encoder|decoder)\.(version|embed_positions\.(_float_tensor|positions_buffer|weights))"
    # copies for the fast path of 0.12's encoder, which are often still zeros
    r"|encoder\.layers\.\d+\.(in_proj|out_proj|fc1|fc2)_(weight|bias)"
)
RENAMED = (
    (
        re.compile(r"(encoder\.layers\.\d+)\.(layer_norms\.0|maybe_ln1\.ln)\."),
        r"\1.self_attn_layer_norm.",
    ),
    (
        re.compile(r"(encoder\.layers\.\d+)\.(layer_norms\.1|maybe_ln2\.ln)\."),
        r"\1.final_layer_norm.",
    ),
    (re.compile(r"(decoder\.layers\.\d+)\.layer_norms\.0\."), r"\1.self_attn_layer_norm."),
    (re.compile(r"(decoder\.layers\.\d+)\.layer_norms\.1\."), r"\1.encoder_attn_layer_norm."),
    (re.compile(r"(decoder\.layers\.\d+)\.layer_norms\.2\."), r"\1.final_layer_norm."),
    (re.compile(r"_layer_norm\.ln\."), "_layer_norm."),
    (re.compile(r"decoder\.embed_out"), OUTPUT),
)
NVIDIA = re.compile(r"(.*_attn)\.in_proj_weight_([qkv])")
FUSED = re.compile(r"(.*_attn)\.in_proj_(weight|bias)")


def unified(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights with the names and shapes of fairseq 0.12, for checkpoints of all versions."""
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if NO_WEIGHTS.fullmatch(name):
            continue
        for pattern, replacement in RENAMED:
            name = pattern.sub(replacement, name)
        if its := NVIDIA.fullmatch(name):
            found[f"{its[1]}.{its[2]}_proj.weight"] = weight.T
            for projection in (f"{its[2]}_proj", "out_proj"):
                found[f"{its[1]}.{projection}.bias"] = torch.zeros(weight.size(0))
        elif its := FUSED.fullmatch(name):
            for part, letter in zip(weight.chunk(3), "qkv", strict=False):
                found[f"{its[1]}.{letter}_proj.{its[2]}"] = part
        else:
            found[name] = weight
    return found


def adopt_weights(
    theirs: Mapping[str, Tensor], settings: Mapping[str, Any], config: TransformerConfig
) -> tuple[dict[str, Tensor], list[str]]:
    """Our weights by name (a tied weight occurs once), and descriptions of everything in `theirs`,
    the result of `unified`, that does not fit."""
    complete = _positions(settings, config) | dict(theirs)
    tied = config.tied_weights()
    named = {_their_name(ours): ours for ours in (*weight_shapes(config), *tied)}
    found = {ours: complete[name] for name, ours in named.items() if name in complete}
    problems = [
        _counted("unknown weights", sorted(theirs.keys() - named.keys())),
        _counted("missing weights", [n for n, o in named.items() if o not in found | tied]),
    ]
    for ours, shape in weight_shapes(config).items():
        if ours in found and ours.endswith(("positions.table", "positions.weight")):
            found[ours] = _from_first_position(found[ours], config)
        if ours in found and tuple(found[ours].shape) != shape:
            problems.append(
                f"{_their_name(ours)} has the shape {tuple(found[ours].shape)}, where the options "
                f"and dictionaries say {shape}"
            )
    for ours, owner in tied.items():
        if ours in found and owner in found and not torch.equal(found[ours], found[owner]):
            problems.append(
                f"{_their_name(ours)} and {_their_name(owner)} differ, and the options say that "
                "they are one"
            )
        found.pop(ours, None)
    return found, [problem for problem in problems if problem]


def sinusoids(rows: int, d_model: int) -> Tensor:
    """fairseq's table of positions, (rows, d_model), with all sines before all cosines. The formula
    is tensor2tensor's: its longest wavelength is exactly 2π · 10000, the paper's a little less.

    Everything is computed in float32, as in fairseq, because models were trained with its rounding.
    """
    half = d_model // 2
    rates = torch.exp(torch.arange(half).float() * -(math.log(10000) / (half - 1)))
    angles = torch.arange(rows).float()[:, None] * rates
    table = torch.cat((angles.sin(), angles.cos()), dim=1)
    return torch.nn.functional.pad(table, (0, d_model % 2))


def _positions(settings: Mapping[str, Any], config: TransformerConfig) -> dict[str, Tensor]:
    """The tables of sinusoids with fairseq's names for them. fairseq does not save these tables."""
    rows = config.max_positions + FairseqTokenizer.PAD + 1
    return {
        f"{side}.embed_positions.weight": sinusoids(rows, config.d_model)
        for side, kind in zip(("encoder", "decoder"), kinds_of_positions(settings), strict=True)
        if kind == "sinusoidal"
    }


def _from_first_position(table: Tensor, config: TransformerConfig) -> Tensor:
    """The rows of positions 0 to L - 1. fairseq's first position is the row after padding's row."""
    first = FairseqTokenizer.PAD + 1
    return table[first : first + config.max_positions]


def _their_name(ours: str) -> str:
    """The name that fairseq gives to our weight."""
    if ours == "output.weight":
        return OUTPUT
    module, kind = ours.rsplit(".", 1)
    kind = "weight" if kind == "table" else kind
    for name, theirs in MODULES.items():
        if module.endswith(f".{name}"):
            return f"{module.removesuffix(name)}{theirs}.{kind}"
    raise AssertionError(ours)


def _counted(what: str, names: list[str]) -> str:
    """A description of the names, which lists the first few."""
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{what}: {shown}"
