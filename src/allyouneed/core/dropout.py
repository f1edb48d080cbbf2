"""Dropout (Srivastava et al. 2014), as section 5.4 applies it."""

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Zeroes each element with probability `rate` in training and divides the rest by 1 - rate.

    The distribution is that of `torch.nn.Dropout`; the rate is rounded to a multiple of 2⁻¹⁶. On
    a CPU most of the time goes into random numbers, so each 64-bit random number is cut into four
    16-bit draws.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """A tensor of any shape → a tensor of the same shape."""
        if not self.training or self.rate == 0.0:
            return x
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.rate)
        dropped = min(round(self.rate * 2**16), 2**16 - 1)
        draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
        noise = draws.view(torch.int16)[: x.numel()].view(x.shape)
        keep = (noise >= dropped - 2**15).to(x.dtype)
        return x * keep.mul_(2**16 / (2**16 - dropped))

    def extra_repr(self) -> str:
        return f"rate={self.rate}"
