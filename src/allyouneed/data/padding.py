"""Token ids of several sentences as one tensor. B batch · S longest length."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def padded(
    rows: Sequence[Sequence[int] | NDArray[Any]], pad: int, device: torch.device | None = None
) -> Tensor:
    """Rows of ids as one int64 tensor BS, shorter rows padded with `pad` on the right."""
    return torch.from_numpy(padded_ids(rows, pad)).to(device)


def padded_ids(rows: Sequence[Sequence[int] | NDArray[Any]], pad: int) -> NDArray[np.int64]:
    """Like `padded`, but as a NumPy array."""
    ids_BS = np.full((len(rows), max(map(len, rows))), pad, dtype=np.int64)
    for padded_row, row in zip(ids_BS, rows, strict=True):
        padded_row[: len(row)] = row
    return ids_BS
