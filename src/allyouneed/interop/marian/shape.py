"""Converts Marian's `special:model.yml` to a `TransformerConfig`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from allyouneed.core.config import (
    Activation,
    Decoder,
    Residual,
    SharedEmbeddings,
    TransformerConfig,
)
from allyouneed.errors import ConfigError

ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "swish": "silu", "gelu": "gelu"}
# Which norms stand before a sub-layer, behind it, and on top of a stack. "n" is a layer norm, "a"
# the sum with the sub-layer's input; "d", dropout, is left out, as it matters in training alone.
WIRINGS: dict[tuple[str, ...], Residual] = {
    ("", "an", ""): "post-norm",
    ("n", "a", "n"): "pre-norm",
}
WIRING_KEYS = {  # with what Marian does without the key
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-top": "",
}
OURS = "allyouneed"  # the version in settings that `export` writes
CORRECTED = (1, 12, 31)  # the first version known to compute pre-norm and GELU as papers have them
DECODERS: dict[str, Decoder] = {"self-attention": "self-attention", "rnn": "ssru"}
EPSILON = 1e-9
POSITIONS = 1024  # Marian computes sinusoids for any length; ours are stored for this many tokens

# The supported values of each key; the first is Marian's default.
ONLY: dict[str, tuple[Any, ...]] = {
    "type": ("transformer",),
    "transformer-postprocess-emb": ("d", "", None),
    "transformer-ffn-depth": (2,),
    "transformer-decoder-ffn-depth": (0, 2),
    "transformer-no-projection": (False,),
    "transformer-rnn-projection": (False,),
    "transformer-pool": (False,),
    "transformer-tied-layers": ([],),
    "transformer-no-bias": (False,),
    "transformer-no-affine": (False,),
    "layer-normalization": (False,),
    "lemma-dim-emb": (0,),
    "lemma-dependency": ("", None),
    "factors-combine": ("sum",),
    "factors-dim-emb": (0,),
    "output-omit-bias": (False,),
    "ulr": (False,),
    "bert-train-type-embeddings": (True,),
}
# Keys that matter only in training, or for kinds of models that `ONLY` excludes.
WITHOUT_MEANING = (
    "transformer-aan-",
    "transformer-dim-aan",
    "transformer-depth-scaling",
    "transformer-dropout",
    "transformer-guided-alignment-layer",
)
READ = (
    *WIRING_KEYS,
    "transformer-decoder-autoreg",
    "transformer-decoder-dim-ffn",
    "transformer-dim-ffn",
    "transformer-ffn-activation",
    "transformer-heads",
    # Versions of Marian use one of these two keys and accept the other, so the weights decide.
    "transformer-train-position-embeddings",
    "transformer-train-positions",
)


def misfits(settings: Mapping[str, Any]) -> list[str]:
    """Descriptions of unsupported settings; empty if all are supported."""
    found = [
        f"{key}={settings[key]!r} (read: {allowed[0]!r})"
        for key, allowed in ONLY.items()
        if key in settings and settings[key] not in allowed
    ]
    found += _misfits_of_wiring(settings)
    autoreg, cell = _decoder(settings)
    if autoreg not in DECODERS:
        known = ", ".join(map(repr, DECODERS))
        found.append(f"transformer-decoder-autoreg={autoreg!r} (read: {known})")
    elif autoreg == "rnn" and cell != "ssru":
        found.append(f"dec-cell={cell!r} (read: 'ssru')")
    if (activation := settings.get("transformer-ffn-activation", "relu")) not in ACTIVATIONS:
        known = ", ".join(map(repr, ACTIVATIONS))
        found.append(f"transformer-ffn-activation={activation!r} (read: {known})")
    elif activation == "gelu" and not is_corrected(settings):
        found.append(
            "transformer-ffn-activation='gelu', for which Marian took a swish "
            + _before_correction(settings)
        )
    width = settings.get("transformer-dim-ffn")
    if settings.get("transformer-decoder-dim-ffn", 0) not in (0, width):
        found.append(
            f"transformer-decoder-dim-ffn={settings['transformer-decoder-dim-ffn']!r} "
            f"(read: the encoder's, {width!r})"
        )
    kinds = settings.get("input-types") or []
    if kinds not in ([], ["sequence"], ["sequence", "sequence"]):
        found.append(f"input-types={kinds!r}")
    found += [
        f"{key}={value!r}"
        for key, value in settings.items()
        if key.startswith("transformer-")
        and not (key in ONLY or key in READ or key.startswith(WITHOUT_MEANING))
        and value not in (False, 0, "", None, [])
    ]
    return found


def is_corrected(settings: Mapping[str, Any]) -> bool:
    """Whether Marian was, by the `version` in its settings, one that computes pre-norm and GELU as
    their papers define them."""
    version = str(settings.get("version", ""))
    number = re.match(r"v?(\d+)\.(\d+)\.(\d+)", version)
    return version == OURS or (number is not None and tuple(map(int, number.groups())) >= CORRECTED)


def is_searched_otherwise(settings: Mapping[str, Any]) -> bool:
    """Whether Marian's own search computes another function than its training: with pre-norm it
    looks back at keys and values of earlier target tokens that were not normalised."""
    return _wiring(settings)[0] == "n" and _decoder(settings)[0] == "self-attention"


def shape_of(
    settings: Mapping[str, Any],
    vocabularies: tuple[int, int],
    pad: int,
    end: int,
    positions: int | None,
) -> TransformerConfig:
    """The shape of a model with these settings, source and target vocabularies of these sizes.

    `positions` is the number of trained positions; None means sinusoids.

    Raises:
        ConfigError: a number is missing, or the settings do not fit each other.
    """
    source, target = vocabularies
    sharing = sharing_of(settings)
    width = _number(settings, "dim-emb")
    if width % 2 or width < 4:
        raise ConfigError(f"dim-emb={width} must be even and 4 at least: positions are sinusoids")
    return TransformerConfig(
        vocabulary=target,
        source_vocabulary=None if sharing == "all" else source,
        d_model=width,
        heads=_number(settings, "transformer-heads"),
        d_ff=_number(settings, "transformer-dim-ffn"),
        encoder_layers=_number(settings, "enc-depth"),
        decoder_layers=_number(settings, "dec-depth"),
        max_positions=positions or POSITIONS,
        residual=WIRINGS[_wiring(settings)],
        norm_epsilon=EPSILON,
        activation=ACTIVATIONS[settings.get("transformer-ffn-activation", "relu")],
        positions="stored",
        scale_embeddings=positions is None,
        decoder=DECODERS[_decoder(settings)[0]],
        shared_embeddings=sharing,
        output_bias=True,
        pad=pad,
        start=pad,
        end=end,
    )


def sharing_of(settings: Mapping[str, Any]) -> SharedEmbeddings:
    """The matrices that are shared. If only the two embeddings are shared, each gets a copy
    here."""
    if settings.get("tied-embeddings-all"):
        return "all"
    tied = bool(settings.get("tied-embeddings"))
    if tied and settings.get("tied-embeddings-src"):
        return "all"
    return "output" if tied else "none"


def _wiring(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The operations before and behind each sub-layer, and on top of a stack, without dropout."""
    return tuple(
        str(settings.get(key, default) or "").replace("d", "")
        for key, default in WIRING_KEYS.items()
    )


def _misfits_of_wiring(settings: Mapping[str, Any]) -> Iterator[str]:
    residual = WIRINGS.get(_wiring(settings))
    if residual is None:
        given = ", ".join(
            f"{key}={settings.get(key, default)!r}" for key, default in WIRING_KEYS.items()
        )
        yield f"{given} (read together: '', 'dan', '' or 'n', 'da', 'n')"
    elif residual == "pre-norm" and not is_corrected(settings):
        yield (
            "transformer-preprocess='n', with which Marian normalised queries but neither keys nor "
            "values " + _before_correction(settings)
        )


def _before_correction(settings: Mapping[str, Any]) -> str:
    version = ".".join(map(str, CORRECTED))
    return f"in versions before {version} (this model's version: {settings.get('version')!r})"


def _decoder(settings: Mapping[str, Any]) -> tuple[Any, Any]:
    autoreg = settings.get("transformer-decoder-autoreg", "self-attention")
    return autoreg, settings.get("dec-cell", "ssru")


def _number(settings: Mapping[str, Any], key: str) -> int:
    value = settings.get(key)
    if type(value) is not int or not 0 <= value < 1 << 31:
        raise ConfigError(f"{key}={value!r} is no whole number from 0 on")
    return value
