"""Position-wise feed-forward networks (section 3.3): the same two layers at every position.

B batch · T length · D d_model · F d_ff
"""

from torch import Tensor, nn


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, equation 2.

    `activation` is the module between the two products: `nn.ReLU()` as in the paper, `nn.GELU()`
    (Hendrycks & Gimpel 2016), or an `nn.Sequential` of an activation and dropout.
    """

    def __init__(self, d_model: int, d_ff: int, activation: nn.Module, bias: bool = True) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff, bias=bias)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """BTD → BTF → BTD."""
        return self.W_2(self.activation(self.W_1(x_BTD)))


class GatedFeedForward(nn.Module):
    """FFN(x) = (activation(x W_1) ⊗ x V_1) W_2 (Shazeer 2020).

    With `nn.SiLU()` as the activation this is SwiGLU.
    """

    def __init__(self, d_model: int, d_ff: int, activation: nn.Module, bias: bool = True) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff, bias=bias)
        self.V_1 = nn.Linear(d_model, d_ff, bias=bias)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """BTD → BTF → BTD."""
        gated_BTF = self.activation(self.W_1(x_BTD)) * self.V_1(x_BTD)
        return self.W_2(gated_BTF)
