"""Weights as NumPy arrays, for engines that need no torch."""

import json
import mmap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors import safe_open

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.weights.file import reading
from allyouneed.model_folder.weights.shapes import SCALE, check_scales, check_shapes, weight_shapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "<i1"}


def read_arrays(path: Path, config: TransformerConfig) -> "dict[str, NDArray[np.float32]]":
    """All weights of the model by name, in float32 and read-only.

    What is stored in float32 stays in the file, mapped into memory; other dtypes are converted.
    A name that is tied to another (`TransformerConfig.tied_weights`) has the very same array.

    Raises:
        ModelFolderError: a file that is missing, damaged or pickled, or tensors that do not fit
            the configuration.
    """
    with reading(path):
        with safe_open(path, "numpy"):  # checks the header against the size of the file
            pass
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header.pop("__metadata__", None)
    shapes = {name: tuple(entry["shape"]) for name, entry in header.items()}
    int8 = [name for name, entry in header.items() if entry["dtype"] == "I8"]
    check_scales(int8, shapes, path)
    scales = {name + SCALE for name in int8}
    own = {name: shape for name, shape in shapes.items() if name not in scales}
    check_shapes(weight_shapes(config), own, path)
    arrays: dict[str, NDArray[np.float32]] = {}
    for name, entry in header.items():
        if entry["dtype"] not in DTYPES:
            raise ModelFolderError(
                f"{path}: {name} is stored as {entry['dtype']}, and only {', '.join(DTYPES)} are "
                "read; save the model again in one of these"
            )
        begin, end = entry["data_offsets"]
        stored = np.frombuffer(memoryview(mapped)[8 + size + begin : 8 + size + end], np.uint8)
        arrays[name] = _float32(stored, entry["dtype"]).reshape(shapes[name])
    for name in int8:
        arrays[name] = _times(arrays[name], arrays.pop(name + SCALE))
    return arrays | {name: arrays[owner] for name, owner in config.tied_weights().items()}


def _float32(stored: "NDArray[np.uint8]", dtype: str) -> "NDArray[np.float32]":
    values = np.require(stored.view(DTYPES[dtype]), requirements="A")
    if dtype == "BF16":  # the upper half of a float32
        values = (values.astype(np.uint32) << 16).view(np.float32)
    found = values.astype(np.float32, copy=False)
    found.flags.writeable = False
    return found


def _times(values: "NDArray[np.float32]", scale_O: "NDArray[np.float32]") -> "NDArray[np.float32]":
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is found by others
        found = values * scale_O.reshape(-1, *[1] * (values.ndim - 1))
    found.flags.writeable = False
    return found
