"""Converts Hugging Face's Marian models to ours, and ours to Marian's.

The functions take state dicts and plain configs, so the package `transformers` is not needed.
`MarianMTModel` is the paper's post-norm Transformer with three differences: targets begin with the
pad id, positions have all sines before all cosines, and logits have a bias, `final_logits_bias`.

D d_model · V vocabulary
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from allyouneed.core.config import SharedEmbeddings, TransformerConfig
from allyouneed.core.positions import sinusoidal_encoding
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError
from allyouneed.interop.adoption import adopt, check_sizes
from allyouneed.interop.families import set_apart

MODULES = {
    "embeddings.tokens": "embed_tokens",
    "embeddings.positions": "embed_positions",
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
}
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "silu": "silu", "swish": "silu"}
SHARING: dict[tuple[bool, bool], SharedEmbeddings] = {
    # (share_encoder_decoder_embeddings, tie_word_embeddings) → shared_embeddings
    (True, True): "all",
    (False, True): "output",
    (False, False): "none",
    (True, False): "none",  # the two sides start with equal weights, and training may change them
}
FIXED = {
    "residual": "post-norm",
    "norm": "layer",
    "norm_epsilon": 1e-5,
    "decoder": "self-attention",
}
"""The settings that all Marian models share."""
ALWAYS: dict[str, tuple[bool, str]] = {  # keys of the config that MarianMTModel's code ignores
    "is_encoder_decoder": (True, "is one"),
    "normalize_before": (False, "is post-norm only"),
    "normalize_embedding": (False, "normalises no embeddings"),
    "add_final_layer_norm": (False, "has no norm on top"),
    "static_position_embeddings": (True, "has sinusoids"),
}


def from_marian(
    weights: nn.Module | Mapping[str, Tensor], config: Mapping[str, Any]
) -> Transformer:
    """Our model from a `MarianMTModel`, or from its state dict. `config` is the content of its
    config.json.

    The result has Marian's ids, and its positions as a stored table. Weights that Marian omits from
    its files, because they follow from others or from a formula, may be missing.

    Raises:
        ConfigError: the config is not Marian's or a `TransformerConfig` cannot represent it, a
            weight is missing, or the model has no place for a weight.
        ShapeError: a weight has another shape than the config says.
    """
    theirs = dict(weights.state_dict() if isinstance(weights, nn.Module) else weights)
    ours = _adopt_config(config)
    check_sizes(ours, theirs)
    model = Transformer(ours)
    theirs = _derived_weights(theirs, model.config) | theirs
    if "final_logits_bias" in theirs:
        theirs["final_logits_bias"] = theirs["final_logits_bias"].squeeze(0)
    adopt(model, theirs, _marian_name, {"model.shared.weight"}, "a Marian model")
    return model


def to_marian(model: Transformer) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The config and the whole state dict of a `MarianMTModel` that gives the same logits.

    Our sinusoids alternate sines and cosines; Marian's have all sines before all cosines. Therefore
    the D axis of all weights is reordered, which does not change the logits. Missing biases become
    zeros. A shared weight occurs under each of its names, as the same tensor.

    Raises:
        ConfigError: Marian cannot represent the model.
    """
    _check_room(model.config)
    order_D = _order_of_marian(model)
    complete = replace(model.config, positions="stored", bias=True, output_bias=True)
    with torch.device("meta"):
        shapes = {name: weight.shape for name, weight in Transformer(complete).state_dict().items()}
    ours = _tables(model) | {name: weight.cpu() for name, weight in model.state_dict().items()}
    tied = model.tied_weights()
    owned = {
        name: _reorder(name, ours[name] if name in ours else torch.zeros(shape), order_D)
        for name, shape in shapes.items()
        if name not in tied
    }
    theirs = {_marian_name(name): owned[tied.get(name, name)] for name in shapes}
    theirs["final_logits_bias"] = theirs["final_logits_bias"][None]
    if model.config.shared_embeddings == "all":
        theirs["model.shared.weight"] = theirs["lm_head.weight"]
    return _give_config(model.config), theirs


def _marian_name(name: str) -> str:
    """The name that Marian gives to our weight `name`."""
    if name.startswith("output."):
        return {"output.weight": "lm_head.weight", "output.bias": "final_logits_bias"}[name]
    module, kind = name.rsplit(".", 1)
    for ours, theirs in MODULES.items():
        if module.endswith("." + ours):
            kind = "weight" if kind == "table" else kind
            return f"model.{module.removesuffix(ours)}{theirs}.{kind}"
    raise ConfigError(f"Marian has no weight like {name!r}")


def _derived_weights(theirs: Mapping[str, Tensor], config: TransformerConfig) -> dict[str, Tensor]:
    """The weights that Marian omits from its files."""
    derived = {"final_logits_bias": torch.zeros(1, config.vocabulary)}
    for side in ("encoder", "decoder"):
        derived[f"model.{side}.embed_positions.weight"] = _halves(config)
        if "model.shared.weight" in theirs:
            derived[f"model.{side}.embed_tokens.weight"] = theirs["model.shared.weight"]
    return derived


def misfits(config: Mapping[str, Any]) -> list[str]:
    """The reasons why this config.json is not that of a `MarianMTModel`; empty if it is."""
    if config.get("model_type", "marian") != "marian":
        kind = str(config["model_type"])
        return [f"model_type={kind!r} is not 'marian'{set_apart(kind)}"]
    reasons = [
        f"{name}={config[name]!r}: MarianMTModel itself {itself}"
        for name, (only, itself) in ALWAYS.items()
        if config.get(name, only) != only
    ]
    activation = config.get("activation_function", "gelu")
    if activation not in [*ACTIVATIONS]:  # it may be a list, which no table takes
        known = ", ".join(ACTIVATIONS)
        reasons.append(f"activation_function={activation!r} is not one of {known}")
    for name in ("attention_heads", "ffn_dim"):
        ours, theirs = config.get(f"encoder_{name}"), config.get(f"decoder_{name}")
        if ours != theirs:
            reasons.append(
                f"encoder_{name}={ours} and decoder_{name}={theirs} have to be the same number"
            )
    return reasons


def _adopt_config(config: Mapping[str, Any]) -> TransformerConfig:
    if reasons := misfits(config):
        raise ConfigError("; ".join(reasons))
    activation = config.get("activation_function", "gelu")
    share = bool(config.get("share_encoder_decoder_embeddings", True))
    source_vocabulary = _integer(config, "vocab_size")
    vocabulary = source_vocabulary if share else _integer(config, "decoder_vocab_size")
    return TransformerConfig(
        vocabulary=vocabulary,
        source_vocabulary=source_vocabulary if source_vocabulary != vocabulary else None,
        d_model=_integer(config, "d_model"),
        heads=_integer(config, "encoder_attention_heads"),
        d_ff=_integer(config, "encoder_ffn_dim"),
        encoder_layers=_integer(config, "encoder_layers"),
        decoder_layers=_integer(config, "decoder_layers"),
        dropout=config.get("dropout", 0.1),
        attention_dropout=config.get("attention_dropout", 0.0),
        activation_dropout=config.get("activation_dropout", 0.0),
        max_positions=_integer(config, "max_position_embeddings"),
        activation=ACTIVATIONS[activation],  # type: ignore[arg-type]
        positions="stored",
        scale_embeddings=bool(config.get("scale_embedding", False)),
        shared_embeddings=SHARING[share, bool(config.get("tie_word_embeddings", True))],
        output_bias=True,
        pad=_integer(config, "pad_token_id"),
        start=_integer(config, "decoder_start_token_id"),
        end=_integer(config, "eos_token_id"),
        **FIXED,  # type: ignore[arg-type]
    )


def _integer(config: Mapping[str, Any], name: str) -> int:
    if type(config.get(name)) is not int:
        raise ConfigError(
            f"{name}={config.get(name)!r} is no whole number; is this the config of a Marian model?"
        )
    return int(config[name])


def _give_config(config: TransformerConfig) -> dict[str, Any]:
    share = config.shared_embeddings == "all"
    activations = {ours: theirs for theirs, ours in ACTIVATIONS.items()}  # silu becomes swish
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "is_encoder_decoder": True,
        "vocab_size": config.source_vocabulary or config.vocabulary,
        "decoder_vocab_size": config.vocabulary,
        "share_encoder_decoder_embeddings": share,
        "tie_word_embeddings": config.shared_embeddings != "none",
        "d_model": config.d_model,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "encoder_attention_heads": config.heads,
        "decoder_attention_heads": config.heads,
        "encoder_ffn_dim": config.d_ff,
        "decoder_ffn_dim": config.d_ff,
        "max_position_embeddings": config.max_positions,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
        "activation_function": activations[config.activation],
        "scale_embedding": config.scale_embeddings,
        "normalize_before": False,
        "normalize_embedding": False,
        "static_position_embeddings": True,
        "pad_token_id": config.pad,
        "bos_token_id": config.start,
        "eos_token_id": config.end,
        "forced_eos_token_id": config.end,
        "decoder_start_token_id": config.start,
    }


def _check_room(config: TransformerConfig) -> None:
    for name, only in (FIXED | {"normalise_embeddings": False}).items():
        if getattr(config, name) != only:
            raise ConfigError(
                f"{name}={getattr(config, name)!r} has no room in Marian, only {only!r} has"
            )
    if config.activation not in ACTIVATIONS.values():
        raise ConfigError(f"activation={config.activation!r} has no room in Marian")
    if config.heads * config.width_of_head != config.d_model:
        raise ConfigError(
            f"{config.heads} heads of width {config.width_of_head} have no room in Marian; "
            f"together they must be as wide as d_model={config.d_model}"
        )


def _order_of_marian(model: Transformer) -> Tensor:
    """For each of Marian's D components its index among ours, which depends on the positions."""
    identity_D = torch.arange(model.config.d_model)
    for order_D in (identity_D, torch.cat((identity_D[0::2], identity_D[1::2]))):
        tables = [table[:, order_D] for table in _tables(model).values()]
        halves = _halves(model.config)
        if tables and all(torch.allclose(table, halves, atol=1e-5) for table in tables):
            return order_D
    raise ConfigError(
        f"positions={model.config.positions!r} of this model have no room in Marian, "
        "only sinusoids have"
    )


def _tables(model: Transformer) -> dict[str, Tensor]:
    """The tables of positions under their names, whether or not they are stored."""
    buffers = model.named_buffers()
    return {name: table.cpu() for name, table in buffers if name.endswith("positions.table")}


def _halves(config: TransformerConfig) -> Tensor:
    """The paper's sinusoids with all sines before all cosines."""
    table = sinusoidal_encoding(config.max_positions, config.d_model)
    return torch.cat((table[:, 0::2], table[:, 1::2]), dim=1)


def _reorder(name: str, weight: Tensor, order_D: Tensor) -> Tensor:
    """The weight with its D axis reordered: the last axis if D is its input, the first if D is its
    output."""
    *_, module, kind = name.split(".")
    if module in ("W_O", "W_2", "norm"):
        return weight[order_D]
    return weight[:, order_D] if kind in ("weight", "table") else weight.clone()
