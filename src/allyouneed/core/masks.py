"""Attention masks (section 3.2.3): which keys each query may look at.

Every mask is boolean. True means that the query may look at the key; False hides the key.
Masks broadcast to B batch · H heads · T queries · S keys. Two masks are combined with `&`.
"""

import torch
from torch import Tensor

from allyouneed.errors import ShapeError


def padding(ids_BS: Tensor, pad: int) -> Tensor:
    """Mask B11S that hides the keys whose id is `pad` from every query."""
    return (ids_BS != pad)[:, None, None, :]


def causal(length: int, device: torch.device | None = None) -> Tensor:
    """Mask 11TT that hides every later position (section 3.2.3): query t sees keys 0 … t.

    The decoder needs this mask because training feeds it the whole target at once: without the
    mask, the position that predicts a token could copy that token from the input.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def window(queries: int, keys: int, reach: int, device: torch.device | None = None) -> Tensor:
    """Mask 11TS that hides keys more than `reach` positions away from the query (section 4).

    Raises:
        ShapeError: `reach` is negative.
    """
    if reach < 0:
        raise ShapeError(f"reach={reach} must be at least 0 positions")
    query_T1 = torch.arange(queries, device=device)[:, None]
    key_S = torch.arange(keys, device=device)
    return ((query_T1 - key_S).abs() <= reach)[None, None]


def valid_lengths(lengths: Tensor, size: int) -> Tensor:
    """Mask that hides the keys at position `lengths` and after it; `size` is the number of keys.

    `lengths` of shape B has one length per sentence and gives the mask B11S. `lengths` of shape
    BT has one length per query and gives the mask B1TS.

    Raises:
        ShapeError: `lengths` has another number of axes, or a length lies outside 0 … size.
    """
    if lengths.dim() not in (1, 2):
        raise ShapeError(f"valid lengths need the axes B or BT, not {tuple(lengths.shape)}")
    if lengths.numel() and not 0 <= int(lengths.min()) <= int(lengths.max()) <= size:
        raise ShapeError(
            f"valid lengths must lie in 0 … {size}, the number of keys; "
            f"got {int(lengths.min())} … {int(lengths.max())}"
        )
    lengths_B1T1 = lengths[:, None, None, None] if lengths.dim() == 1 else lengths[:, None, :, None]
    return torch.arange(size, device=lengths.device) < lengths_B1T1
