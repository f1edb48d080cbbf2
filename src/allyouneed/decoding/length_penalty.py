"""Length penalties: a hypothesis Y is ranked by log P(Y | X) / lp(Y).

|Y| is the number of tokens of the hypothesis, including its end token.
"""

from dataclasses import dataclass
from typing import Protocol

from allyouneed.errors import UsageError


class LengthPenalty(Protocol):
    """lp(Y) as a function of |Y|, for |Y| of at least 1.

    The function must be monotonic. The "exact" stopping rule of beam search evaluates it at the
    shortest and the longest remaining length only.
    """

    def __call__(self, length: int, /) -> float:
        """lp(Y) for |Y| = length. It must be above zero."""


@dataclass(frozen=True, slots=True)
class Wu:
    """lp(Y) = (5 + |Y|)^α / (5 + 1)^α (Wu et al. 2016, equation 14).

    The paper's section 6.1 uses α = 0.6. A larger α favours longer translations; α = 0 is no
    penalty.

    Raises:
        UsageError: α is not a number from 0 to 100.
    """

    alpha: float = 0.6

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, int | float) or not 0.0 <= self.alpha <= 100.0:
            raise UsageError(f"length penalty alpha={self.alpha!r} must be 0 to 100, such as 0.6")

    def __call__(self, length: int) -> float:
        return float(((5 + length) / 6) ** self.alpha)


@dataclass(frozen=True, slots=True)
class Average:
    """Plain length normalisation, lp(Y) = |Y|: ranks by the mean log-probability of a token."""

    def __call__(self, length: int) -> float:
        return float(length)


@dataclass(frozen=True, slots=True)
class NoPenalty:
    """lp(Y) = 1: ranks by log-probability alone, which favours short translations."""

    def __call__(self, length: int) -> float:
        return 1.0
