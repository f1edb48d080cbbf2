"""Token embeddings with positions (sections 3.4 and 3.5).

B batch · T length · D d_model
"""

import math

import torch
from torch import Tensor, nn

from allyouneed.core.dropout import Dropout
from allyouneed.errors import ShapeError


class Embeddings(nn.Module):
    """dropout(norm(√d_model · token + position + segment)), sections 3.4, 3.5 and 5.4.

    `positions` maps integer positions BT to vectors BTD. None adds no positions (models with
    rotary positions rotate queries and keys in attention instead).
    `segments` and `norm` are BERT's (Devlin et al. 2019): a learned vector for each segment and a
    layer norm. The paper's model has neither.
    `pad` is the padding id. Padding is not counted in positions, so a sentence gets the same
    vectors whether it is padded on the left or on the right. With -1 no id is padding.
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
        """Ids BT → vectors BTD. `offset` is the position of the first id of each row.

        `segments_BT` has the segment of each id; None puts every id into segment 0. A tensor as
        `offset` is not checked against `max_positions`, since reading its value would make the
        program wait for the device.

        Raises:
            ShapeError: ids that are not BT, more ids than `max_positions`, or `segments_BT` for a
                model without segments.
        """
        if ids_BT.dim() != 2:
            raise ShapeError(f"ids need the axes BT, not {tuple(ids_BT.shape)}")
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
            raise ShapeError("these embeddings have no segments; leave segments_BT out")
        return self.dropout(self.norm(x_BTD))
