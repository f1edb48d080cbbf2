"""Products with weights and their gradients, by torch or by native kernels.

P positions · D input width · O output width
"""

import ctypes
from collections.abc import Sequence
from copy import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

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


class Projector:
    """Computes linear layers on a unit. Inputs PD in bfloat16 go to the unit, all others to torch.

    The layers are a model's own: the projector reads their weights and biases at each call.
    """

    def __init__(self, kernels: ctypes.CDLL, unit: Unit) -> None:
        self._kernels, self._unit = kernels, unit

    def __call__(self, x_PD: Tensor, *layers: nn.Linear) -> Tensor:
        """The results of the layers side by side, by one product."""
        weights = [layer.weight for layer in layers]
        biases = [layer.bias for layer in layers if layer.bias is not None]
        weight_OD, bias_O = _joined(weights), _joined(biases) if biases else None
        if self._unit and x_PD.dtype == torch.bfloat16:
            return _Projection.apply(self._kernels, self._unit, x_PD, weight_OD, bias_O)  # type: ignore[no-any-return,no-untyped-call]
        return nn.functional.linear(x_PD, weight_OD, bias_O)

    def stand_in(self, module: nn.Module) -> nn.Module:
        """A module that computes what `module` computes, with its linear layers on the unit.

        All weights, and all other layers inside, are the module's own. The module is not changed.
        """
        if isinstance(module, nn.Linear):
            return _ProjectedLayer(self, module)
        inside = {name: self.stand_in(child) for name, child in module.named_children()}
        if all(inside[name] is child for name, child in module.named_children()):
            return module
        other = copy(module)
        other._modules = dict(inside)
        return other


class _ProjectedLayer(nn.Module):
    """A linear layer, computed by a projector."""

    def __init__(self, projector: Projector, layer: nn.Linear) -> None:
        super().__init__()
        self._projector = projector
        self._layer = layer

    def forward(self, x_PD: Tensor) -> Tensor:
        return self._projector(x_PD, self._layer)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return tensors[0] if len(tensors) == 1 else torch.cat(tuple(tensors))


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
