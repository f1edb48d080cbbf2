"""A model whose weights are packed by the compiled library."""

import ctypes
import math
from collections.abc import Callable, Mapping
from ctypes import byref, create_string_buffer
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import Activation, TransformerConfig
from allyouneed.engine.native import bindings
from allyouneed.errors import AllYouNeedError
from allyouneed.model_folder.weights.arrays import StoredArrays

Arrays = Mapping[str, NDArray[np.float32]]
Bytes = ctypes.Array[ctypes.c_ubyte]
Move = Callable[[Bytes], None]
"""Fills the bytes of packed weights, or writes them somewhere."""


class PackedModel:
    """A model's weights in the library's memory layout: int8 or float32, fused, in panels.

    `arrays` are read in parts and are not needed afterwards. With `read`, which fills `size` bytes
    that an earlier `store` wrote for the same library and model, only norms and positions are read
    from `arrays`.

    Raises:
        AllYouNeedError: weights contain NaN or infinity (the message names the tensor), or memory
            is short. Or the stored bytes are those of another model.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        config: TransformerConfig,
        arrays: Arrays,
        int8: bool,
        read: Move | None = None,
        size: int = 0,
    ) -> None:
        self.library = library
        self.config = config
        failures: list[Exception] = []
        tensors = _Tensors(config, arrays)

        def fetch(name: bytes, first: int, count: int, into: Any) -> int:
            try:
                if into:
                    part = tensors.part(name.decode(), first, count)
                    np.copyto(np.ctypeslib.as_array(into, (count,)), part)
                return tensors.size(name.decode())
            except Exception as error:  # raised again below: no exception may pass through C
                failures.append(error)
                return 0

        error = create_string_buffer(bindings.ERROR_BYTES)
        what = (byref(_numbers(config)), int8, bindings.Fetch(fetch))
        if read is None:
            self.pointer = library.aya_model_new(*what, error)
        else:
            move = _move(read, failures)
            self.pointer = library.aya_model_restored(*what, move, size, error)
        if failures:
            raise failures[0]
        if not self.pointer:
            raise AllYouNeedError(f"the weights cannot be packed: {error.value.decode()}")

    def store(self, write: Move) -> None:
        """Calls write(bytes) for all packed weights, one part after the other.

        Raises what `write` raises.
        """
        failures: list[Exception] = []
        error = create_string_buffer(bindings.ERROR_BYTES)
        self.library.aya_model_store(self.pointer, _move(write, failures), error)
        if failures:
            raise failures[0]

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


def _move(call: Move, failures: list[Exception]) -> Any:
    """A C function that runs `call`. An exception of `call` is appended to `failures`, because none
    may pass through C++."""

    def move(address: int, size: int) -> int:
        try:
            call((ctypes.c_ubyte * size).from_address(address))
        except Exception as error:  # raised again by the caller: no exception may pass through C
            failures.append(error)
            return 0
        return 1

    return bindings.Move(move)


@dataclass(frozen=True)
class _Tensors:
    """A model's tensors under the library's names. The library has one name for positions that are
    added to embeddings, sinusoidal or learned."""

    config: TransformerConfig
    arrays: Arrays

    def size(self, name: str) -> int:
        """The number of the tensor's numbers; 0 if there is no such tensor."""
        name = self._own(name)
        if self._is_computed(name):
            return self._sinusoids.size
        if name not in self.arrays:
            return 0
        if isinstance(self.arrays, StoredArrays):
            return math.prod(self.arrays.shape(name))
        return self.arrays[name].size

    def part(self, name: str, first: int, count: int) -> NDArray[np.float32]:
        """Numbers `first` to `first` + `count` of the tensor, which are whole rows of it."""
        name = self._own(name)
        if isinstance(self.arrays, StoredArrays) and not self._is_computed(name):
            return self.arrays.part(name, first, count)
        array = self._sinusoids if self._is_computed(name) else self.arrays[name]
        return array.reshape(-1)[first : first + count]

    def _is_computed(self, name: str) -> bool:
        return name.endswith(".positions.table") and self.config.positions == "sinusoidal"

    def _own(self, name: str) -> str:
        if name.endswith(".positions.table") and self.config.positions == "learned":
            return name.removesuffix("table") + "weight"
        return name

    @cached_property
    def _sinusoids(self) -> NDArray[np.float32]:
        return sinusoids(self.config.max_positions, self.config.d_model)


def sinusoids(positions: int, d_model: int) -> NDArray[np.float32]:
    """`core.positions.sinusoidal_encoding` without torch: the table of section 3.5."""
    two_i = np.arange(0, d_model, 2) / d_model
    angles = np.arange(positions)[:, None] / 10000.0**two_i
    return (
        np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, d_model).astype("f4")
    )
