"""Token embeddings with positions (sections 3.4 and 3.5).

B batch · T length · D d_model
"""

import math

from torch import Tensor, nn

from allyouneed.core.dropout import Dropout
from allyouneed.errors import ShapeError


class Embeddings(nn.Module):
    """dropout(norm(√d_model · token + position)), section 3.4 and 5.4.

    `positions` maps integer positions BT to BTD, or is None (then nothing is added, as with
    rotary positions). `norm` is the identity in the paper and a layer norm in BERT. `pad` is the
    id that takes up no position, so left- and right-padded sentences come out alike (-1: none is).
    """

    def __init__(
        self,
        tokens: nn.Embedding,
        positions: nn.Module | None,
        *,
        max_positions: int,
        pad: int,
        scaled: bool = True,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        self.positions = positions
        self.max_positions = max_positions
        self.pad = pad
        self.scale = math.sqrt(tokens.embedding_dim) if scaled else 1.0
        self.norm = norm or nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(self, ids_BT: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Ids BT, the first of which stands at position `offset`, → vectors BTD.

        Whether they fit is not checked with an `offset` that is a tensor: reading it would wait
        for the device.

        Raises:
            ShapeError: ids that are not BT, or more of them than the model has positions.
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
        return self.dropout(self.norm(x_BTD))
