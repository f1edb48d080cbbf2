"""Averaging the weights of the last checkpoints (section 6.1)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from allyouneed.errors import TrainingError
from allyouneed.training.stored import WEIGHTS, Parts, Shapes, Whole, stored


def average_checkpoints(checkpoints: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of each parameter over the checkpoints, by name, in float32, as it is stored.

    One tensor is summed at a time, in float64: a sum of N equal float32 values is exact there, so
    equal checkpoints average to themselves, and their order hardly ever shows.

    Raises TrainingError when there is none, or when they are of different models.
    """
    if not checkpoints:
        raise TrainingError("no checkpoint is there to average; train for at least one step")
    contents = [stored(path) for path in checkpoints]
    shapes = [_of_weights(content) for content in contents]
    for path, other in zip(checkpoints, shapes, strict=True):
        if other != shapes[0]:
            raise TrainingError(
                f"{path} holds another model than {checkpoints[0]}; average one run's only"
            )
    return {
        name.removeprefix(f"{WEIGHTS}:"): _mean(
            [_tensor(content, name, shape) for content in contents]
        )
        for name, shape in shapes[0].items()
    }


def _of_weights(content: Whole | Parts) -> Shapes:
    return {name: s for name, s in content.shapes().items() if name.startswith(f"{WEIGHTS}:")}


def _tensor(content: Whole | Parts, name: str, shape: tuple[int, ...]) -> Tensor:
    tensor = torch.empty(shape)
    content.fill({name: tensor})
    return tensor


def _mean(tensors: Sequence[Tensor]) -> Tensor:
    total = torch.zeros_like(tensors[0], dtype=torch.float64)
    for tensor in tensors:
        total += tensor
    return (total / len(tensors)).to(tensors[0].dtype)
