import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from allyouneed.core.positions import LearnedPositions, Rotary, TablePositions, sinusoidal_encoding
from allyouneed.errors import ShapeError

QUICK = settings(max_examples=25, deadline=None)


def test_the_worked_example() -> None:
    """As one document has it: d_model 4, position 0 → 0 1 0 1, then the formula at position 1."""
    table = sinusoidal_encoding(2, 4)
    assert table[0].tolist() == [0.0, 1.0, 0.0, 1.0]
    angles = [1 / 10000 ** (0 / 4), 1 / 10000 ** (2 / 4)]
    first, second = ([math.sin(angle), math.cos(angle)] for angle in angles)
    assert table[1].tolist() == pytest.approx(first + second)


def test_position_zero_in_twenty_dimensions() -> None:
    assert sinusoidal_encoding(500, 20)[0].tolist() == [0.0, 1.0] * 10


@given(position=st.integers(0, 1023), i=st.integers(0, 31))
@QUICK
def test_every_entry_is_the_formula(position: int, i: int) -> None:
    table = sinusoidal_encoding(1024, 64)
    angle = position / 10000 ** (2 * i / 64)
    assert table.shape == (1024, 64)
    assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-7)
    assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-7)


@given(position=st.integers(0, 500), k=st.integers(0, 500))
@QUICK
def test_a_shift_is_a_rotation(position: int, k: int) -> None:
    """PE(pos + k) = M_k PE(pos): M_k turns pair i by the angle k · ω_i, whatever pos is."""
    width = 16
    table = sinusoidal_encoding(1001, width)
    angle_P = k * 10000.0 ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)
    turn = torch.zeros(width, width, dtype=torch.float64)
    for i, angle in enumerate(angle_P):
        cos, sin = angle.cos(), angle.sin()
        turn[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[cos, sin], [-sin, cos]])
    assert_close(turn @ table[position].double(), table[position + k].double(), atol=1e-6, rtol=0)


def shift_error(table: Tensor, k: int) -> float:
    """How far the best 2 × 2 map from each pair of PE(pos) to that of PE(pos + k) falls short."""
    worst = 0.0
    for pair in table.double().split(2, dim=1):
        before, after = pair[:-k], pair[k:]
        best = torch.linalg.lstsq(before, after, driver="gelsd").solution
        worst = max(worst, (before @ best - after).abs().max().item())
    return worst


def test_positions_as_seed_004_writes_them_are_not_linear() -> None:
    # Its slips: 1000 for 10000, the exponent doubled (2·i where i steps by two already), and sine
    # for the odd dimensions too, which is what costs the property: a sine alone cannot be shifted.
    width = 16
    wrong = torch.tensor(
        [[math.sin(pos / 1000 ** (2 * i / width)) for i in range(width)] for pos in range(200)]
    )
    right = sinusoidal_encoding(200, width)
    assert wrong[0].tolist() == [0.0] * width
    assert shift_error(wrong, k=7) > 0.1
    assert shift_error(right, k=7) < 1e-5


def test_an_odd_width_leaves_a_sine_alone() -> None:
    with pytest.raises(ShapeError, match="d_model=5 must be even"):
        sinusoidal_encoding(3, 5)


def test_a_table_is_looked_up_and_travels_only_when_stored() -> None:
    table = torch.randn(6, 4)
    positions_BT = torch.tensor([[0, 1, 2], [5, 5, 0]])
    for stored in (True, False):
        part = TablePositions(table, stored=stored)
        assert torch.equal(part(positions_BT), table[positions_BT])
        assert list(part.state_dict()) == ["table"] * stored
        assert not list(part.parameters())
    assert TablePositions(table).to(torch.float64).table.dtype == torch.float64


def test_learned_positions_learn() -> None:
    part = LearnedPositions(6, 4)
    part(torch.tensor([[1, 3]])).sum().backward()
    assert part.weight.grad is not None
    assert part.weight.grad.sum(1).tolist() == [0, 4, 0, 4, 0, 0]


@given(seed=st.integers(0, 1000), here=st.integers(0, 40), there=st.integers(0, 40))
@QUICK
def test_rotated_products_depend_on_the_distance_alone(seed: int, here: int, there: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 1, 1, 1, 8, generator=generator)
    rotary = Rotary(8, 100)
    product = (rotary(q, here) * rotary(k, there)).sum()
    shifted = (rotary(q, here + 50) * rotary(k, there + 50)).sum()
    assert_close(product, shifted, atol=1e-4, rtol=1e-4)
    assert_close(rotary(q, here).norm(), q.norm())


def test_rotary_turns_pairs_by_the_sinusoids_angles() -> None:
    x = torch.tensor([1.0, 0.0, 1.0, 0.0]).expand(1, 1, 3, 4)
    turned = Rotary(4, 3)(x)
    cos_then_sin = sinusoidal_encoding(3, 4).view(3, 2, 2).flip(-1).flatten(1)
    assert_close(turned[0, 0], cos_then_sin)


def test_rotary_differs_by_distance() -> None:
    x = torch.ones(1, 1, 1, 8)
    rotary = Rotary(8, 10)
    products = [float((rotary(x, 0) * rotary(x, step)).sum()) for step in range(10)]
    assert len({round(product, 3) for product in products}) == 10


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rotary_rounds_once(dtype: torch.dtype) -> None:
    """Angles stay in float32; only the result is rounded."""
    x = torch.randn(1, 2, 50, 8).to(dtype)
    rotary = Rotary(8, 50)
    assert rotary(x).dtype == dtype
    assert torch.equal(rotary(x), rotary(x.float()).to(dtype))


def test_rotary_offset_is_where_the_first_row_stands() -> None:
    x = torch.randn(2, 3, 9, 8)
    rotary = Rotary(8, 9)
    whole = rotary(x)
    for step in range(9):
        assert_close(rotary(x[:, :, step : step + 1], step), whole[:, :, step : step + 1])
