"""Products of matrices in bfloat16 with native kernels, on Intel's matrix unit (AMX) or with
AVX-512's dot products.

Factors are packed: cut into blocks in the order in which the kernels read them. Sums are float32.
torch gives each core an equal part of a product and waits for the slowest core; these kernels give
the next part to the core that is free.

P positions · D input width · O output width
"""

import ctypes
from enum import IntEnum
from functools import cached_property

import torch
from torch import Tensor

from allyouneed.errors import ShapeError
from allyouneed.training.cpu.kernels import ProductCall, address, is_bf16, run

BLOCK = 32  # rows and columns of a block


class Unit(IntEnum):
    """The units of a processor that can multiply bfloat16 matrices."""

    NONE = 0  # the processor has no unit that the kernels support
    VECTORS = 1
    TILES = 2


def best_unit(kernels: ctypes.CDLL) -> Unit:
    """The fastest unit of this machine."""
    return Unit(kernels.ayt_best_unit())


class BlockWeight:
    """A weight OD, in float32 or bfloat16, and its products in a training step, computed on `unit`.

    The methods raise ShapeError if the other factor has the wrong shape or is not bfloat16.
    """

    def __init__(self, kernels: ctypes.CDLL, weight_OD: Tensor, unit: Unit) -> None:
        self._kernels = kernels
        self._weight_OD = weight_OD
        self._unit = unit

    def forward(
        self, x_PD: Tensor, bias_O: Tensor | None = None, out: Tensor | None = None
    ) -> Tensor:
        """x Wᵀ + b, PO in bfloat16."""
        outputs, inputs = self._weight_OD.shape
        x_PD = _checked(x_PD, len(x_PD), inputs)
        if out is None:
            out = x_PD.new_empty(len(x_PD), outputs)
        return self._multiply(x_PD, self._right_DO, out, bias=bias_O)

    def backward(self, grad_PO: Tensor) -> Tensor:
        """g W, the gradient of x, PD in bfloat16."""
        outputs, inputs = self._weight_OD.shape
        grad_PO = _checked(grad_PO, len(grad_PO), outputs)
        out_PD = grad_PO.new_empty(len(grad_PO), inputs)
        return self._multiply(grad_PO, self._right_OD, out_PD)

    def gradient(self, grad_PO: Tensor, x_PD: Tensor) -> Tensor:
        """gᵀ x, the gradient of W, OD in float32."""
        return self.gradients(grad_PO, x_PD)[0]

    def gradients(self, grad_PO: Tensor, x_PD: Tensor) -> tuple[Tensor, Tensor]:
        """The gradient of W, and the gradient of a bias: the sum of g over P, O in float32."""
        outputs, inputs = self._weight_OD.shape
        x_PD = _checked(x_PD, len(x_PD), inputs)
        grad_PO = _checked(grad_PO, len(x_PD), outputs)
        out_OD, sum_O = torch.empty(outputs, inputs), torch.empty(outputs)
        right_PD = _packed(self._kernels, x_PD, turned=False)
        self._multiply(grad_PO, right_PD, out_OD, turned=True, sums=sum_O)
        return out_OD, sum_O

    @cached_property
    def _right_DO(self) -> Tensor:
        return _packed(self._kernels, self._weight_OD, turned=True)

    @cached_property
    def _right_OD(self) -> Tensor:
        return _packed(self._kernels, self._weight_OD, turned=False)

    def _multiply(
        self,
        left: Tensor,
        right: Tensor,
        out: Tensor,
        *,
        turned: bool = False,
        bias: Tensor | None = None,
        sums: Tensor | None = None,
    ) -> Tensor:
        """Multiplies `left`, or its transpose if `turned`, by the packed right factor. `sums`
        receives the row sums of the transpose."""
        bias = None if bias is None else bias.float()
        call = ProductCall(
            unit=self._unit,
            bf16=is_bf16(out),
            matrix=address(left),
            rows=left.size(0),
            columns=left.size(1),
            turned=turned,
            blocks=address(right),
            width=out.size(1),
            bias=address(bias),
            sums=address(sums),
            out=address(out),
        )
        run(self._kernels, "ayt_multiply", call)
        return out


def _checked(factor: Tensor, rows: int, columns: int) -> Tensor:
    """The factor as a contiguous tensor. The shape is checked, because the kernels read `rows` ×
    `columns` numbers unchecked."""
    if factor.shape != (rows, columns) or factor.dtype != torch.bfloat16:
        raise ShapeError(
            f"a factor is {tuple(factor.shape)} in {factor.dtype} instead of {(rows, columns)} in "
            "bfloat16"
        )
    return factor.contiguous()


def _packed(kernels: ctypes.CDLL, matrix: Tensor, turned: bool) -> Tensor:
    """The blocks of a right factor: the matrix, or its transpose if `turned`."""
    matrix = matrix.contiguous()
    blocks = [-(-size // BLOCK) for size in matrix.shape]
    out = matrix.new_empty(*blocks, BLOCK, BLOCK, dtype=torch.bfloat16)
    call = ProductCall(
        bf16=is_bf16(matrix),
        matrix=address(matrix),
        rows=matrix.size(0),
        columns=matrix.size(1),
        turned=turned,
        blocks=address(out),
    )
    run(kernels, "ayt_pack", call)
    return out
