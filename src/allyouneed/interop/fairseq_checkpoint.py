"""Reads a fairseq checkpoint without executing any code in it.

The file is a pickle. torch reads it with `weights_only=True`. `argparse.Namespace` objects are
restored; objects of fairseq's and omegaconf's classes become `Inert`, which only stores its data.
"""

import pickletools
import re
import warnings
import zipfile
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import IO, Any

import torch
from torch import Tensor
from torch.serialization import safe_globals

from allyouneed.errors import ModelFolderError
from allyouneed.interop.pretrained import BROKEN
from allyouneed.model_folder.weights.file import PICKLE_STARTS

# Classes in checkpoints of fairseq 0.10 (omegaconf) and of NVIDIA (dictionaries), except torch's.
INERT = re.compile(
    r"(fairseq|omegaconf|typing)\..*|_operator\.getitem"
    r"|builtins\.(int|float|str|bool|bytes|dict|list|tuple|object|Ellipsis)"
)
PICKLES = 4  # a file of torch before 1.6 begins with this many pickles; the last is the data


class Inert:
    """Replaces an object of a class that is not loaded. It only stores the object's `arguments` and
    attributes."""

    arguments: tuple[object, ...] = ()

    def __init__(self, *arguments: object) -> None:
        self.arguments = arguments

    def __setstate__(self, state: object) -> None:
        if isinstance(state, dict):
            self.__dict__.update(state)


@dataclass(frozen=True, slots=True)
class FairseqCheckpoint:
    """The content of a checkpoint.

    `settings` are the training options by name, such as "encoder_layers"; `weights` is the state
    dict; `symbols` are the dictionaries of source and target if the file contains them.
    """

    path: Path
    settings: dict[str, Any]
    weights: dict[str, Tensor]
    symbols: tuple[list[str], list[str]] | None = None


def read_checkpoint(path: Path) -> FairseqCheckpoint:
    """Reads a checkpoint of fairseq, or of NVIDIA's Transformer, on the CPU.

    Raises:
        ModelFolderError: the file does not exist, is cut short, is not a checkpoint, or cannot be
            read without executing its code.
    """
    state = _load(path)
    if not isinstance(state, dict) or not isinstance(state.get("model"), dict):
        keys = ", ".join(map(str, list(state)[:5])) if isinstance(state, dict) else type(state)
        raise ModelFolderError(
            f"{path} is not a fairseq checkpoint: it has no state dict under 'model', but {keys}; "
            "give the .pt file that fairseq-train wrote"
        )
    weights = {str(k): w for k, w in state["model"].items() if isinstance(w, Tensor)}
    if state.get("args") is None and state.get("cfg") is None:
        raise ModelFolderError(
            f"{path} has neither 'args' nor 'cfg', so the shape of its model is unknown; "
            "give the .pt file that fairseq-train wrote"
        )
    extra = state.get("extra_state")
    dictionaries = extra if isinstance(extra, dict) else {}
    both = [_symbols(dictionaries.get(name)) for name in ("src_dict", "tgt_dict")]
    symbols = (both[0], both[1]) if both[0] and both[1] else None
    return FairseqCheckpoint(path, _settings(state), weights, symbols)


def _load(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            beginning = file.read(64)
            if not beginning.startswith(PICKLE_STARTS):
                raise ModelFolderError(
                    f"{path} is not a checkpoint of torch; give the .pt file of fairseq-train"
                )
            file.seek(0)
            names = _names(file)
    except OSError as error:
        raise ModelFolderError(
            f"{path} cannot be read ({error.strerror}); give a fairseq checkpoint"
        ) from error
    except (*BROKEN, zipfile.BadZipFile) as error:
        raise _damaged(path, error) from error
    known = [_stand_in(name) for name in names if INERT.fullmatch(name)]
    try:
        with safe_globals([Namespace, _a_dict, *known]), warnings.catch_warnings(action="ignore"):
            return torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        refused = re.search(r"GLOBAL (\S+) (was not|whose module)", str(error))
        if refused is None:
            raise _damaged(path, error) from error
        raise ModelFolderError(
            f"{path} holds an object of the class {refused[1]}, which could run any code and is "
            "not loaded. If you trust the file, save the needed parts again: state = "
            "torch.load(old, weights_only=False); torch.save({key: state.get(key) for key in "
            "('args', 'cfg', 'model')}, new)"
        ) from error
    except BROKEN as error:
        raise _damaged(path, error) from error


def _names(file: IO[bytes]) -> set[str]:
    """The dotted names of all classes and functions that the pickles in a file of torch refer
    to."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            [inside] = [name for name in archive.namelist() if name.endswith("/data.pkl")]
            return set(_globals(archive.read(inside)))
    file.seek(0)
    return {name for _ in range(PICKLES) for name in _globals(file)}


def _globals(pickle: bytes | IO[bytes]) -> Iterator[str]:
    """The names in a pickle as Python 3 names; torch's pickles contain Python 2 names."""
    for code, argument, _ in pickletools.genops(pickle):
        if code.name == "GLOBAL":
            module, _, name = str(argument).partition(" ")
            module, name = NAME_MAPPING.get((module, name), (module, name))
            yield f"{IMPORT_MAPPING.get(module, module)}.{name}"


def _stand_in(dotted: str) -> type[Inert]:
    """An inert class with this name; torch finds allowed classes by their names."""
    module, _, name = dotted.rpartition(".")
    return type(name, (Inert,), {"__module__": module, "__qualname__": name})


def _a_dict(*_: object) -> dict[object, object]:
    return {}


_a_dict.__module__, _a_dict.__qualname__ = "collections", "defaultdict"  # which it replaces


def _damaged(path: Path, error: Exception) -> ModelFolderError:
    said = (str(error).splitlines() or [type(error).__name__])[0][:120]
    return ModelFolderError(
        f"{path} is damaged or cut short ({said}); copy it again from where the model came from"
    )


def _settings(state: Mapping[str, Any]) -> dict[str, Any]:
    """The training options without groups. If groups of a `cfg` differ, the model's group wins."""
    if state.get("cfg") is None:
        return _flat(state["args"])
    groups = _plain(state["cfg"])
    settings: dict[str, Any] = {}
    for group in ("tokenizer", "bpe", "task", "model"):
        found = groups.get(group) if isinstance(groups, dict) else None
        if isinstance(found, str):  # a name, not a group of options
            settings[group] = found
        elif found is not None:
            flat = _flat(found)
            name = flat.pop("_name", None)
            settings |= {k: v for k, v in flat.items() if group == "model" or v is not None}
            settings["arch" if group == "model" else group] = name or flat.get(group)
    return settings


def _flat(group: Any) -> dict[str, Any]:
    """A group of options by name. The names in subgroups such as "encoder" get that prefix."""
    plain = _plain(group)
    if not isinstance(plain, dict):
        return {}
    settings: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, dict):
            settings |= {f"{name}_{inner}": deeper for inner, deeper in value.items()}
        else:
            settings[str(name)] = value
    return settings


def _plain(value: Any) -> Any:
    """A value without the classes of argparse and omegaconf around it."""
    if isinstance(value, Inert):
        inner = vars(value)
        if "_content" in inner:
            return _plain(inner["_content"])
        if "_val" in inner:
            return _plain(inner["_val"])
        return _plain(value.arguments[0]) if len(value.arguments) == 1 else value  # of an enum
    if isinstance(value, Namespace):
        return {name: _plain(inner) for name, inner in vars(value).items()}
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _symbols(dictionary: object) -> list[str]:
    """The symbols of a dictionary object in the order of their ids; empty for another object."""
    found = vars(dictionary).get("symbols") if isinstance(dictionary, Inert) else None
    return [str(symbol) for symbol in found] if isinstance(found, list) else []
