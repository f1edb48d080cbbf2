"""Converts a fairseq model's options to a `TransformerConfig`, and finds unsupported options."""

from collections.abc import Mapping
from typing import Any

from allyouneed.core.config import Activation, Positions, SharedEmbeddings, TransformerConfig
from allyouneed.errors import ConfigError
from allyouneed.text.fairseq_tokenizer import FairseqTokenizer

DEFAULTS: dict[str, Any] = {  # of fairseq's architecture "transformer"
    "encoder_embed_dim": 512,
    "encoder_ffn_embed_dim": 2048,
    "encoder_layers": 6,
    "encoder_attention_heads": 8,
    "decoder_layers": 6,
    "decoder_attention_heads": 8,
    "dropout": 0.1,
    "max_source_positions": 1024,
    "max_target_positions": 1024,
    "activation_fn": "relu",
}
WHOLE = tuple(name for name, default in DEFAULTS.items() if type(default) is int)
ALIKE = {  # options that must be the same in encoder and decoder
    "embed_dim": "width of embeddings",
    "ffn_embed_dim": "width inside the feed-forward network",
    "attention_heads": "heads",
    "normalize_before": "place of the layer norms",
}
ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "gelu": "gelu", "swish": "silu"}
NO_PLACE = {  # unsupported options that change the computation, with their meaning
    "adaptive_input": "adaptive input embeddings",
    "adaptive_softmax_cutoff": "an adaptive softmax",
    "base_layers": "BASE layers",
    "char_inputs": "characters as input",
    "character_embeddings": "embeddings made of characters",
    "cross_self_attention": "cross- and self-attention in one",
    "decoder_langtok": "a token that names the language",
    "decoder_layers_to_keep": "layers left out after training",
    "encoder_langtok": "a token that names the language",
    "encoder_layers_to_keep": "layers left out after training",
    "decoder_xformers_att_config": "attention of xFormers",
    "encoder_xformers_att_config": "attention of xFormers",
    "moe_freq": "mixtures of experts",
    "no_cross_attention": "no cross-attention",
    "no_decoder_final_norm": "no norm on top of a pre-norm decoder",
    "scale_attn": "scaled attention",
    "scale_fc": "a norm inside the feed-forward network",
    "scale_heads": "scaled heads",
    "scale_resids": "scaled residual connections",
    "use_alibi": "ALiBi positions",
}
TRAINING_ONLY = ("encoder_layerdrop", "decoder_layerdrop", "quant_noise_pq", "quant_noise_scalar")
LEAST_SINUSOIDS = 4  # fairseq's formula divides by half the width less one


def misfits(settings: Mapping[str, Any]) -> list[str]:
    """Descriptions of all options that a `TransformerConfig` cannot represent."""
    found = [
        f"{name}={_setting(settings, name)!r} is no whole number"
        for name in WHOLE
        if type(_setting(settings, name)) is not int
    ]
    if found:
        return found
    for name, words in ALIKE.items():
        encoder = _setting(settings, f"encoder_{name}")
        decoder = _setting(settings, f"decoder_{name}")
        if encoder != decoder:
            found.append(
                f"encoder_{name}={encoder} and decoder_{name}={decoder}: both sides need the same "
                f"{words}"
            )
    for end in ("input", "output"):
        width = settings.get(f"decoder_{end}_dim")
        if isinstance(width, int) and width != _setting(settings, "decoder_embed_dim"):
            found.append(f"decoder_{end}_dim={width}: a projection of the decoder's {end}")
    activation = _setting(settings, "activation_fn")
    if activation not in ACTIVATIONS:
        found.append(f"activation_fn={activation}: only {', '.join(ACTIVATIONS)} are here")
    found += [
        f"{name}={settings[name]}: {words}"
        for name, words in NO_PLACE.items()
        if settings.get(name) not in (None, False, 0, "", [])
    ]
    width = _setting(settings, "encoder_embed_dim")
    if width < LEAST_SINUSOIDS and "sinusoidal" in kinds_of_positions(settings):
        found.append(f"encoder_embed_dim={width}: fairseq's sinusoids need {LEAST_SINUSOIDS}")
    return found


def kinds_of_positions(settings: Mapping[str, Any]) -> tuple[Positions, Positions]:
    """The positions of encoder and decoder: "learned", "sinusoidal" (fairseq's formula) or
    "none"."""
    if settings.get("no_token_positional_embeddings"):
        return "none", "none"
    sides = (settings.get(f"{side}_learned_pos") for side in ("encoder", "decoder"))
    encoder, decoder = ("learned" if learned else "sinusoidal" for learned in sides)
    return encoder, decoder  # type: ignore[return-value]


def adopt_config(settings: Mapping[str, Any], vocabularies: tuple[int, int]) -> TransformerConfig:
    """The configuration for these options and sizes of the dictionaries (source, target).

    Sinusoids become a stored table, because fairseq's formula differs from ours. If only one side's
    table is learned, that table is stored, too. An activation that `misfits` names is replaced by
    ReLU.

    Raises:
        ConfigError: a model with these values cannot be built.
    """
    kinds = kinds_of_positions(settings)
    positions: Positions = kinds[0] if kinds[0] == kinds[1] != "sinusoidal" else "stored"
    source, target = vocabularies
    try:
        return TransformerConfig(
            vocabulary=target,
            source_vocabulary=None if source == target else source,
            d_model=_setting(settings, "encoder_embed_dim"),
            heads=_setting(settings, "encoder_attention_heads"),
            d_ff=_setting(settings, "encoder_ffn_embed_dim"),
            encoder_layers=_setting(settings, "encoder_layers"),
            decoder_layers=_setting(settings, "decoder_layers"),
            dropout=float(_setting(settings, "dropout")),
            attention_dropout=float(settings.get("attention_dropout") or 0.0),
            activation_dropout=float(
                settings.get("activation_dropout") or settings.get("relu_dropout") or 0.0
            ),
            max_positions=min(
                _setting(settings, f"max_{side}_positions") for side in ("source", "target")
            ),
            residual="pre-norm" if settings.get("encoder_normalize_before") else "post-norm",
            activation=ACTIVATIONS.get(_setting(settings, "activation_fn"), "relu"),
            positions=positions,
            scale_embeddings=not settings.get("no_scale_embedding"),
            normalise_embeddings=bool(settings.get("layernorm_embedding")),
            shared_embeddings=_sharing(settings),
            pad=FairseqTokenizer.PAD,
            start=FairseqTokenizer.END,  # fairseq's decoder starts with the end token
            end=FairseqTokenizer.END,
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(
            f"its options are not of the kinds that fairseq writes ({error})"
        ) from error


def notes_on(settings: Mapping[str, Any]) -> list[str]:
    """Notes for the user about options that are left out or merged."""
    found = [
        f"{name}={settings[name]} is for training only and left out"
        for name in TRAINING_ONLY
        if settings.get(name)
    ]
    longest = [_setting(settings, f"max_{side}_positions") for side in ("source", "target")]
    if longest[0] != longest[1]:
        found.append(
            f"sources of up to {longest[0]} tokens and translations of up to {longest[1]}: "
            f"{min(longest)} for both"
        )
    return found


def _sharing(settings: Mapping[str, Any]) -> SharedEmbeddings:
    if settings.get("share_all_embeddings"):
        return "all"
    return "output" if settings.get("share_decoder_input_output_embed") else "none"


def _setting(settings: Mapping[str, Any], name: str) -> Any:
    """An option, or fairseq's default. The default of a decoder's width is the encoder's width."""
    if settings.get(name) is not None:
        return settings[name]
    if name in DEFAULTS:
        return DEFAULTS[name]
    if name.startswith("decoder_"):
        return _setting(settings, name.replace("decoder_", "encoder_"))
    return False
