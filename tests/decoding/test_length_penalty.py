"""Length penalties against values worked out by hand."""

import pytest

from allyouneed.decoding.length_penalty import Average, NoPenalty, Wu
from allyouneed.errors import UsageError


def test_wu_is_equation_14() -> None:
    assert Wu(0.6)(1) == 1.0  # (5 + 1)^0.6 / 6^0.6
    assert Wu(0.6)(25) == pytest.approx(30**0.6 / 6**0.6)
    assert Wu(1.0)(7) == pytest.approx(2.0)
    assert Wu()(25) == Wu(0.6)(25)


def test_wu_with_alpha_0_is_no_penalty() -> None:
    assert [Wu(0.0)(n) for n in (1, 5, 80)] == [NoPenalty()(n) for n in (1, 5, 80)] == [1, 1, 1]


def test_average_divides_by_the_number_of_tokens() -> None:
    assert [Average()(n) for n in (1, 2, 9)] == [1, 2, 9]


@pytest.mark.parametrize("alpha", [-0.1, 1000.0, float("nan"), float("inf")])
def test_an_alpha_that_makes_no_sense_is_refused(alpha: float) -> None:
    with pytest.raises(UsageError, match=r"alpha=.* must be 0 to 100"):
        Wu(alpha)
