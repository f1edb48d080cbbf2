"""Products of matrices in bfloat16 whose gradients come at full speed on a CPU.

torch's products run at half their speed where the first factor's columns lie apart, as in a
weight's gradient xᵀ g: here the narrower factor is turned first.

P positions · D width of what goes in · O width of what comes out
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.overrides import TorchFunctionMode

from allyouneed.training.kernels import address, is_bf16

LEAST = 32  # positions: odd numbers slow products in bfloat16 down


def filled(positions: int) -> int:
    """How many there are with those that fill up: at most a sixteenth of them, or whole groups of
    32.

    Batches have few different sizes so: torch's products are compiled for each one anew, in some
    milliseconds (and for a thousand sizes of matrices at most).
    """
    group = LEAST
    while group * 32 <= positions:
        group *= 2
    return -(-positions // group) * group


class FastProjections(TorchFunctionMode):
    """Within it, linear layers that get bfloat16 numbers PD have the gradients from here."""

    def __init__(self, kernels: ctypes.CDLL) -> None:
        super().__init__()
        self._kernels = kernels

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Calls the function, or what takes its place."""
        if function is nn.functional.linear:
            function = self._linear
        return function(*args, **(kwargs or {}))

    def _linear(self, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if input.dtype != torch.bfloat16 or input.dim() != 2:
            return nn.functional.linear(input, weight, bias)
        return _Projection.apply(self._kernels, input, weight, bias)  # type: ignore[no-any-return,no-untyped-call]


def transposed(kernels: ctypes.CDLL | None, x_PD: Tensor) -> Tensor:
    """DP: rows and columns exchanged, its rows without gaps in memory."""
    if kernels is None:
        return x_PD.T.contiguous()
    return _transpose_into(x_PD.new_empty(x_PD.shape[::-1]), kernels, x_PD)


def by_columns(kernels: ctypes.CDLL | None, x_PD: Tensor) -> Tensor:
    """xᵀ as a product takes it at full speed."""
    if kernels is None or x_PD.dtype != torch.bfloat16:
        return x_PD.T
    return transposed(kernels, x_PD)


def _transpose_into(x_DP: Tensor, kernels: ctypes.CDLL, x_PD: Tensor) -> Tensor:
    x_PD = x_PD.contiguous()
    kernels.ayt_transpose(is_bf16(x_PD), address(x_PD), *x_PD.shape, address(x_DP))
    return x_DP


class _Projection(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, kernels: ctypes.CDLL, x_PD: Tensor, weight_OD: Tensor, bias_O: Tensor | None
    ) -> Tensor:
        narrow_OD = weight_OD.to(x_PD.dtype)
        ctx.save_for_backward(x_PD, narrow_OD)
        ctx.kernels, ctx.dtype = kernels, weight_OD.dtype
        if bias_O is None:
            return x_PD @ narrow_OD.T
        return torch.addmm(bias_O.to(x_PD.dtype), x_PD, narrow_OD.T)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_PO: Tensor) -> tuple[Tensor | None, ...]:
        x_PD, narrow_OD = ctx.saved_tensors
        _, of_x, of_weight, of_bias = ctx.needs_input_grad
        gradients: tuple[Tensor | None, ...] = (None, None)
        if of_weight or of_bias:
            gradients = _of_weight_and_bias(ctx.kernels, grad_PO, x_PD, of_bias)
        wide = (None if one is None else one.to(ctx.dtype) for one in gradients)
        return None, grad_PO @ narrow_OD if of_x else None, *wide


def _of_weight_and_bias(
    kernels: ctypes.CDLL, grad_PO: Tensor, x_PD: Tensor, bias: bool
) -> tuple[Tensor, Tensor | None]:
    """gᵀ x, OD, and the sum of g, O. The narrower of g and x is turned."""
    positions, width = x_PD.shape
    if width > grad_PO.size(1):
        return transposed(kernels, grad_PO) @ x_PD, grad_PO.sum(dim=0) if bias else None
    x_DP = x_PD.new_empty(width + bias, positions)
    _transpose_into(x_DP, kernels, x_PD)
    if not bias:
        return transposed(kernels, x_DP @ grad_PO), None
    x_DP[width] = 1.0  # the sum, by the same product
    both = x_DP @ grad_PO
    return transposed(kernels, both[:width]), both[width]
