"""The files of a checkpoint: weights and moments, in whole files or in the workers' parts.

Tensors are called "weights:NAME", "exp_avg:NAME" and so on, where NAME is the parameter's name.

    model.safetensors, optimizer.safetensors    written by one worker; nothing is pickled
    __0_0.distcp, __1_0.distcp ..., .metadata   one part per worker (torch.distributed.checkpoint)

The metadata of parts is a pickle, which can run any code. Therefore read such checkpoints only from
run folders of your own. To give a model to others, give them its model folder.
"""

import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path

import torch.distributed as dist
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.tensor import DTensor, distribute_tensor

from allyouneed.errors import TrainingError

MODEL, OPTIMIZER, METADATA = "model.safetensors", "optimizer.safetensors", ".metadata"
WEIGHTS = "weights"

Shapes = dict[str, tuple[int, ...]]


class Whole:
    """The content of a checkpoint in two files of whole tensors."""

    def __init__(self, folder: Path) -> None:
        self._files = {True: folder / MODEL, False: folder / OPTIMIZER}

    def shapes(self) -> Shapes:
        """The shape of every tensor, by name."""
        shapes: Shapes = {}
        for of_weights, path in self._files.items():
            with safe_open(path, "pt") as file:
                for key in file.keys():  # noqa: SIM118, `file` is no mapping
                    name = f"{WEIGHTS}:{key}" if of_weights else key
                    shapes[name] = tuple(file.get_slice(key).get_shape())
        return shapes

    def fill(self, tensors: Mapping[str, Tensor]) -> None:
        """Copies the stored values into these tensors, by name."""
        for of_weights, path in self._files.items():
            with safe_open(path, "pt") as file:
                for name, tensor in tensors.items():
                    if name.startswith(f"{WEIGHTS}:") == of_weights:
                        key = name.removeprefix(f"{WEIGHTS}:") if of_weights else name
                        _copy(tensor, file.get_tensor(key))

    @staticmethod
    def write(folder: Path, tensors: Mapping[str, Tensor]) -> list[Path]:
        """Writes the tensors. Returns the files, which are not flushed to the disk yet."""
        weights = {
            name.removeprefix(f"{WEIGHTS}:"): tensor
            for name, tensor in tensors.items()
            if name.startswith(f"{WEIGHTS}:")
        }
        rest = {n: tensor for n, tensor in tensors.items() if not n.startswith(f"{WEIGHTS}:")}
        save_file(weights, folder / MODEL)
        save_file(rest, folder / OPTIMIZER)
        return [folder / MODEL, folder / OPTIMIZER]


class Parts:
    """The content of a checkpoint in parts, one from each worker that wrote it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def shapes(self) -> Shapes:
        """The shape of every tensor, by name.

        Raises:
            OSError, ValueError: a part is damaged.
        """
        metadata = self._metadata()
        for info in metadata.storage_data.values():
            part = self._folder / info.relative_path
            if part.stat().st_size < info.offset + info.length:
                raise ValueError(f"{part.name} is cut short")
        stored = metadata.state_dict_metadata
        return {
            name: tuple(entry.size)
            for name, entry in stored.items()
            if isinstance(entry, TensorStorageMetadata)
        }

    def fill(self, tensors: Mapping[str, Tensor]) -> None:
        """Copies the stored values into these tensors, by name. Of a sharded tensor only this
        worker's part is copied."""
        reader = FileSystemReader(self._folder)
        with warnings.catch_warnings(action="ignore"):  # torch warns about no_dist
            load(dict(tensors), storage_reader=reader, no_dist=True)

    @staticmethod
    def write(folder: Path, tensors: Mapping[str, Tensor], group: dist.ProcessGroup | None) -> None:
        """Writes this worker's part to the disk. All workers of the group call this together.

        Raises:
            TrainingError: a worker failed; all workers raise it.
        """
        try:
            save(dict(tensors), storage_writer=FileSystemWriter(folder), process_group=group)
        except CheckpointException as error:
            first = next(iter(error.failures.values()))[0]
            raise TrainingError(f"{type(first).__name__}: {first}") from error

    def _metadata(self) -> Metadata:
        try:
            return FileSystemReader(self._folder).read_metadata()
        except (EOFError, pickle.UnpicklingError, AttributeError, IndexError, KeyError) as error:
            raise ValueError(f"{METADATA} is damaged ({error})") from error


def stored(folder: Path) -> Whole | Parts:
    """The content of a checkpoint's folder, in whole files or in parts."""
    return Parts(folder) if (folder / METADATA).exists() else Whole(folder)


def damage(folder: Path) -> str | None:
    """What is wrong with a checkpoint's folder, judged by headers and sizes; None if nothing is."""
    try:
        stored(folder).shapes()
    except (OSError, SafetensorError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def _copy(target: Tensor, source: Tensor) -> None:
    if isinstance(target, DTensor):
        source = distribute_tensor(source.to(target.device), target.device_mesh, target.placements)
    target.copy_(source)
