"""Positional encodings (section 3.5) for the view: the formula, and a check that a shift is linear.

P positions · D d_model
"""

import math
from typing import Any

import torch
from torch import Tensor

from allyouneed.core.positions import TablePositions
from allyouneed.core.transformer import Transformer

BASE = 10_000.0
SHIFTS = (1, 2, 5, 10, 50)


def positions(model: Transformer) -> dict[str, Any]:
    """d_model, the base of the wavelengths, and for some shifts k the largest deviation of
    M·PE(pos) from PE(pos + k) in the model's own table. There are no shifts if the model's table is
    not the paper's."""
    config = model.config
    encoding = model.encoder.embeddings.positions
    shifts: list[dict[str, float]] = []
    if isinstance(encoding, TablePositions) and config.positions == "sinusoidal":
        table_PD = encoding.table.double().cpu()
        fitting = [k for k in SHIFTS if k < table_PD.size(0)]
        shifts = [{"k": k, "deviation": largest_deviation(table_PD, k)} for k in fitting]
    return {
        "d_model": config.d_model,
        "base": BASE,
        "positions": config.positions,
        "shift": shifts,
    }


def shift_matrix(d_model: int, shift: int) -> Tensor:
    """The matrix M (DD) with M·PE(pos) = PE(pos + shift) for every pos: it rotates each pair of
    sine and cosine by shift / 10000^(2i/d_model)."""
    matrix_DD = torch.zeros(d_model, d_model, dtype=torch.float64)
    for sine in range(0, d_model, 2):
        angle = shift / BASE ** (sine / d_model)
        cos, sin = math.cos(angle), math.sin(angle)
        matrix_DD[sine : sine + 2, sine : sine + 2] = torch.tensor([[cos, sin], [-sin, cos]])
    return matrix_DD


def largest_deviation(table_PD: Tensor, shift: int) -> float:
    """The largest difference of any component between M·PE(pos) and PE(pos + shift)."""
    matrix_DD = shift_matrix(table_PD.size(1), shift)
    moved_PD = table_PD[:-shift] @ matrix_DD.mT
    return float((moved_PD - table_PD[shift:]).abs().max())
