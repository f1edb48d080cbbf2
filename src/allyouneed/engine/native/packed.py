"""A model whose weights are packed by the compiled library."""

import ctypes
from collections.abc import Mapping
from ctypes import byref, create_string_buffer
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import Activation, TransformerConfig
from allyouneed.engine.native import bindings
from allyouneed.errors import AllYouNeedError

Arrays = Mapping[str, NDArray[np.float32]]


class PackedModel:
    """A model's weights in the library's memory layout: int8 or float32, fused, in panels.

    `arrays` are read one at a time, once each, and are not needed afterwards.

    Raises:
        AllYouNeedError: weights contain NaN or infinity (the message names the tensor), or memory
            is short.
    """

    def __init__(
        self, library: ctypes.CDLL, config: TransformerConfig, arrays: Arrays, int8: bool
    ) -> None:
        self.library = library
        self.config = config
        failures: list[Exception] = []
        newest: dict[bytes, NDArray[np.float32] | None] = {}  # the library asks for the size first

        def fetch(name: bytes, size: int, into: Any) -> int:
            try:
                if name not in newest:
                    newest.clear()
                    newest[name] = _tensor(name.decode(), config, arrays)
                array = newest[name]
                if array is None:
                    return 0
                if array.size != size:
                    return int(array.size)
                np.copyto(np.ctypeslib.as_array(into, array.shape), array)
            except Exception as error:  # raised again below: no exception may pass through C
                failures.append(error)
                return 0
            return -1

        error = create_string_buffer(bindings.ERROR_BYTES)
        callback = bindings.Fetch(fetch)
        self.pointer = library.aya_model_new(byref(_numbers(config)), int8, callback, error)
        if failures:
            raise failures[0]
        if not self.pointer:
            raise AllYouNeedError(f"the weights cannot be packed: {error.value.decode()}")

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self.library.aya_model_free(self.pointer)


def _numbers(config: TransformerConfig) -> bindings.Config:
    tied = config.tied_weights()
    target = "decoder.embeddings.tokens.weight"
    owners = {tied.get(name, name) for name in (target, "output.weight")}
    sides = {tied.get(name, name) for name in (target, "encoder.embeddings.tokens.weight")}
    return bindings.Config(
        vocabulary=config.vocabulary,
        source_vocabulary=config.source_vocabulary or config.vocabulary,
        d_model=config.d_model,
        heads=config.heads,
        head_width=config.width_of_head,
        d_ff=config.d_ff,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        max_positions=config.max_positions,
        pre_norm=config.residual == "pre-norm",
        rms=config.norm == "rms",
        activation=get_args(Activation).index(config.activation),
        rotary=config.positions == "rotary",
        normalise_embeddings=config.normalise_embeddings,
        bias=config.bias,
        tied_source=len(sides) == 1,
        tied_output=len(owners) == 1,
        pad=config.pad,
        start=config.start,
        end=config.end,
        norm_epsilon=config.norm_epsilon,
        embedding_scale=config.d_model**0.5 if config.scale_embeddings else 1.0,
    )


def _tensor(name: str, config: TransformerConfig, arrays: Arrays) -> NDArray[np.float32] | None:
    """The array that the library calls by this name; None if the model has none. The library has
    one name for positions that are added to embeddings, sinusoidal or learned."""
    if name.endswith(".positions.table"):
        if config.positions == "sinusoidal":
            return sinusoids(config.max_positions, config.d_model)
        if config.positions == "learned":
            name = name.removesuffix("table") + "weight"
    return arrays.get(name)


def sinusoids(positions: int, d_model: int) -> NDArray[np.float32]:
    """`core.positions.sinusoidal_encoding` without torch: the table of section 3.5."""
    two_i = np.arange(0, d_model, 2) / d_model
    angles = np.arange(positions)[:, None] / 10000.0**two_i
    return (
        np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, d_model).astype("f4")
    )
