"""The loss: the formula, torch's own, and the fused road agree in value and in every gradient."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.training import loss as loss_module
from allyouneed.training.loss import fused_loss, label_smoothed_loss, r_drop_loss

PAD, D, V = 0, 6, 11


def example(
    positions: int, *, bias: bool = True, dtype: torch.dtype = torch.float32, seed: int = 0
) -> tuple[Tensor, nn.Linear, Tensor]:
    """States, a projection with logits of deviation about 2, and labels of which some are pad."""
    torch.manual_seed(seed)
    output = nn.Linear(D, V, bias=bias, dtype=dtype)
    nn.init.normal_(output.weight)
    states_PD = torch.randn(positions, D, dtype=dtype, requires_grad=True)
    labels_P = torch.randint(1, V, (positions,))
    labels_P[::4] = PAD
    return states_PD, output, labels_P


def gradients(loss: Tensor, states_PD: Tensor, output: nn.Linear) -> list[Tensor]:
    leaves = [states_PD, *output.parameters()]
    return list(torch.autograd.grad(loss, leaves))


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(loss_module._FusedLoss, "CHUNK", 4)
    return 4


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_formula_is_torchs(smoothing: float) -> None:
    states_PD, output, labels_P = example(9)
    logits_PV = output(states_PD)
    theirs = nn.functional.cross_entropy(
        logits_PV, labels_P, ignore_index=PAD, label_smoothing=smoothing, reduction="sum"
    )
    assert_close(label_smoothed_loss(logits_PV, labels_P, smoothing, PAD), theirs)


def test_epsilon_is_spread_over_the_whole_vocabulary() -> None:
    """By hand: the true token keeps 1 - ε + ε/V, every other one gets ε/V."""
    logits_PV = torch.tensor([[0.0, math.log(2), math.log(5)]])  # probabilities 1/8, 2/8, 5/8
    epsilon = 0.3
    target = [epsilon / 3, epsilon / 3, 1 - epsilon + epsilon / 3]
    by_hand = -sum(q * math.log(p / 8) for q, p in zip(target, (1, 2, 5), strict=True))
    found = label_smoothed_loss(logits_PV, torch.tensor([2]), epsilon, PAD)
    assert float(found) == pytest.approx(by_hand, rel=1e-6)
    identity = nn.Linear(3, 3, bias=False)
    nn.init.eye_(identity.weight)
    fused = fused_loss(logits_PV, identity, torch.tensor([2]), epsilon, PAD)
    assert float(fused.detach()) == pytest.approx(by_hand, rel=1e-6)


@given(
    positions=st.integers(1, 13),
    smoothing=st.sampled_from([0.0, 0.1, 0.5]),
    bias=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_fused_equals_formula_over_any_number_of_chunks(
    positions: int, smoothing: float, bias: bool, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loss_module._FusedLoss, "CHUNK", 4)
        states_PD, output, labels_P = example(positions, bias=bias, seed=seed)
        fused = fused_loss(states_PD, output, labels_P, smoothing, PAD)
        written = label_smoothed_loss(output(states_PD), labels_P, smoothing, PAD)
        assert_close(fused, written)
        # as the loop does it: a share of the loss is what goes backward
        ours = gradients(fused / 7, states_PD, output)
        theirs = gradients(written / 7, states_PD, output)
    assert_close(ours, theirs)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("r_drop", [0.0, 5.0])
def test_fused_gradients_are_those_of_finite_differences(
    smoothing: float, bias: bool, r_drop: float
) -> None:
    states_PD, output, labels_P = example(10, bias=bias, dtype=torch.float64)
    if r_drop:
        labels_P = labels_P[:5]

    def loss(states_PD: Tensor, *weights: Tensor) -> Any:
        names = [name for name, _ in output.named_parameters()]
        layer = nn.Linear(D, V, bias=bias, dtype=torch.float64)
        for name, weight in zip(names, weights, strict=True):
            delattr(layer, name)
            setattr(layer, name, weight)
        return fused_loss(states_PD, layer, labels_P, smoothing, PAD, r_drop)

    assert torch.autograd.gradcheck(loss, (states_PD, *output.parameters()))


def test_r_drop_is_the_papers_formula_halved() -> None:
    """By hand, position by position: equation 4, and the means of equations 2 and 3."""
    states_PD, output, labels_P = example(6)
    p, q = output(states_PD).detach().view(2, 3, V).softmax(dim=-1)
    labels_P, alpha = torch.tensor([5, PAD, 1]), 5.0
    by_hand = 0.0
    for one, other, label in zip(p, q, labels_P, strict=True):
        if label != PAD:
            log = [math.log(one[label]), math.log(other[label])]
            divergence = sum(
                float(a * math.log(a / b) + b * math.log(b / a)) / 2
                for a, b in zip(one, other, strict=True)
            )
            by_hand += (-log[0] - log[1] + alpha * divergence) / 2
    found = r_drop_loss(output(states_PD).view(2, 3, V), labels_P, 0.0, alpha, PAD)
    assert float(found.detach()) == pytest.approx(by_hand, rel=1e-5)


@given(
    positions=st.integers(1, 9),
    smoothing=st.sampled_from([0.0, 0.1]),
    alpha=st.sampled_from([0.5, 5.0]),
    bias=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_fused_r_drop_equals_formula_over_any_number_of_chunks(
    positions: int, smoothing: float, alpha: float, bias: bool, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loss_module._FusedLoss, "CHUNK", 4)
        states_PD, output, labels_P = example(2 * positions, bias=bias, seed=seed)
        labels_P = labels_P[positions:]
        fused = fused_loss(states_PD, output, labels_P, smoothing, PAD, alpha)
        logits_2PV = output(states_PD).unflatten(0, (2, positions))
        written = r_drop_loss(logits_2PV, labels_P, smoothing, alpha, PAD)
        assert_close(fused, written)
        ours = gradients(fused / 7, states_PD, output)
        theirs = gradients(written / 7, states_PD, output)
    assert_close(ours, theirs)


def test_passes_that_agree_cost_what_one_does() -> None:
    states_PD, output, labels_P = example(8)
    plain = fused_loss(states_PD, output, labels_P, 0.1, PAD)
    twice_PD = states_PD.detach().repeat(2, 1).requires_grad_()
    twice = fused_loss(twice_PD, output, labels_P, 0.1, PAD, 5.0)
    assert_close(twice, plain)
    assert_close(gradients(twice, twice_PD, output)[1], gradients(plain, states_PD, output)[1])


def test_padding_has_no_part_in_it() -> None:
    states_PD, output, labels_P = example(8)
    fused = fused_loss(states_PD, output, labels_P, 0.1, PAD)
    (grad_PD,) = torch.autograd.grad(fused, [states_PD])
    assert (labels_P == PAD).any()
    assert torch.equal((grad_PD == 0).all(dim=-1), labels_P == PAD)
    with torch.no_grad():
        states_PD[labels_P == PAD] = 1e4
    assert_close(fused_loss(states_PD, output, labels_P, 0.1, PAD), fused)
    nothing = fused_loss(states_PD, output, torch.full_like(labels_P, PAD), 0.1, PAD)
    assert float(nothing.detach()) == 0.0
    assert all(not grad.any() for grad in gradients(nothing, states_PD, output))


def test_large_logits_stay_finite() -> None:
    states_PD, output, labels_P = example(8)
    fused = fused_loss(states_PD * 1e4, output, labels_P, 0.1, PAD)
    assert math.isfinite(fused.detach())
    assert_close(fused, label_smoothed_loss(output(states_PD * 1e4), labels_P, 0.1, PAD))
    twice = fused_loss(states_PD * 1e4, output, labels_P[:4], 0.1, PAD, 5.0)
    assert math.isfinite(twice.detach())
    grads = torch.autograd.grad(twice, [states_PD, output.weight])
    assert all(grad.isfinite().all() for grad in grads)


@pytest.mark.usefixtures("small_chunks")
def test_bf16_products_keep_float32_sums() -> None:
    states_PD, output, labels_P = example(400)
    exact = fused_loss(states_PD, output, labels_P, 0.1, PAD)
    with torch.autocast("cpu", torch.bfloat16):
        narrow = fused_loss(states_PD, output, labels_P, 0.1, PAD)
    assert narrow.dtype == torch.float32
    assert narrow != exact  # it was narrow indeed
    assert_close(narrow, exact, rtol=1e-3, atol=0.0)
    for ours, theirs in zip(
        gradients(narrow / 300, states_PD, output),
        gradients(exact / 300, states_PD, output),
        strict=True,
    ):
        assert ours.dtype == torch.float32
        # bfloat16 keeps 8 bits: 2⁻⁸ of error, on a sum over terms of either sign
        assert float((ours - theirs).norm() / theirs.norm()) < 0.01


def test_the_share_of_the_loss_is_not_rounded_to_bf16() -> None:
    """1/300 in bfloat16 is off by 0.2 %, which would scale every gradient below the projection."""
    states_PD, output, labels_P = example(400)
    with torch.autocast("cpu", torch.bfloat16):
        whole, part = (fused_loss(states_PD, output, labels_P, 0.1, PAD) for _ in range(2))
    (whole_PD,) = torch.autograd.grad(whole, [states_PD])
    (part_PD,) = torch.autograd.grad(part / 300, [states_PD])
    share = float((part_PD.double() * whole_PD).sum() / (whole_PD.double() ** 2).sum())
    assert share == pytest.approx(1 / 300, rel=1e-3)


def test_the_pad_label_may_lie_outside_the_vocabulary() -> None:
    states_PD, output, labels_P = example(9)
    elsewhere_P = labels_P.masked_fill(labels_P == PAD, -100)
    wanted = label_smoothed_loss(output(states_PD), labels_P, 0.1, PAD)
    assert_close(label_smoothed_loss(output(states_PD), elsewhere_P, 0.1, -100), wanted)
    assert_close(fused_loss(states_PD, output, elsewhere_P, 0.1, -100), wanted)
