"""The residual connection around each sub-layer (section 3.1), its norm and its dropout (5.4)."""

from collections.abc import Callable

from torch import Tensor, nn

from allyouneed.core.dropout import Dropout

Sublayer = Callable[[Tensor], Tensor]


class PostNorm(nn.Module):
    """LayerNorm(x + Sublayer(x)), the paper's wiring (section 3.1), dropout on Sublayer(x)."""

    def __init__(self, norm: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = Dropout(dropout)

    def forward(self, x_BTD: Tensor, sublayer: Sublayer) -> Tensor:
        """BTD → BTD."""
        return self.norm(x_BTD + self.dropout(sublayer(x_BTD)))


class PreNorm(nn.Module):
    """x + Sublayer(LayerNorm(x)) (Xiong et al. 2020), dropout on Sublayer's result.

    The sum is never normalised on its way up, so a stack of these ends in a norm of its own.
    """

    def __init__(self, norm: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = Dropout(dropout)

    def forward(self, x_BTD: Tensor, sublayer: Sublayer) -> Tensor:
        """BTD → BTD."""
        return x_BTD + self.dropout(sublayer(self.norm(x_BTD)))


Residual = Callable[[], PostNorm | PreNorm]
"""Makes the wiring around one sub-layer; a layer calls it once for each of its sub-layers."""
