"""Where a token stands (section 3.5): added sinusoids, learned vectors, or rotations.

B batch · H heads · T length · D d_model · K head width
"""

import torch
from torch import Tensor, nn

from allyouneed.errors import ShapeError


def sinusoidal_encoding(positions: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(the same), section 3.5.

    Returns the table for pos = 0 … positions-1, shape (positions, d_model), float32.

    Raises:
        ShapeError: an odd d_model, in which some sine would lack its cosine.
    """
    if d_model % 2:
        raise ShapeError(f"sines and cosines come in pairs: d_model={d_model} must be even")
    angles = _angles(torch.arange(positions), d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()


def _angles(positions_T: Tensor, width: int) -> Tensor:
    """pos / 10000^(2i/width), i = 0 … width/2-1; float64, as the sine of a large float32 drifts."""
    two_i = torch.arange(0, width, 2, dtype=torch.float64, device=positions_T.device)
    return positions_T[:, None].double() / 10000.0 ** (two_i / width)


class TablePositions(nn.Module):
    """Looks a fixed vector up for each position: the paper's sinusoids, or a stored table.

    With `stored` the table travels with the weights, for models whose formula differs.
    """

    def __init__(self, table: Tensor, stored: bool = False) -> None:
        super().__init__()
        self.table: Tensor
        self.register_buffer("table", table, persistent=stored)

    def forward(self, positions_BT: Tensor) -> Tensor:
        """Integer positions BT → vectors BTD."""
        return nn.functional.embedding(positions_BT, self.table)


class LearnedPositions(nn.Embedding):
    """A learned vector for each position, as in BERT (Devlin et al. 2019); table 3, row (E)."""


class Rotary(nn.Module):
    """Rotary positions (Su et al. 2021): turns each pair of a query's or key's components by an
    angle that grows with the position, so that q·k depends on the distance alone."""

    def __init__(self, head_width: int, max_positions: int) -> None:
        super().__init__()
        angles = _angles(torch.arange(max_positions), head_width)
        self.cos: Tensor
        self.sin: Tensor
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x_BHTK: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Turns row t as position offset + t. Returns BHTK."""
        here = torch.arange(x_BHTK.size(2), device=x_BHTK.device) + offset
        cos_TP, sin_TP = self.cos[here], self.sin[here]  # float32, even where x is not
        even, odd = x_BHTK[..., 0::2], x_BHTK[..., 1::2]
        turned = (even * cos_TP - odd * sin_TP, even * sin_TP + odd * cos_TP)
        return torch.stack(turned, dim=-1).flatten(-2).to(x_BHTK.dtype)
