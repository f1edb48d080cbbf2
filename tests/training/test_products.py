"""Gradients of linear layers by native kernels are torch's own."""

import ctypes

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.training.products import LEAST, FastProjections, filled, transposed


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 1), (1, 70), (16, 16), (17, 33), (500, 37), (129, 260)])
def test_rows_and_columns_are_exchanged(
    kernels: ctypes.CDLL, shape: tuple[int, int], dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    x_PD = torch.randn(shape).to(dtype)
    assert torch.equal(transposed(kernels, x_PD), x_PD.T)
    assert torch.equal(transposed(kernels, x_PD.T), x_PD)
    assert transposed(kernels, x_PD).is_contiguous()
    assert torch.equal(transposed(None, x_PD), x_PD.T)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("narrow", "wide"), [(24, 24), (24, 40), (40, 24)])
def test_gradients_are_torchs(kernels: ctypes.CDLL, narrow: int, wide: int, bias: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(narrow, wide, bias=bias)
    x_PD = torch.randn(96, narrow).bfloat16().requires_grad_()
    grad_PO = torch.randn(96, wide).bfloat16()

    def outcome() -> list[Tensor]:
        with torch.autocast("cpu", torch.bfloat16):
            y_PO = layer(x_PD)
        return [y_PO, *torch.autograd.grad(y_PO, [x_PD, *layer.parameters()], grad_PO)]

    theirs = outcome()
    with FastProjections(kernels):
        ours = outcome()
    assert ours[0].grad_fn.name() == "_ProjectionBackward"  # type: ignore[union-attr]
    assert_close(ours, theirs, rtol=0.01, atol=1e-3)


def test_what_is_frozen_has_no_gradient(kernels: ctypes.CDLL) -> None:
    layer = nn.Linear(4, 5).bfloat16()
    layer.weight.requires_grad_(False)
    x_PD = torch.randn(3, 4).bfloat16()
    with FastProjections(kernels):
        layer(x_PD).sum().backward()
        assert layer.weight.grad is None
        assert layer.bias.grad.tolist() == [3.0] * 5
        layer.bias.requires_grad_(False)
        layer(x_PD.requires_grad_()).sum().backward()
    assert_close(x_PD.grad, layer.weight.sum(dim=0).expand(3, 4))


def test_the_rest_is_left_to_torch(kernels: ctypes.CDLL) -> None:
    layer = nn.Linear(4, 5)
    with FastProjections(kernels):
        wide_PO = layer(torch.ones(3, 4))
        batch_BPO = layer.bfloat16()(torch.ones(2, 3, 4).bfloat16())
        named_PO = nn.functional.linear(torch.ones(3, 4).bfloat16(), weight=layer.weight)
    assert wide_PO.grad_fn.name() == "AddmmBackward0"
    assert "_Projection" not in batch_BPO.grad_fn.name()
    assert named_PO.grad_fn.name() == "_ProjectionBackward"


@given(st.integers(0, 1 << 20))
def test_few_rows_fill_up(positions: int) -> None:
    rows = filled(positions)
    assert rows % LEAST == 0
    assert 0 <= rows - positions < max(LEAST, positions / 16 + 1)


def test_batches_of_about_a_size_have_few_sizes() -> None:
    sizes = {filled(positions) for positions in range(3000, 4096)}
    assert len(sizes) <= 16
