"""Who may look where (section 3.2.3). Every mask is boolean, True = may look, shaped to
broadcast over B batch · H heads · T queries · S keys."""

import torch
from torch import Tensor

from allyouneed.errors import ShapeError


def padding(ids_BS: Tensor, pad: int) -> Tensor:
    """Hides padding from every query. Returns B11S."""
    return (ids_BS != pad)[:, None, None, :]


def causal(length: int, device: torch.device | None = None) -> Tensor:
    """A position looks at itself and the ones before it, never ahead (section 3.2.3). 11TT."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def window(queries: int, keys: int, reach: int, device: torch.device | None = None) -> Tensor:
    """A position looks at most `reach` positions to either side (section 4). Returns 11TS.

    Raises:
        ShapeError: a negative reach.
    """
    if reach < 0:
        raise ShapeError(f"a window reaches {reach} positions; it must reach 0 or more")
    query_T1 = torch.arange(queries, device=device)[:, None]
    key_S = torch.arange(keys, device=device)
    return ((query_T1 - key_S).abs() <= reach)[None, None]


def valid_lengths(lengths: Tensor, size: int) -> Tensor:
    """Keys before a valid length are seen, those from it on are hidden.

    `lengths` is B (one length a sentence; returns B11S) or BT (one a query; returns B1TS).

    Raises:
        ShapeError: other numbers of axes, or a length outside 0 … size.
    """
    if lengths.dim() not in (1, 2):
        raise ShapeError(f"valid lengths have the axes B or BT, not {tuple(lengths.shape)}")
    if lengths.numel() and not 0 <= int(lengths.min()) <= int(lengths.max()) <= size:
        raise ShapeError(
            f"valid lengths must lie in 0 … {size}, the number of keys; "
            f"got {int(lengths.min())} … {int(lengths.max())}"
        )
    lengths_B1T1 = lengths[:, None, None, None] if lengths.dim() == 1 else lengths[:, None, :, None]
    return torch.arange(size, device=lengths.device) < lengths_B1T1
