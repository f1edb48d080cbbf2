"""Positions of tokens (section 3.5): sinusoids, stored or learned vectors, or rotations.

B batch · H heads · T length · D d_model · K head width
"""

import torch
from torch import Tensor, nn

from allyouneed.errors import ShapeError


def sinusoidal_encoding(positions: int, d_model: int) -> Tensor:
    """Table of the paper's positional encodings, shape (positions, d_model), float32 (section 3.5).

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model))
    PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)), for pos = 0 … positions-1.

    Raises:
        ShapeError: `d_model` is odd, so that the last sine would have no cosine.
    """
    if d_model % 2:
        raise ShapeError(f"d_model={d_model} must be even: each sine is paired with a cosine")
    angles = _angles(torch.arange(positions), d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()


def _angles(positions_T: Tensor, width: int) -> Tensor:
    """pos / 10000^(2i/width) for i = 0 … width/2-1, in float64.

    In float32 the angles of distant positions would be too coarse for exact sines.
    """
    two_i = torch.arange(0, width, 2, dtype=torch.float64, device=positions_T.device)
    return positions_T[:, None].double() / 10000.0 ** (two_i / width)


class TablePositions(nn.Module):
    """A fixed vector for each position: row `position` of a table, such as the paper's sinusoids.

    `stored` writes the table into the model's file along with the weights. Models whose positions
    follow another formula need this.
    """

    def __init__(self, table: Tensor, stored: bool = False) -> None:
        super().__init__()
        self.table: Tensor
        self.register_buffer("table", table, persistent=stored)

    def forward(self, positions_BT: Tensor) -> Tensor:
        """Integer positions BT → vectors BTD."""
        return nn.functional.embedding(positions_BT, self.table)


class LearnedPositions(nn.Embedding):
    """A learned vector for each position (table 3, row E), as in BERT (Devlin et al. 2019)."""


class Rotary(nn.Module):
    """Rotary positions (Su et al. 2021): each pair of components of a query or key is rotated.

    The angle is proportional to the position. The product q·k of a rotated query and a rotated
    key therefore depends on the distance of their positions and not on the positions themselves.
    """

    def __init__(self, head_width: int, max_positions: int) -> None:
        super().__init__()
        angles = _angles(torch.arange(max_positions), head_width)
        self.cos: Tensor
        self.sin: Tensor
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x_BHTK: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Queries or keys BHTK, row t rotated by the angles of position offset + t: BHTK."""
        positions_T = torch.arange(x_BHTK.size(2), device=x_BHTK.device) + offset
        cos_TP, sin_TP = self.cos[positions_T], self.sin[positions_T]  # P pairs; always float32
        even, odd = x_BHTK[..., 0::2], x_BHTK[..., 1::2]
        rotated = (even * cos_TP - odd * sin_TP, even * sin_TP + odd * cos_TP)
        return torch.stack(rotated, dim=-1).flatten(-2).to(x_BHTK.dtype)
