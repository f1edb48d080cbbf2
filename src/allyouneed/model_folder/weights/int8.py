"""Weights in 8 bits: each row of a matrix as int8 numbers and one scale (Jacob et al. 2018).

The file has a quarter of the size. An int8 engine loses no accuracy by it, because the engine would
round float32 weights to the same numbers.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from allyouneed.model_folder.weights.shapes import SCALE

LARGEST = 127  # -128 is not used, so that x and -x are rounded symmetrically


def quantise(x_MI: Tensor) -> tuple[Tensor, Tensor]:
    """Values MI (int8) and one scale per row, M1, with x ≈ values · scale.

    scale = max|row| / 127; values = x / scale, rounded half to even. The error is at most half a
    scale.
    """
    smallest = torch.finfo(x_MI.dtype).tiny  # avoids division by zero in a row of zeros
    scale_M1 = (x_MI.abs().amax(dim=1, keepdim=True) / LARGEST).clamp_(min=smallest)
    return (x_MI / scale_M1).round_().to(torch.int8), scale_M1


def to_int8(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices NAME in int8 with their rows' scales as NAME.scale; all other weights in float32."""
    found: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if tensor.dim() == 2:
            found[name], scale_O1 = quantise(tensor.detach().float())
            found[name + SCALE] = scale_O1[:, 0].clone()
        else:
            found[name] = tensor.detach().float().contiguous()
    return found


def on_steps(x_MI: Tensor, step: float) -> tuple[Tensor, Tensor]:
    """Numbers that are whole multiples of a step, at most 127 of them, as `quantise` returns them:
    the multiples and, for each row, the step. Nothing is lost."""
    return (x_MI / step).round_().to(torch.int8), torch.full((len(x_MI), 1), step)


def from_int8(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """int8 matrices as float32, each row times its scale; all other weights unchanged."""
    int8 = {name for name, tensor in weights.items() if tensor.dtype is torch.int8}
    found = {name: w for name, w in weights.items() if name.removesuffix(SCALE) not in int8}
    for name in int8:
        values = weights[name].float()
        found[name] = values * weights[name + SCALE].view(-1, *[1] * (values.dim() - 1))
    return found
