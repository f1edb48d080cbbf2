"""Reads the files of a folder written by Hugging Face's `save_pretrained`, without its library."""

import json
import pickle
import struct
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.config import unreadable
from allyouneed.model_folder.folder import WEIGHTS
from allyouneed.model_folder.weights.model import read_weights

PICKLE = "pytorch_model.bin"
BROKEN = (  # what `torch.load` raises for damaged files
    *(AssertionError, AttributeError, EOFError, LookupError, OSError, RuntimeError, struct.error),
    *(TypeError, ValueError),
)
HALVES = {torch.float16}


def read_table(file: Path) -> dict[str, Any]:
    """A JSON object.

    Raises:
        ModelFolderError: it cannot be read, or is something else.
    """
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFolderError(f"{file} is no JSON: {error}; copy it again") from error
    if not isinstance(found, dict):
        raise ModelFolderError(f"{file} holds no table; copy it again")
    return found


def read_file(file: Path) -> bytes:
    """The content of a file.

    Raises:
        ModelFolderError: it cannot be read.
    """
    try:
        return file.read_bytes()
    except OSError as error:
        raise unreadable(file, error) from error


def read_ids(file: Path) -> dict[str, int]:
    """A JSON object of pieces and their ids.

    Raises:
        ModelFolderError: it cannot be read, or is something else.
    """
    table = read_table(file)
    for piece, id in table.items():
        if type(id) is not int:
            raise ModelFolderError(f"{file}: {piece!r} has {id!r} for an id, which is no number")
    return table


def float16_of(weights: Mapping[str, Tensor]) -> torch.dtype | None:
    """float16 if all weights are, so that a model folder stores them as they are; else None."""
    return torch.float16 if {weight.dtype for weight in weights.values()} == HALVES else None


def read_tensors(source: Path) -> dict[str, Tensor]:
    """The weights of a folder by their names. A pickle, pytorch_model.bin, is opened only if there
    is no safetensors file, and only if it holds nothing but tensors (`weights_only`).

    Raises:
        ModelFolderError: a file is missing or damaged, or the pickle holds more than tensors.
    """
    if (source / WEIGHTS).is_file():
        return read_weights(source / WEIGHTS)
    file = source / PICKLE
    try:
        with warnings.catch_warnings(action="ignore"):  # torch warns about other pickle protocols
            weights = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ModelFolderError(
            f"{file} holds more than tensors and is not opened, as it could run any code "
            f"({str(error).splitlines()[0]}); save the model anew with `save_pretrained`"
        ) from error
    except BROKEN as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelFolderError(f"{file} is damaged or cut short ({said}); copy it again") from error
    if not isinstance(weights, dict) or not all(isinstance(w, Tensor) for w in weights.values()):
        raise ModelFolderError(f"{file} holds no table of tensors by name")
    return weights
