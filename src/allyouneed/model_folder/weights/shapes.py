"""Names and shapes of a model's weights, computed from its configuration without building it.

V vocabulary · D d_model · F d_ff · W heads times head width · P positions
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from allyouneed.core.config import TransformerConfig
from allyouneed.device import machine_memory
from allyouneed.errors import ModelFolderError

Shape = tuple[int, ...]
FLOAT = 4  # bytes
MOST_WEIGHTS_A_BYTE = 4  # int8 has 1 weight per byte; the margin allows for weights not stored
MOST_POSITIONS = 1 << 20  # also in the native engine
CHEAP = 1 << 24  # weights; a smaller model is built anyway, since the file's reader explains better
SCALE = ".scale"  # an int8 matrix NAME is stored with its rows' scales NAME.scale


def weight_shapes(config: TransformerConfig) -> dict[str, Shape]:
    """Name and shape of each weight in a file. A shared weight occurs once, under the name that
    `TransformerConfig.tied_weights` gives."""
    found = dict(_sides(config))
    return {name: shape for name, shape in found.items() if name not in config.tied_weights()}


def count_weights(config: TransformerConfig) -> int:
    """The number of parameters, computed from one encoder layer and one decoder layer, since all
    layers of a side have equal shapes."""

    def counted(encoder_layers: int, decoder_layers: int) -> int:
        few = replace(config, encoder_layers=encoder_layers, decoder_layers=decoder_layers)
        return sum(map(math.prod, weight_shapes(few).values()))

    base, encoder, decoder = counted(0, 0), counted(1, 0), counted(0, 1)
    return (
        base + config.encoder_layers * (encoder - base) + config.decoder_layers * (decoder - base)
    )


def count_positions(config: TransformerConfig) -> int:
    """The size of the table of positions, in numbers, if the model computes one; otherwise 0."""
    widths = {"sinusoidal": config.d_model, "rotary": config.width_of_head}
    return config.max_positions * widths.get(config.positions, 0)


def check_size(config: TransformerConfig, source: Path) -> None:
    """Compares a configuration with the size of the weights file `source`, before building a model.

    Raises:
        ModelFolderError: the model has more weights than the file can hold, a table of positions
            larger than this machine's memory, or more positions than 2^20.
    """
    said = f"{source.parent} does not fit its config"
    numbers, size = count_weights(config), source.stat().st_size if source.is_file() else None
    if size is not None and numbers > max(CHEAP, MOST_WEIGHTS_A_BYTE * size):
        raise ModelFolderError(
            f"{said}: encoder_layers={config.encoder_layers}, decoder_layers="
            f"{config.decoder_layers}, d_model={config.d_model}, d_ff={config.d_ff} and vocabulary="
            f"{config.vocabulary} make {numbers:,} weights, and {source.name} has {size:,} bytes; "
            "config and weights must come from one model"
        )
    memory = machine_memory()
    if memory is not None and FLOAT * count_positions(config) > memory:
        raise ModelFolderError(
            f"{said}: max_positions={config.max_positions} needs a table of "
            f"{FLOAT * count_positions(config):,} bytes, and this machine has {memory:,}; "
            "lower max_positions"
        )
    if config.max_positions > MOST_POSITIONS:
        raise ModelFolderError(
            f"{source.parent}: max_positions={config.max_positions} must be at most "
            f"{MOST_POSITIONS:,}; lower it in the config"
        )


def check_shapes(own: Mapping[str, Shape], given: Mapping[str, Shape], source: Path) -> None:
    """Raises ModelFolderError if the names and shapes `given` in the file `source` differ from
    `own`, those of the model."""
    for complaint, names in (
        ("lacks", own.keys() - given.keys()),
        ("has the unknown", given.keys() - own.keys()),
    ):
        if names:
            raise ModelFolderError(
                f"{source} does not fit its config: it {complaint} {min(names)} "
                f"({len(names)} such); config and weights must come from one model"
            )
    for name, shape in own.items():
        if given[name] != shape:
            raise ModelFolderError(
                f"{source} does not fit its config: {name} has the shape "
                f"{given[name]}, the config needs {shape}; "
                "config and weights must come from one model"
            )


def check_scales(int8: Iterable[str], given: Mapping[str, Shape], source: Path) -> None:
    """Raises ModelFolderError if a weight in `int8` of the file `source` lacks a scale per row."""
    for name in int8:
        if given.get(name + SCALE) != given[name][:1]:
            raise ModelFolderError(
                f"{source}: {name} is stored as int8 and needs {name}{SCALE}, one scale for each "
                "row; save the model again with allyouneed"
            )


Found = Iterator[tuple[str, Shape]]


def _sides(config: TransformerConfig) -> Found:
    source_vocabulary = config.source_vocabulary or config.vocabulary
    yield from _embeddings("encoder.embeddings", config, source_vocabulary)
    for number in range(config.encoder_layers):
        path = f"encoder.layers.{number}"
        yield from _attention(f"{path}.self_attention", config)
        yield from _feed_forward(path, config)
    yield from _embeddings("decoder.embeddings", config, config.vocabulary)
    for number in range(config.decoder_layers):
        path = f"decoder.layers.{number}"
        if config.decoder == "ssru":
            yield from _recurrence(f"{path}.recurrence", config)
        else:
            yield from _attention(f"{path}.self_attention", config)
        yield from _attention(f"{path}.cross_attention", config)
        yield from _feed_forward(path, config)
    if config.residual == "pre-norm":
        yield from _norm("encoder.norm", config)
        yield from _norm("decoder.norm", config)
    shape = (config.vocabulary, config.d_model)
    yield from _linear("output", shape, config.output_bias)


def _embeddings(path: str, config: TransformerConfig, vocabulary: int) -> Found:
    yield f"{path}.tokens.weight", (vocabulary, config.d_model)
    stored = {"stored": "table", "learned": "weight"}
    if config.positions in stored:
        shape = (config.max_positions, config.d_model)
        yield f"{path}.positions.{stored[config.positions]}", shape
    if config.normalise_embeddings:
        yield from _norm(f"{path}.norm", config)


def _attention(path: str, config: TransformerConfig) -> Found:
    width, bias = config.heads * config.width_of_head, config.bias
    for projection in ("W_Q", "W_K", "W_V"):
        yield from _linear(f"{path}.{projection}", (width, config.d_model), bias)
    yield from _linear(f"{path}.W_O", (config.d_model, width), bias)
    yield from _norm(f"{path}_residual.norm", config)


def _recurrence(path: str, config: TransformerConfig) -> Found:
    shape = (config.d_model, config.d_model)
    yield from _linear(f"{path}.W", shape, bias=False)
    yield from _linear(f"{path}.W_f", shape, config.bias)
    yield from _norm(f"{path}_residual.norm", config)


def _feed_forward(path: str, config: TransformerConfig) -> Found:
    bias = config.bias
    gated = ("V_1",) if config.activation == "swiglu" else ()
    for projection in ("W_1", *gated):
        shape = (config.d_ff, config.d_model)
        yield from _linear(f"{path}.feed_forward.{projection}", shape, bias)
    yield from _linear(f"{path}.feed_forward.W_2", (config.d_model, config.d_ff), bias)
    yield from _norm(f"{path}.feed_forward_residual.norm", config)


def _norm(path: str, config: TransformerConfig) -> Found:
    yield from _linear(path, (config.d_model,), config.norm == "layer")


def _linear(path: str, shape: Shape, bias: bool) -> Found:
    yield f"{path}.weight", shape
    if bias:
        yield f"{path}.bias", shape[:1]
