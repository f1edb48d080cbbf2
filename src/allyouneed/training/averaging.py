"""Averaging the weights of the last checkpoints (section 6.1)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from allyouneed.errors import TrainingError
from allyouneed.training.stored import WEIGHTS, Parts, Shapes, Whole, stored


def average_checkpoints(checkpoints: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of each parameter over the checkpoints, by name, in float32.

    One tensor at a time is summed in float64. There a sum of N equal float32 values is exact, so
    equal checkpoints average to themselves, and the order of the checkpoints hardly matters.

    Raises:
        TrainingError: there is no checkpoint, or they belong to different models.
    """
    if not checkpoints:
        raise TrainingError("there is no checkpoint to average; train for at least one step")
    contents = [stored(path) for path in checkpoints]
    shapes = [_of_weights(content) for content in contents]
    for path, other in zip(checkpoints, shapes, strict=True):
        if other != shapes[0]:
            raise TrainingError(
                f"{path} holds another model than {checkpoints[0]}; average checkpoints of one run"
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
