"""Weights as NumPy arrays, for engines without torch."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import safe_open

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.weights.file import reading
from allyouneed.model_folder.weights.shapes import (
    SCALE,
    Shape,
    check_scales,
    check_shapes,
    weight_shapes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "<i1"}


class StoredArrays(Mapping[str, "NDArray[np.float32]"]):
    """All weights of a model by name, as read-only float32 arrays.

    Each look-up reads the array from the file, `part` some rows of it; arrays are not kept. An
    engine that packs the arrays part by part therefore never holds the model twice. A shared weight
    can be looked up under each of its names (`TransformerConfig.tied_weights`).

    Raises:
        ModelFolderError: the file is missing, damaged or pickled, or its tensors do not fit the
            configuration. A look-up raises it if the file has become shorter.
    """

    def __init__(self, path: Path, config: TransformerConfig) -> None:
        with reading(path):
            with safe_open(path, "numpy"):  # checks the header against the size of the file
                pass
            self._file = path.open("rb")
            size = int.from_bytes(self._file.read(8), "little")
            header = json.loads(self._file.read(size))
        self.path = path
        self._begin = 8 + size
        header.pop("__metadata__", None)
        shapes = {name: tuple(entry["shape"]) for name, entry in header.items()}
        int8 = [name for name, entry in header.items() if entry["dtype"] == "I8"]
        check_scales(int8, shapes, path)
        self._scales = {name: name + SCALE for name in int8}
        scales = set(self._scales.values())
        own = {name: shape for name, shape in shapes.items() if name not in scales}
        check_shapes(weight_shapes(config), own, path)
        for name, entry in header.items():
            if entry["dtype"] not in DTYPES:
                raise ModelFolderError(
                    f"{path}: {name} is stored as {entry['dtype']}; only {', '.join(DTYPES)} "
                    "can be read. Save the model again in one of these types"
                )
        self._header = header
        self._names = {name: name for name in own} | config.tied_weights()

    def __getitem__(self, name: str) -> "NDArray[np.float32]":
        shape = self.shape(name)
        found = self.part(name, 0, math.prod(shape)).reshape(shape)
        found.flags.writeable = False
        return found

    def shape(self, name: str) -> Shape:
        """The shape of an array, which is not read."""
        return tuple(self._header[self._names[name]]["shape"])

    def part(self, name: str, first: int, count: int) -> "NDArray[np.float32]":
        """`count` numbers of an array from number `first` on, which are whole rows of it.

        Raises:
            ModelFolderError: the file has become shorter.
        """
        owner = self._names[name]
        found = self._read(owner, first, count)
        if owner in self._scales:
            width = math.prod(self.shape(name)[1:])
            scale_O = self._read(self._scales[owner], first // width, count // width)
            with np.errstate(invalid="ignore", over="ignore"):  # engines check for NaN and infinity
                found = (found.reshape(-1, width) * scale_O[:, None]).reshape(-1)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._names  # without reading the array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def _read(self, name: str, first: int, count: int) -> "NDArray[np.float32]":
        entry: dict[str, Any] = self._header[name]
        stored = np.empty(count, DTYPES[entry["dtype"]])
        begin, _ = entry["data_offsets"]
        self._file.seek(self._begin + begin + first * stored.itemsize)
        if self._file.readinto(stored.view(np.uint8).data) != stored.nbytes:
            raise ModelFolderError(
                f"{self.path} has become shorter since it was opened; open the model again"
            )
        if entry["dtype"] == "BF16":  # the upper half of a float32
            return (stored.astype(np.uint32) << 16).view(np.float32)
        return stored.astype(np.float32, copy=False)
