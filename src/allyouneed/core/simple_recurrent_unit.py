"""The simpler simple recurrent unit, SSRU (Kim et al. 2019, "From Research to Production and
Back"). It replaces masked self-attention in a decoder layer and summarises all earlier positions
in one vector.

B batch · T target length · D d_model · R rows
"""

import torch
from torch import Tensor, nn


class SimpleRecurrentUnit(nn.Module):
    """f_t = σ(x_t W_f + b_f), c_t = f_t ⊙ c_{t-1} + (1 - f_t) ⊙ x_t W, y_t = max(0, c_t); c_0 = 0.

    The gate f_t says, for each of the D components, which share of c_{t-1} is kept. Neither
    product uses c_{t-1}, so a whole sentence takes two products and one scan over the positions.
    """

    def __init__(self, d_model: int, bias: bool = True) -> None:
        super().__init__()
        self.W = nn.Linear(d_model, d_model, bias=False)
        self.W_f = nn.Linear(d_model, d_model, bias=bias)
        self.gate = nn.Sigmoid()

    def forward(self, x_BTD: Tensor, may_look: Tensor | None = None) -> Tensor:
        """y_t for all positions at once: BTD → BTD.

        `may_look` is the mask that self-attention would get, B1TT or 11TT. A position that the
        last query may not look at is padding and leaves c unchanged.
        """
        forget_BTD, new_BTD = self.gated(x_BTD)
        if may_look is not None:
            padding_BT1 = ~may_look[:, 0, -1, :, None]
            forget_BTD = forget_BTD.masked_fill(padding_BT1, 1.0)
            new_BTD = new_BTD.masked_fill(padding_BT1, 0.0)
        return scan(forget_BTD, new_BTD).relu().to(x_BTD.dtype)

    def step(self, x_R1D: Tensor, past_RD: Tensor | None) -> tuple[Tensor, Tensor]:
        """y_t R1D and c_t RD of the next position.

        `past_RD` is c_{t-1}; None at the first position.
        """
        forget_R1D, new_R1D = self.gated(x_R1D)
        state_RD = new_R1D[:, 0]
        if past_RD is not None:
            state_RD = state_RD + forget_R1D[:, 0] * past_RD
        return state_RD[:, None].relu().to(x_R1D.dtype), state_RD

    def gated(self, x_BTD: Tensor) -> tuple[Tensor, Tensor]:
        """f_t and (1 - f_t) ⊙ x_t W, BTD each, in float32 or wider.

        A sum over many positions would lose too much precision in 16 bits.
        """
        dtype = torch.promote_types(x_BTD.dtype, torch.float32)
        forget_BTD = self.gate(self.W_f(x_BTD).to(dtype))
        return forget_BTD, (1 - forget_BTD) * self.W(x_BTD)


def scan(forget_BTD: Tensor, new_BTD: Tensor, longest: int | None = None) -> Tensor:
    """c_t = forget_t ⊙ c_{t-1} + new_t for all t, with c_0 = 0: BTD → BTD.

    The scan takes log₂ T rounds (Hillis & Steele 1986). Before a round, `new_BTD[:, t]` sums up
    the last `reach` positions; after the round, twice as many.

    Several sentences may stand one after another on the T axis if forget_t is 0 at the start of
    each. `longest` is then the length of the longest sentence; None means T.
    """
    length, reach = longest or forget_BTD.size(1), 1
    while reach < length:
        before_BTD = new_BTD[:, :-reach] * forget_BTD[:, reach:]
        new_BTD = torch.cat((new_BTD[:, :reach], new_BTD[:, reach:] + before_BTD), dim=1)
        kept_BTD = forget_BTD[:, :-reach] * forget_BTD[:, reach:]
        forget_BTD = torch.cat((forget_BTD[:, :reach], kept_BTD), dim=1)
        reach *= 2
    return new_BTD
