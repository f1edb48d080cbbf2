"""Weights in 8 bits: a matrix as int8 rows, each with a scale of its own (Jacob et al. 2018).

An int8 engine rounds them to the same values again: the quarter of the size costs it nothing.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from allyouneed.model_folder.weights.shapes import SCALE

LARGEST = 127  # -128 is left out, so that x and -x quantise alike


def quantise(x_MI: Tensor) -> tuple[Tensor, Tensor]:
    """Each row as int8 times a scale: x ≈ values · scale, the error at most half a scale.

    scale = max|row| / 127, values = x / scale, rounded half to even. Returns MI int8 and M1.
    """
    smallest = torch.finfo(x_MI.dtype).tiny  # a row of zeros has to be divided by something
    scale_M1 = (x_MI.abs().amax(dim=1, keepdim=True) / LARGEST).clamp_(min=smallest)
    return (x_MI / scale_M1).round_().to(torch.int8), scale_M1


def to_int8(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices in int8, their rows' scales under NAME.scale; the few other weights in float32."""
    found: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if tensor.dim() == 2:
            found[name], scale_O1 = quantise(tensor.detach().float())
            found[name + SCALE] = scale_O1[:, 0].clone()
        else:
            found[name] = tensor.detach().float().contiguous()
    return found


def from_int8(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What is int8 as float32, its rows times their scales; the rest as it is."""
    int8 = {name for name, tensor in weights.items() if tensor.dtype is torch.int8}
    found = {name: w for name, w in weights.items() if name.removesuffix(SCALE) not in int8}
    for name in int8:
        values = weights[name].float()
        found[name] = values * weights[name + SCALE].view(-1, *[1] * (values.dim() - 1))
    return found
