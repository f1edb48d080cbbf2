"""The recurrence: its equations, its scan against one step at a time, and what padding does."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core import masks
from allyouneed.core.simple_recurrent_unit import SimpleRecurrentUnit, scan

Loud = Callable[..., nn.Module]
B, D = 3, 8


def one_by_one(forget_BTD: Tensor, new_BTD: Tensor) -> Tensor:
    state_BD, states = torch.zeros_like(new_BTD[:, 0]), []
    for forget_BD, new_BD in zip(forget_BTD.unbind(1), new_BTD.unbind(1), strict=True):
        state_BD = forget_BD * state_BD + new_BD
        states.append(state_BD)
    return torch.stack(states, dim=1)


def gates(length: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randn(2, B, length, D, dtype=torch.float64, generator=generator)
    return numbers[0].sigmoid(), numbers[1]


@given(length=st.integers(1, 40), seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_the_scan_is_the_recurrence(length: int, seed: int) -> None:
    forget_BTD, new_BTD = gates(length, seed)
    assert_close(scan(forget_BTD, new_BTD), one_by_one(forget_BTD, new_BTD))


def test_its_gradients_are_those_of_the_recurrence() -> None:
    found = []
    for road in (scan, one_by_one):
        inputs = [tensor.requires_grad_() for tensor in gates(13, seed=0)]
        road(*inputs).square().sum().backward()
        found.append([tensor.grad for tensor in inputs])
    assert_close(found[0], found[1])


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_sentences_behind_each_other_stay_apart(lengths: list[int]) -> None:
    forget_BTD, new_BTD = gates(sum(lengths), seed=1)
    starts = [sum(lengths[:n]) for n in range(len(lengths))]
    packed_BTD = forget_BTD.clone()
    packed_BTD[:, starts] = 0
    together_BTD = scan(packed_BTD, new_BTD, max(lengths))
    for start, length in zip(starts, lengths, strict=True):
        here = slice(start, start + length)
        assert_close(together_BTD[:, here], one_by_one(forget_BTD[:, here], new_BTD[:, here]))


def test_the_equations_of_the_paper(loud: Loud) -> None:
    """Kim et al. 2019, section 3.2, written out for one component after the other."""
    unit = loud(SimpleRecurrentUnit(D)).double()
    x_TD = torch.randn(5, D, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    W, W_f, b_f = unit.W.weight, unit.W_f.weight, unit.W_f.bias
    expected = torch.zeros(5, D, dtype=torch.float64)
    for d in range(D):
        c = 0.0
        for t in range(5):
            f = 1 / (1 + torch.exp(-(W_f[d] @ x_TD[t] + b_f[d])))
            c = f * c + (1 - f) * (W[d] @ x_TD[t])
            expected[t, d] = max(0.0, c)
    assert (expected > 0).any()
    assert (expected == 0).any()
    assert_close(unit(x_TD[None])[0], expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_steps_equal_whole(loud: Loud, dtype: torch.dtype) -> None:
    unit = loud(SimpleRecurrentUnit(D)).to(dtype)
    x_BTD = torch.randn(B, 11, D, generator=torch.Generator().manual_seed(3)).to(dtype)
    state_RD, steps = None, []
    for x_R1D in x_BTD.split(1, dim=1):
        y_R1D, state_RD = unit.step(x_R1D, state_RD)
        steps.append(y_R1D)
    assert state_RD.dtype == torch.promote_types(dtype, torch.float32)
    whole_BTD = unit(x_BTD)
    assert whole_BTD.dtype == dtype
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 1e-2}[dtype]
    assert_close(torch.cat(steps, dim=1), whole_BTD, rtol=tolerance, atol=tolerance)


def test_padding_leaves_the_past_as_it_was(loud: Loud) -> None:
    unit = loud(SimpleRecurrentUnit(D)).double()
    x_BTD = torch.randn(1, 6, D, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    real = torch.tensor([[0, 1, 1, 0, 1, 1]])
    may_look = masks.padding(real, 0) & masks.causal(6)
    seen = real[0].bool()
    assert_close(unit(x_BTD, may_look)[:, seen], unit(x_BTD[:, seen]))


def test_the_gate_decides_what_is_kept() -> None:
    unit = SimpleRecurrentUnit(D)
    x_BTD = torch.randn(B, 4, D, generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        unit.W_f.weight.zero_()
        unit.W_f.bias.fill_(-50.0)  # nothing is kept of the past
        assert_close(unit(x_BTD), unit.W(x_BTD).relu())
        unit.W_f.bias.fill_(50.0)  # nothing is taken in
        assert_close(unit(x_BTD), torch.zeros(B, 4, D))
