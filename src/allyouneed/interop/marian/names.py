"""Marian's names for our weights.

D d_model · F d_ff · V vocabulary
"""

from collections.abc import Iterator, Mapping
from typing import Any

from allyouneed.core.config import TransformerConfig

PROJECTIONS = {"W_Q": "q", "W_K": "k", "W_V": "v", "W_O": "o"}
SETTINGS = "special:model.yml"
WITHOUT_USE = ("_QuantMultA",)  # scales of activations; our engines compute them for each row


def names(config: TransformerConfig, settings: Mapping[str, Any]) -> dict[str, str]:
    """Our names, each with Marian's name, for a model with these settings.

    The tables of positions are not included, because Marian computes them.
    """
    found = dict(_embeddings(settings))
    pre = config.residual == "pre-norm"
    for number in range(config.encoder_layers):
        ours, theirs = f"encoder.layers.{number}", f"encoder_l{number + 1}"
        found |= _attention(f"{ours}.self_attention", f"{theirs}_self", pre)
        found |= _feed_forward(ours, theirs, pre)
    for number in range(config.decoder_layers):
        ours, theirs = f"decoder.layers.{number}", f"decoder_l{number + 1}"
        if config.decoder == "ssru":
            found |= _recurrence(f"{ours}.recurrence", f"{theirs}_rnn", pre)
        else:
            found |= _attention(f"{ours}.self_attention", f"{theirs}_self", pre)
        found |= _attention(f"{ours}.cross_attention", f"{theirs}_context", pre)
        found |= _feed_forward(ours, theirs, pre)
    if pre:
        for side in ("encoder", "decoder"):
            found |= _norm(f"{side}.norm", f"{side}_top")
    tied = config.tied_weights()
    return {name: theirs for name, theirs in found.items() if name not in tied}


def is_transposed(name: str) -> bool:
    """Whether Marian stores our weight `name` transposed, as DF instead of FD."""
    return name.endswith(".weight") and not name.endswith(("norm.weight", "tokens.weight"))


def _embeddings(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    every = settings.get("tied-embeddings-all") or settings.get("tied-embeddings-src")
    for side in ("encoder", "decoder"):
        yield f"{side}.embeddings.tokens.weight", "Wemb" if every else f"{side}_Wemb"
    yield "output.weight", "decoder_ff_logit_out_W"
    yield "output.bias", "decoder_ff_logit_out_b"


def _attention(ours: str, theirs: str, pre: bool) -> dict[str, str]:
    found = {
        f"{ours}.{name}.{kind}": f"{theirs}_{letter_of_kind}{letter}"
        for name, letter in PROJECTIONS.items()
        for kind, letter_of_kind in (("weight", "W"), ("bias", "b"))
    }
    return found | _norm(f"{ours}_residual.norm", f"{theirs}_Wo", pre)


def _recurrence(ours: str, theirs: str, pre: bool) -> dict[str, str]:
    return {
        f"{ours}.W.weight": f"{theirs}_W",
        f"{ours}.W_f.weight": f"{theirs}_Wf",
        f"{ours}.W_f.bias": f"{theirs}_bf",
        **_norm(f"{ours}_residual.norm", theirs if pre else f"{theirs}_ffn", pre),
    }


def _feed_forward(ours: str, theirs: str, pre: bool) -> dict[str, str]:
    return {
        f"{ours}.feed_forward.W_1.weight": f"{theirs}_ffn_W1",
        f"{ours}.feed_forward.W_1.bias": f"{theirs}_ffn_b1",
        f"{ours}.feed_forward.W_2.weight": f"{theirs}_ffn_W2",
        f"{ours}.feed_forward.W_2.bias": f"{theirs}_ffn_b2",
        **_norm(f"{ours}.feed_forward_residual.norm", f"{theirs}_ffn_ffn", pre),
    }


def _norm(ours: str, theirs: str, pre: bool = False) -> dict[str, str]:
    """The names of a norm's weights. They end in "_pre" if the norm stands before its sub-layer."""
    end = "_pre" if pre else ""
    return {f"{ours}.weight": f"{theirs}_ln_scale{end}", f"{ours}.bias": f"{theirs}_ln_bias{end}"}
