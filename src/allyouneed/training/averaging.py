"""Averaging the weights of the last checkpoints (section 6.1)."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from allyouneed.errors import TrainingError
from allyouneed.training.checkpoint import MODEL


def average_checkpoints(checkpoints: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of each parameter over the checkpoints, by name, in the dtype it is stored in.

    One tensor is summed at a time, in float64: a sum of N equal float32 values is exact there, so
    equal checkpoints average to themselves, and their order hardly ever shows.

    Raises TrainingError when there is none, or when they are of different models.
    """
    if not checkpoints:
        raise TrainingError("no checkpoint is there to average; train for at least one step")
    with ExitStack() as stack:
        files = [stack.enter_context(safe_open(path / MODEL, "pt")) for path in checkpoints]
        shapes = [
            {name: file.get_slice(name).get_shape() for name in _names(file)} for file in files
        ]
        for path, other in zip(checkpoints, shapes, strict=True):
            if other != shapes[0]:
                raise TrainingError(
                    f"{path} holds another model than {checkpoints[0]}; average one run's only"
                )
        return {name: _mean([file.get_tensor(name) for file in files]) for name in shapes[0]}


def _names(file: Any) -> list[str]:
    return list(file.keys())


def _mean(tensors: Sequence[Tensor]) -> Tensor:
    total = torch.zeros_like(tensors[0], dtype=torch.float64)
    for tensor in tensors:
        total += tensor
    return (total / len(tensors)).to(tensors[0].dtype)
