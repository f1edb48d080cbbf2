"""Converts the variables of a CTranslate2 Transformer to our configuration and weights.

D d_model · H heads · K head width · V vocabulary · L max_positions
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import ConfigError

Array = NDArray[Any]
Floats = NDArray[np.float32]
ACTIVATIONS = {0: "relu", 2: "silu", 3: "gelu"}
THEIR_ACTIVATIONS = ("ReLU", "GELUTanh", "Swish", "GELU", "GELUSigmoid", "Tanh", "Sigmoid")
NEEDLESS = re.compile(  # variables that do not affect translations
    r"(decoder/(alignment_heads|alignment_layer|scale_alibi|alibi_use_positive_positions)"
    r"|.*/(rotary_interleave|rotary_base|rotary_dim|head_dim|num_heads|num_heads_kv))$"
)
FIXED = {  # variables that must have this value
    "encoder/multi_query_attention": 0,
    "encoder/embeddings_merge": 0,
    "decoder/alibi": 0,
    "decoder/scale_outputs": 1,
}
SINUSOIDS = 1024  # rows of the table that CTranslate2 makes itself


class Variables:
    """The variables of model.bin, with a record of those that have been used."""

    def __init__(self, variables: Mapping[str, Array]) -> None:
        self.all, self.used = variables, set[str]()

    def scalar(self, name: str, otherwise: float = 0) -> float:
        """A number, or `otherwise` if it is missing."""
        self.used.add(name)
        found = self.all.get(name)
        if found is None:
            return otherwise
        if found.size != 1:
            raise ConfigError(f"{name} has the shape {found.shape} and should be a number")
        return float(found.reshape(())[()])

    def floats(self, name: str) -> Floats:
        """A vector or matrix in float32, with its scale applied.

        Raises:
            ConfigError: it is missing, or scaled in an unsupported way or out of bounds.
        """
        self.used |= {name, f"{name}_scale"}
        found = self.all.get(name)
        if found is None:
            raise ConfigError(f"{name!r} is missing")
        if found.dtype.kind == "f":
            return found.astype(np.float32, copy=False)
        scale = self.all.get(f"{name}_scale")
        if scale is None or scale.size not in (1, found.shape[0]):
            raise ConfigError(f"{name!r} has integers without a scale for each row")
        whole = found.astype(np.float32)
        with np.errstate(all="ignore"):
            whole /= scale.astype(np.float32).reshape(-1, *[1] * (found.ndim - 1))
        if not np.isfinite(whole).all():
            raise ConfigError(f"{name}_scale makes weights of {name} NaN or infinite")
        return whole

    def has(self, name: str) -> bool:
        """Whether there is such a variable."""
        return name in self.all

    def same(self, one: str, other: str) -> bool:
        """Whether two variables are the same or equal."""
        a, b = self.all.get(one), self.all.get(other)
        scales = [self.all.get(f"{name}_scale") for name in (one, other)]
        if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
            return False
        if (scales[0] is None) != (scales[1] is None):
            return False
        equal = a is b or np.array_equal(a, b)
        return equal and (scales[0] is None or np.array_equal(scales[0], scales[1]))  # type: ignore[arg-type]

    def layers(self, side: str) -> int:
        """The number of layers of a side."""
        numbers = {
            int(found[1])
            for name in self.all
            if (found := re.match(rf"{side}/layer_([0-9]{{1,4}})/", name))
        }
        if numbers != set(range(len(numbers))):
            raise ConfigError(f"the layers of the {side} are {sorted(numbers)}")
        return len(numbers)


def config_of(
    variables: Variables, ids: Mapping[str, int], sizes: tuple[int, int], epsilon: float | None
) -> TransformerConfig:
    """The shape of the model. `ids` are those of "pad", "start" and "end"; `sizes` are the numbers
    of source and target pieces.

    Raises:
        ConfigError: the model has unsupported features; the message lists all of them.
    """
    misfits = list(_misfits(variables))
    if misfits:
        raise ConfigError("; ".join(misfits))
    scalar = variables.scalar
    embeddings = variables.all["decoder/embeddings/weight"]
    inner = variables.all["encoder/layer_0/ffn/linear_0/weight"]
    if embeddings.ndim != 2 or inner.ndim != 2:
        raise ConfigError("its matrices have no rows and columns")
    d_model = embeddings.shape[1]
    heads = int(scalar("encoder/num_heads", scalar("num_heads", 8)))
    width = variables.all["encoder/layer_0/self_attention/linear_1/weight"].shape[-1]
    if heads < 1 or width % heads:
        raise ConfigError(f"num_heads={heads} does not divide the width {width}")
    rotary = variables.has("encoder/layer_0/self_attention/rotary_dim")
    rms = not variables.has("encoder/layer_0/self_attention/layer_norm/beta")
    gated = variables.has("encoder/layer_0/ffn/linear_0_noact/weight")
    activation = ACTIVATIONS[int(scalar("encoder/activation"))]
    tied = variables.same("decoder/projection/weight", "decoder/embeddings/weight")
    both = variables.same("encoder/embeddings_0/weight", "decoder/embeddings/weight")
    return TransformerConfig(
        vocabulary=sizes[1],
        source_vocabulary=None if sizes[0] == sizes[1] else sizes[0],
        d_model=d_model,
        heads=heads,
        head_width=None if width == d_model else width // heads,
        d_ff=inner.shape[0],
        encoder_layers=variables.layers("encoder"),
        decoder_layers=variables.layers("decoder"),
        max_positions=_table(variables, "encoder", d_model).shape[0] if not rotary else SINUSOIDS,
        residual="pre-norm" if scalar("encoder/pre_norm", 1) else "post-norm",
        norm="rms" if rms else "layer",
        norm_epsilon=epsilon or (1e-6 if rms else 1e-5),
        activation="swiglu" if gated else activation,  # type: ignore[arg-type]
        positions="rotary" if rotary else "stored",
        scale_embeddings=bool(scalar("encoder/scale_embeddings", 1)),
        normalise_embeddings=variables.has("encoder/layernorm_embedding/gamma"),
        shared_embeddings="all" if tied and both else "output" if tied else "none",
        bias=any(name.endswith("linear_0/bias") for name in variables.all),
        output_bias=variables.has("decoder/projection/bias") or sizes[1] > embeddings.shape[0],
        pad=ids["pad"],
        start=ids["start"],
        end=ids["end"],
    )


def _misfits(variables: Variables) -> Iterator[str]:
    scalar = variables.scalar
    needed = (
        "decoder/embeddings/weight",
        "encoder/embeddings_0/weight",
        "encoder/layer_0/ffn/linear_0/weight",
        "encoder/layer_0/self_attention/linear_1/weight",
        "decoder/projection/weight",
    )
    yield from (f"{name!r} is missing" for name in needed if not variables.has(name))
    for name, only in FIXED.items():
        if scalar(name, only) != only:
            yield f"{name}={scalar(name):g}, and only {only} is read"
    for name in ("pre_norm", "activation", "num_heads"):
        one, other = (scalar(f"{side}/{name}", -1) for side in ("encoder", "decoder"))
        if one != other:
            yield f"{name} is {one:g} in the encoder and {other:g} in the decoder"
    for side in ("encoder", "decoder"):
        scale = scalar(f"{side}/scale_embeddings", 1)
        width = variables.all.get("decoder/embeddings/weight", np.zeros((1, 1))).shape[-1]
        if scale not in (0, 1) and not math.isclose(scale, width**0.5, rel_tol=1e-5):
            yield f"{side}/scale_embeddings={scale:g}"
        if scalar("encoder/scale_embeddings", 1) != scale:
            yield "scale_embeddings differ between encoder and decoder"
    kind = int(scalar("encoder/activation"))
    if kind not in ACTIVATIONS:
        known = THEIR_ACTIVATIONS
        yield f"activation {known[kind] if kind < len(known) else kind}, and ReLU, Swish and GELU"
    for name, value in variables.all.items():
        if name.endswith("queries_scale"):
            variables.used.add(name)
            heads = max(int(scalar("encoder/num_heads", 8)), 1)
            linear = variables.all.get(name.replace("queries_scale", "linear_0/weight"))
            width = (linear.shape[-1] if linear is not None else 1) // heads
            if not math.isclose(float(value.reshape(-1)[0]), width**-0.5, rel_tol=1e-4):
                yield f"{name}={float(value.reshape(-1)[0]):g}"
        elif name.endswith("rotary_interleave") and not value.any():
            yield f"{name}=false"
        elif name.endswith("rotary_base") and float(value.reshape(-1)[0]) != 10000:
            yield f"{name}={float(value.reshape(-1)[0]):g}"


def weights_of(variables: Variables, config: TransformerConfig) -> dict[str, Floats]:
    """All weights by our names. If the vocabularies have more rows than the matrices, these rows
    are zeros, and no translation contains their pieces.

    Raises:
        ConfigError: weights are missing, have other shapes, or have no place; the message lists
            them.
    """
    found: dict[str, Floats] = {}
    for side, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for layer in range(layers):
            theirs, ours = f"{side}/layer_{layer}", f"{side}.layers.{layer}"
            _attention(variables, found, f"{theirs}/self_attention", f"{ours}.self_attention", 1)
            if side == "decoder":
                _attention(variables, found, f"{theirs}/attention", f"{ours}.cross_attention", 2)
            _feed_forward(variables, found, f"{theirs}/ffn", f"{ours}.feed_forward", config)
        if config.residual == "pre-norm":
            _norm(variables, found, f"{side}/layer_norm", f"{side}.norm")
        if config.normalise_embeddings:
            _norm(variables, found, f"{side}/layernorm_embedding", f"{side}.embeddings.norm")
        if config.positions == "stored":
            table = _table(variables, side, config.d_model)
            found[f"{side}.embeddings.positions.table"] = table[: config.max_positions]
    embeddings = (
        ("encoder/embeddings_0/weight", "encoder.embeddings.tokens.weight"),
        ("decoder/embeddings/weight", "decoder.embeddings.tokens.weight"),
        ("decoder/projection/weight", "output.weight"),
    )
    tied = config.tied_weights()
    for theirs, ours in embeddings:
        size = config.vocabulary
        if ours.startswith("encoder"):
            size = config.source_vocabulary or config.vocabulary
        whole = variables.floats(theirs)
        if ours not in tied:
            found[ours] = np.pad(whole, ((0, max(size - len(whole), 0)), (0, 0)))
    if config.output_bias:
        rows = variables.all["decoder/projection/weight"].shape[0]
        bias = np.full(config.vocabulary, -1e9, np.float32)
        bias[:rows] = 0.0
        if variables.has("decoder/projection/bias"):
            bias[:rows] = variables.floats("decoder/projection/bias")
        found["output.bias"] = bias
    if config.bias:  # a projection without a bias gets zeros
        for name in list(found):
            if re.search(r"\.(W_.|V_1)\.weight$", name):
                zeros = np.zeros(found[name].shape[0], np.float32)
                found.setdefault(f"{name.removesuffix('weight')}bias", zeros)
    variables.scalar("decoder/start_from_zero_embedding")
    left = [name for name in variables.all if name not in variables.used]
    left = [name for name in left if not NEEDLESS.match(name) and not name.endswith("_zero")]
    if left:
        raise ConfigError(f"these variables are not supported: {', '.join(sorted(left)[:8])}")
    return found


def _attention(
    variables: Variables, found: dict[str, Floats], theirs: str, ours: str, last: int
) -> None:
    """Converts an attention. CTranslate2's self-attention has one matrix for queries, keys and
    values; its cross-attention has two."""
    groups = (("W_Q", "W_K", "W_V"),) if last == 1 else (("W_Q",), ("W_K", "W_V"))
    for number, names in enumerate((*groups, ("W_O",))):
        _linear(variables, found, f"{theirs}/linear_{number}", [f"{ours}.{n}" for n in names])
    _norm(variables, found, f"{theirs}/layer_norm", f"{ours}_residual.norm")


def _feed_forward(
    variables: Variables,
    found: dict[str, Floats],
    theirs: str,
    ours: str,
    config: TransformerConfig,
) -> None:
    _linear(variables, found, f"{theirs}/linear_0", [f"{ours}.W_1"])
    _linear(variables, found, f"{theirs}/linear_1", [f"{ours}.W_2"])
    if config.activation == "swiglu":
        _linear(variables, found, f"{theirs}/linear_0_noact", [f"{ours}.V_1"])
    _norm(variables, found, f"{theirs}/layer_norm", f"{ours}_residual.norm")


def _linear(variables: Variables, found: dict[str, Floats], theirs: str, names: list[str]) -> None:
    for kind in ("weight", "bias"):
        if kind == "bias" and not variables.has(f"{theirs}/bias"):
            continue
        whole = variables.floats(f"{theirs}/{kind}")
        if whole.shape[0] % len(names):
            raise ConfigError(f"{theirs}/{kind} has {whole.shape[0]} rows for {len(names)} parts")
        for name, part in zip(names, np.split(whole, len(names)), strict=True):
            found[f"{name}.{kind}"] = part


def _norm(variables: Variables, found: dict[str, Floats], theirs: str, ours: str) -> None:
    found[f"{ours}.weight"] = variables.floats(f"{theirs}/gamma")
    if variables.has(f"{theirs}/beta"):
        found[f"{ours}.bias"] = variables.floats(f"{theirs}/beta")


def _table(variables: Variables, side: str, d_model: int) -> Floats:
    """The vectors LD that are added at each position: stored ones, or CTranslate2's own sinusoids,
    with all sines before all cosines and positions from 1."""
    name = f"{side}/position_encodings/encodings"
    if variables.has(name):
        table = variables.floats(name)
        if table.ndim != 2 or table.shape[1] != d_model:
            raise ConfigError(f"{name} has the shape {table.shape}")
        return table
    half = d_model // 2
    rates = np.exp(np.arange(half, dtype=np.float32) * -(math.log(10000) / max(half - 1, 1)))
    angles = np.arange(1, SINUSOIDS + 1, dtype=np.float32)[:, None] * rates.astype(np.float32)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
