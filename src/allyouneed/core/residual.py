"""Residual connections (section 3.1): each sub-layer's input is added to its output.

Each connection also holds the layer norm (section 3.1) and the dropout on the sub-layer's output
(section 5.4).
"""

from collections.abc import Callable

from torch import Tensor, nn

from allyouneed.core.dropout import Dropout

Sublayer = Callable[[Tensor], Tensor]


class PostNorm(nn.Module):
    """LayerNorm(x + dropout(Sublayer(x))), as in the paper (sections 3.1 and 5.4)."""

    def __init__(self, norm: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = Dropout(dropout)

    def forward(self, x_BTD: Tensor, sublayer: Sublayer) -> Tensor:
        """The normalised sum of `x_BTD` and the sub-layer's output: BTD → BTD."""
        return self.norm(x_BTD + self.dropout(sublayer(x_BTD)))


class PreNorm(nn.Module):
    """x + dropout(Sublayer(LayerNorm(x))) (Xiong et al. 2020).

    The sum leaves the layer without a norm. A stack of pre-norm layers therefore needs one more
    norm after its last layer.
    """

    def __init__(self, norm: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = Dropout(dropout)

    def forward(self, x_BTD: Tensor, sublayer: Sublayer) -> Tensor:
        """The sum of `x_BTD` and the sub-layer's output: BTD → BTD."""
        return x_BTD + self.dropout(sublayer(self.norm(x_BTD)))


Residual = Callable[[], PostNorm | PreNorm]
"""Makes one residual connection; a layer calls it once for each of its sub-layers."""
