"""Token embeddings with positions (sections 3.4 and 3.5).

B batch · T length · D d_model
"""

import math

import torch
from torch import Tensor, nn

from allyouneed.core.dropout import Dropout
from allyouneed.errors import ShapeError


class Embeddings(nn.Module):
    """dropout(norm(√d_model · token + position [+ segment])), section 3.4 and 5.4.

    `positions` maps integer positions BT to BTD, or is None (then nothing is added, as with
    rotary positions). `segments` holds a vector for each kind of segment and `norm` is a layer norm
    in BERT (Devlin et al. 2019); the paper has neither. `pad` is the id that takes up no position,
    so left- and right-padded sentences come out alike (-1: none is).
    """

    def __init__(
        self,
        tokens: nn.Embedding,
        positions: nn.Module | None,
        *,
        max_positions: int,
        pad: int,
        scaled: bool = True,
        segments: nn.Embedding | None = None,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        self.positions = positions
        self.segments = segments
        self.max_positions = max_positions
        self.pad = pad
        self.scale = math.sqrt(tokens.embedding_dim) if scaled else 1.0
        self.norm = norm or nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(
        self, ids_BT: Tensor, offset: int | Tensor = 0, segments_BT: Tensor | None = None
    ) -> Tensor:
        """Ids BT, the first of which stands at position `offset`, → vectors BTD.

        `segments_BT` says of each id which segment it is in; without it all are in the first.
        Whether they fit is not checked with an `offset` that is a tensor: reading it would wait
        for the device.

        Raises:
            ShapeError: ids that are not BT, more of them than the model has positions, or segments
                where the model tells none apart.
        """
        if ids_BT.dim() != 2:
            raise ShapeError(f"ids have the axes BT, not {tuple(ids_BT.shape)}")
        if isinstance(offset, int) and offset + ids_BT.size(1) > self.max_positions:
            raise ShapeError(
                f"{offset + ids_BT.size(1)} tokens do not fit into max_positions="
                f"{self.max_positions}; split the text or build the model with more positions"
            )
        x_BTD = self.tokens(ids_BT) * self.scale
        if self.positions is not None:
            positions_BT = (ids_BT != self.pad).cumsum(dim=1).sub(1).clamp(min=0) + offset
            x_BTD = x_BTD + self.positions(positions_BT)
        if self.segments is not None:
            x_BTD = x_BTD + self.segments(
                torch.zeros_like(ids_BT) if segments_BT is None else segments_BT
            )
        elif segments_BT is not None:
            raise ShapeError("these embeddings tell no segments apart; leave segments_BT out")
        return self.dropout(self.norm(x_BTD))
