import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from allyouneed.core.dropout import Dropout

SIZE = 200_000


def dropped_ones(rate: float, seed: int = 0, size: int = SIZE) -> torch.Tensor:
    torch.manual_seed(seed)
    return Dropout(rate)(torch.ones(size))


def within_five_sigma(share: float, rate: float, size: int) -> bool:
    return abs(share - rate) < 5 * (rate * (1 - rate) / size) ** 0.5 + 2**-17


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.5, 0.9])
def test_the_rate_is_the_share_of_zeros(rate: float) -> None:
    zeros = dropped_ones(rate) == 0
    assert within_five_sigma(zeros.float().mean().item(), rate, SIZE)
    for lane in range(4):  # four draws are cut out of one random number: none may be special
        share = zeros[lane::4].float().mean().item()
        assert within_five_sigma(share, rate, SIZE // 4)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_neighbours_are_independent(rate: float) -> None:
    zeros = dropped_ones(rate, seed=1) == 0
    for distance in (1, 2, 3, 4, 5, 8):
        both = (zeros[:-distance] & zeros[distance:]).float().mean().item()
        assert within_five_sigma(both, rate**2, SIZE)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.9])
def test_the_expected_value_stays(rate: float) -> None:
    result = dropped_ones(rate, seed=2)
    kept = result[result != 0]
    assert_close(kept, torch.full_like(kept, 1 / (1 - rate)), rtol=1e-3, atol=0)
    assert result.mean().item() == pytest.approx(1.0, abs=5 * (rate / (1 - rate) / SIZE) ** 0.5)


@given(
    shape=st.lists(st.integers(0, 7), max_size=4).map(tuple),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.float16]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40, deadline=None)
def test_any_shape_and_type(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> None:
    torch.manual_seed(seed)
    x = torch.rand(shape).to(dtype) + 1
    result = Dropout(0.25)(x)
    assert result.shape == x.shape
    assert result.dtype == dtype
    tolerance = 4 * torch.finfo(dtype).eps + 1e-4
    assert_close(result, torch.where(result == 0, 0, x / 0.75), rtol=tolerance, atol=0)


def test_transposed_input() -> None:
    x = torch.rand(5, 7).T + 1
    result = Dropout(0.5)(x)
    assert_close(result, torch.where(result == 0, 0, 2 * x))
    assert 0 < (result == 0).sum() < 35


def test_identity_while_not_training_and_at_rate_zero() -> None:
    x = torch.randn(3, 4)
    assert Dropout(0.9).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_the_gradient_goes_through_the_same_mask() -> None:
    x = torch.rand(1001, requires_grad=True)
    result = Dropout(0.3)(x)
    (gradient,) = torch.autograd.grad(result.sum(), x)
    assert_close(gradient * x, result)
    assert 200 < (gradient == 0).sum() < 400


def test_the_seed_decides() -> None:
    assert torch.equal(dropped_ones(0.3, seed=4), dropped_ones(0.3, seed=4))
    assert not torch.equal(dropped_ones(0.3, seed=4), dropped_ones(0.3, seed=5))


def test_a_rate_next_to_one_drops_nearly_all() -> None:
    result = dropped_ones(0.999999, size=1000)
    assert result.isfinite().all()
    assert (result == 0).sum() > 990


def test_the_least_rate_is_exact() -> None:
    """One draw in 65,536, neither none nor two."""
    size = 2**23
    dropped = int((dropped_ones(2**-16, size=size) == 0).sum())
    assert abs(dropped - size / 2**16) < 5 * (size / 2**16) ** 0.5
