"""Products with weights and their gradients, by torch or by native kernels.

P positions · D input width · O output width
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.overrides import TorchFunctionMode

from allyouneed.training.cpu.blocks import BlockWeight, Unit, best_unit

LEAST = 32  # positions: other numbers make products in bfloat16 slower


def filled(positions: int) -> int:
    """The number of positions including padding: a multiple of 32, with at most a sixteenth of
    padding for large numbers.

    Padding limits the number of different batch sizes. torch compiles a bfloat16 product for each
    size in some milliseconds, and keeps at most a thousand of these.
    """
    group = LEAST
    while group * 32 <= positions:
        group *= 2
    return -(-positions // group) * group


class TorchWeight:
    """A weight OD with the methods of `BlockWeight`, computed by torch in the weight's dtype."""

    def __init__(self, weight_OD: Tensor) -> None:
        self._weight_OD = weight_OD

    def forward(self, x_PD: Tensor, out: Tensor | None = None) -> Tensor:
        """x Wᵀ, PO."""
        return torch.mm(x_PD, self._weight_OD.T, out=out)

    def backward(self, grad_PO: Tensor) -> Tensor:
        """g W, the gradient of x, PD."""
        return grad_PO @ self._weight_OD

    def gradient(self, grad_PO: Tensor, x_PD: Tensor) -> Tensor:
        """gᵀ x, the gradient of W, OD."""
        return grad_PO.T @ x_PD


def prepared(
    kernels: ctypes.CDLL | None, weight_OD: Tensor, dtype: torch.dtype
) -> TorchWeight | BlockWeight:
    """The weight for products in this dtype, with the fastest implementation of this machine."""
    if kernels and dtype == torch.bfloat16 and (unit := best_unit(kernels)):
        return BlockWeight(kernels, weight_OD, unit)
    return TorchWeight(weight_OD.to(dtype))


class FastProjections(TorchFunctionMode):
    """A context in which linear layers compute bfloat16 inputs PD on the unit.

    The product is exchanged by a mode, and not handed in as a part, for this reason: the packed
    road calls the modules of `core` as they are, and these hold plain `nn.Linear` layers. A product
    as a part would need a parameter for training on CPUs in every constructor of `core`; exchanged
    layers would change the model while it is trained. The context covers one forward pass of one
    model, and touches no other function and no other input.
    """

    def __init__(self, kernels: ctypes.CDLL, unit: Unit) -> None:
        super().__init__()
        self._kernels, self._unit = kernels, unit

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Calls the function, or for linear layers its replacement."""
        if function is nn.functional.linear:
            function = self._linear
        return function(*args, **(kwargs or {}))

    def _linear(self, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if input.dtype != torch.bfloat16 or input.dim() != 2:
            return nn.functional.linear(input, weight, bias)
        return _Projection.apply(self._kernels, self._unit, input, weight, bias)  # type: ignore[no-any-return,no-untyped-call]


class _Projection(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        kernels: ctypes.CDLL,
        unit: Unit,
        x_PD: Tensor,
        weight_OD: Tensor,
        bias_O: Tensor | None,
    ) -> Tensor:
        ctx.save_for_backward(x_PD, weight_OD)
        ctx.by = kernels, unit
        return BlockWeight(kernels, weight_OD, unit).forward(x_PD, bias_O)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_PO: Tensor) -> tuple[Tensor | None, ...]:
        x_PD, weight_OD = ctx.saved_tensors
        kernels, unit = ctx.by
        weight = BlockWeight(kernels, weight_OD, unit)
        *_, of_x, of_weight, of_bias = ctx.needs_input_grad
        grad_x_PD = weight.backward(grad_PO) if of_x else None
        grad_OD = grad_O = None
        if of_weight or of_bias:
            grad_OD, grad_O = weight.gradients(grad_PO, x_PD)
        return None, None, grad_x_PD, grad_OD if of_weight else None, grad_O if of_bias else None
