"""Reads settings and arrays of a Marian model's file in either of the two formats."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allyouneed.errors import ModelFolderError
from allyouneed.interop.marian.binary import array_of, read_binary, step_of
from allyouneed.interop.marian.names import SETTINGS, WITHOUT_USE
from allyouneed.interop.marian.npz import MAGIC, read_npz
from allyouneed.interop.marian.packed_file import mapped_file
from allyouneed.interop.marian.yaml_lines import read_yaml

LONGEST_SETTINGS = 1 << 20


@dataclass(frozen=True, slots=True)
class MarianModel:
    """The settings of special:model.yml, and the weights in float32 by Marian's names.

    `steps` has the matrices that the file stores in 8 bits: their numbers are multiples of these.
    """

    settings: Mapping[str, Any]
    arrays: Mapping[str, NDArray[np.float32]]
    steps: Mapping[str, float]


def read_model(path: Path) -> MarianModel:
    """The model in a `.npz` or `.bin` file, gzipped or not. Nothing is unpickled.

    Raises:
        ModelFolderError: the file cannot be read, is damaged, or has an unsupported type.
    """
    file = mapped_file(path)
    try:
        return _from_npz(file) if file[:4] == MAGIC else _from_binary(file)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ModelFolderError(f"{path}: {error}; it cannot be imported") from error


def _from_binary(file: memoryview) -> MarianModel:
    settings: Mapping[str, Any] | None = None
    arrays, steps = {}, {}
    for item in read_binary(file):
        if item.name == SETTINGS:
            settings = _settings(bytes(item.data[:LONGEST_SETTINGS]))
        elif not item.name.endswith(WITHOUT_USE):
            arrays[item.name] = array_of(item)
            if step := step_of(item):
                steps[item.name] = step
    return _model(settings, arrays, steps)


def _from_npz(file: memoryview) -> MarianModel:
    settings: Mapping[str, Any] | None = None
    arrays = {}
    for name, array in read_npz(io.BytesIO(file), len(file)):
        if name == SETTINGS:
            settings = _settings(array.tobytes()[:LONGEST_SETTINGS])
        elif not name.endswith(WITHOUT_USE):
            arrays[name] = array.astype(np.float32)
    return _model(settings, arrays, {})


def _model(
    settings: Mapping[str, Any] | None,
    arrays: Mapping[str, NDArray[np.float32]],
    steps: Mapping[str, float],
) -> MarianModel:
    if settings is None:
        raise ValueError(f"it has no {SETTINGS}, which describes the model")
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds NaN or infinity")
    return MarianModel(settings, arrays, steps)


def _settings(content: bytes) -> Mapping[str, Any]:
    return read_yaml(content.partition(b"\0")[0].decode())
