"""Converts models of Hugging Face's class `M2M100ForConditionalGeneration` to ours: M2M-100 (Fan et
al. 2020), SMaLL-100 (Mohammadshahi et al. 2022) and NLLB-200 (NLLB team 2022).

They are pre-norm Transformers with a norm on top and one matrix for all embeddings. Their sinusoids
have all sines before all cosines, and the first two positions are unused.

L max_positions · D d_model
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError
from allyouneed.interop.adoption import adopt, check_sizes
from allyouneed.interop.families import set_apart
from allyouneed.interop.huggingface import ACTIVATIONS, MODULES
from allyouneed.model_folder.weights.model import WeightsLeftUnset

FIRST_POSITION = 2  # the places before it belong to padding
POSITIONS = ("model.encoder.embed_positions.weights", "model.decoder.embed_positions.weights")


def from_m2m(weights: nn.Module | Mapping[str, Tensor], config: Mapping[str, Any]) -> Transformer:
    """Our model from an `M2M100ForConditionalGeneration`, or from its state dict. `config` is the
    content of its config.json. The result has the same ids, and its positions as a stored table.

    Raises:
        ConfigError: the config is not such a model's or a `TransformerConfig` cannot represent it,
            a weight is missing, or the model has no place for a weight.
        ShapeError: a weight has another shape than the config says.
    """
    theirs = dict(weights.state_dict() if isinstance(weights, nn.Module) else weights)
    ours = _config(config)
    check_sizes(ours, theirs)
    with WeightsLeftUnset():
        model = Transformer(ours)
    if "model.shared.weight" in theirs:
        shared = theirs["model.shared.weight"]
        names = ("lm_head", "model.encoder.embed_tokens", "model.decoder.embed_tokens")
        theirs = {f"{name}.weight": shared for name in names} | theirs
    positions = position_table(ours.max_positions, ours.d_model)
    theirs |= dict.fromkeys(POSITIONS, positions)
    adopt(model, theirs, _name, {"model.shared.weight"}, "an M2M-100 model")
    return model.eval()


def position_table(positions: int, d_model: int) -> Tensor:
    """The vectors LD that are added at each position: sin((t+2)·w_i), then cos((t+2)·w_i), with
    w_i = 10000^(-i/(D/2-1)), computed in float32 as in the original code."""
    half = d_model // 2
    rate = torch.tensor(10000.0).log() / max(half - 1, 1)
    frequencies = torch.exp(torch.arange(half, dtype=torch.float32) * -rate)
    places = torch.arange(FIRST_POSITION, FIRST_POSITION + positions, dtype=torch.float32)
    angles = places[:, None] * frequencies[None]
    table = torch.cat([angles.sin(), angles.cos()], dim=1)
    return nn.functional.pad(table, (0, d_model % 2))


def _name(name: str) -> str:
    """The name that they give to our weight `name`."""
    if name == "output.weight":
        return "lm_head.weight"
    module, kind = name.rsplit(".", 1)
    if module in ("encoder.norm", "decoder.norm"):
        return f"model.{module.removesuffix('norm')}layer_norm.{kind}"
    if kind == "table":
        return f"model.{module.partition('.')[0]}.embed_positions.weights"
    for ours, theirs in MODULES.items():
        if module.endswith("." + ours):
            return f"model.{module.removesuffix(ours)}{theirs}.{kind}"
    raise ConfigError(f"M2M-100 has no weight like {name!r}")


def misfits(config: Mapping[str, Any]) -> list[str]:
    """The reasons why a model with this config.json cannot be imported; empty if it can."""
    if config.get("model_type", "m2m_100") != "m2m_100":
        kind = str(config["model_type"])
        return [f"model_type={kind!r} is not 'm2m_100'{set_apart(kind)}"]
    reasons = []
    activation = config.get("activation_function", "relu")
    if activation not in [*ACTIVATIONS]:  # it may be a list, which no table takes
        known = ", ".join(ACTIVATIONS)
        reasons.append(f"activation_function={activation!r} is not one of {known}")
    for name in ("attention_heads", "ffn_dim"):
        ours, theirs = config.get(f"encoder_{name}"), config.get(f"decoder_{name}")
        if ours != theirs:
            reasons.append(
                f"encoder_{name}={ours} and decoder_{name}={theirs} have to be the same number"
            )
    if not config.get("tie_word_embeddings", True):
        reasons.append("tie_word_embeddings=false: an output of its own has no place here")
    return reasons


def _config(config: Mapping[str, Any]) -> TransformerConfig:
    if reasons := misfits(config):
        raise ConfigError("; ".join(reasons))

    def number(name: str) -> int:
        if type(config.get(name)) is not int:
            raise ConfigError(
                f"{name}={config.get(name)!r} is no whole number; is this the config of an "
                "M2M-100 model?"
            )
        return int(config[name])

    return TransformerConfig(
        vocabulary=number("vocab_size"),
        d_model=number("d_model"),
        heads=number("encoder_attention_heads"),
        d_ff=number("encoder_ffn_dim"),
        encoder_layers=number("encoder_layers"),
        decoder_layers=number("decoder_layers"),
        dropout=config.get("dropout", 0.1),
        attention_dropout=config.get("attention_dropout", 0.1),
        activation_dropout=config.get("activation_dropout", 0.0),
        max_positions=number("max_position_embeddings"),
        residual="pre-norm",
        activation=ACTIVATIONS[config.get("activation_function", "relu")],  # type: ignore[arg-type]
        positions="stored",
        scale_embeddings=bool(config.get("scale_embedding", True)),
        shared_embeddings="all",
        pad=number("pad_token_id"),
        start=number("decoder_start_token_id"),
        end=number("eos_token_id"),
    )
