"""The operations between the matrix products of a training step, with their gradients: attention, a
residual connection with dropout and norm, the smoothed loss, R-Drop. Each is one native pass over
memory.

P packed positions: the tokens of all sentences, one after the other, then padding rows
D d_model · H heads · K head width · N sentences · V vocabulary · C labels of one pass
"""

import ctypes
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from allyouneed.core.positions import Rotary
from allyouneed.training.cpu.kernels import (
    AddNormCall,
    AttentionCall,
    LossCall,
    address,
    is_bf16,
    run,
)


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """The places of the sentences among packed positions. `starts` holds the first position of each
    sentence, and the end of the last one; later positions are padding."""

    starts: Tensor  # N + 1, int32

    @property
    def positions(self) -> int:
        """The number of positions that hold tokens."""
        return int(self.starts[-1])


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """The shape of an attention: heads, width of a head, whether later positions are masked
    (`causal`), dropout of the weights, and rotary positions if there are any."""

    heads: int
    width: int
    causal: bool
    dropout: float
    rotary: Rotary | None = None


def attend(
    kernels: ctypes.CDLL,
    q_PD: Tensor,
    kv_PD: Tensor | None,
    queries: Packing,
    keys: Packing,
    shape: AttentionShape,
) -> Tensor:
    """Equation 1 in every head of every sentence: PD, with zeros in padding rows.

    `kv_PD` holds keys and values side by side. If it is None, `q_PD` holds queries, keys and values
    side by side. With `shape.rotary`, queries and keys are rotated first.

    Raises:
        AllYouNeedError: a sentence is longer than the rotary tables, or too long for the kernels.
    """
    return _Attention.apply(kernels, q_PD, kv_PD, queries, keys, shape)  # type: ignore[no-any-return,no-untyped-call]


def add_norm(
    kernels: ctypes.CDLL,
    x_PD: Tensor,
    y_PD: Tensor,
    norm: nn.LayerNorm,
    dropout: float,
    post_norm: bool,
) -> tuple[Tensor, Tensor]:
    """Computes s = x + dropout(y) and n = norm(s). Returns the input of the next residual
    connection in float32 (n with `post_norm`, otherwise s), and n in the dtype of y."""
    weights = (norm.weight, norm.bias)
    stream, narrowed = _AddNorm.apply(kernels, x_PD, y_PD, *weights, norm.eps, dropout, post_norm)  # type: ignore[no-untyped-call]
    return stream, stream if narrowed is None else narrowed


def smoothed_in_place(
    kernels: ctypes.CDLL, logits_PV: Tensor, labels_P: Tensor, smoothing: float
) -> Tensor:
    """The smoothed loss (section 5.4) of each label, P. Replaces the logits by the gradient.

    Raises:
        IndexError: a label is not the index of a column of the logits.
    """
    return _loss_in_place(kernels, "ayt_smoothed_loss", logits_PV, labels_P, smoothing)


def r_drop_in_place(
    kernels: ctypes.CDLL, logits_PV: Tensor, labels_C: Tensor, smoothing: float, alpha: float
) -> Tensor:
    """R-Drop's loss of each label, C. `logits_PV` holds two passes, one after the other, and is
    replaced by the gradient.

    Raises:
        IndexError: a label is not the index of a column of the logits.
    """
    return _loss_in_place(kernels, "ayt_r_drop_loss", logits_PV, labels_C, smoothing, alpha)


def _loss_in_place(
    kernels: ctypes.CDLL,
    kernel: str,
    logits_PV: Tensor,
    labels_C: Tensor,
    smoothing: float,
    alpha: float = 0.0,
) -> Tensor:
    vocabulary = logits_PV.size(1)
    labels_C = labels_C.contiguous()
    wrong_C = labels_C[(labels_C < 0) | (labels_C >= vocabulary)]
    if len(wrong_C):
        raise IndexError(f"label {int(wrong_C[0])} is not in a vocabulary of {vocabulary}")
    losses_C = torch.empty(len(labels_C))
    call = LossCall(
        bf16=is_bf16(logits_PV),
        vocabulary=vocabulary,
        rows=len(labels_C),
        logits=address(logits_PV),
        labels=address(labels_C),
        smoothing=smoothing,
        alpha=alpha,
        losses=address(losses_C),
    )
    run(kernels, kernel, call)
    return losses_C


def _seed(rate: float) -> int:
    """The seed of a dropout draw: the next number of torch's generator, or 0 without dropout."""
    return int(torch.randint(2**63 - 1, ())) if rate else 0


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        kernels: ctypes.CDLL,
        x_PD: Tensor,
        y_PD: Tensor,
        gain_D: Tensor,
        shift_D: Tensor,
        epsilon: float,
        rate: float,
        post_norm: bool,
    ) -> tuple[Tensor, Tensor | None]:
        x_PD, y_PD = x_PD.contiguous(), y_PD.contiguous()
        sum_PD, moments_P2 = torch.empty_like(x_PD), x_PD.new_empty(len(x_PD), 2)
        wide_PD = torch.empty_like(x_PD) if post_norm else None
        narrowed_PD = torch.empty_like(y_PD) if is_bf16(y_PD) or not post_norm else None
        draw = (_seed(rate), rate)
        call = AddNormCall(
            bf16=is_bf16(y_PD),
            rows=x_PD.size(0),
            width=x_PD.size(1),
            gain=address(gain_D),
            shift=address(shift_D),
            epsilon=epsilon,
            seed=draw[0],
            rate=draw[1],
            x=address(x_PD),
            y=address(y_PD),
            sum=address(sum_PD),
            wide=address(wide_PD),
            narrowed=address(narrowed_PD),
            moments=address(moments_P2),
        )
        run(kernels, "ayt_add_norm", call)
        ctx.save_for_backward(sum_PD, moments_P2, gain_D)
        ctx.kernels, ctx.draw, ctx.post_norm, ctx.dtype = kernels, draw, post_norm, y_PD.dtype
        ctx.set_materialize_grads(False)
        return (sum_PD if wide_PD is None else wide_PD), narrowed_PD

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, grad_stream_PD: Tensor | None, grad_narrowed_PD: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        sum_PD, moments_P2, gain_D = ctx.saved_tensors
        grads = [
            None if grad is None else grad.contiguous()
            for grad in (grad_stream_PD, grad_narrowed_PD)
        ]
        of_sum_PD, of_wide_PD = (None, grads[0]) if ctx.post_norm else (grads[0], None)
        grad_x_PD, grad_y_PD = torch.empty_like(sum_PD), torch.empty_like(sum_PD, dtype=ctx.dtype)
        threads = torch.get_num_threads()
        partial = gain_D.new_zeros(threads, 2, len(gain_D))
        call = AddNormCall(
            bf16=is_bf16(grad_y_PD),
            rows=sum_PD.size(0),
            width=sum_PD.size(1),
            gain=address(gain_D),
            seed=ctx.draw[0],
            rate=ctx.draw[1],
            sum=address(sum_PD),
            moments=address(moments_P2),
            grad_sum=address(of_sum_PD),
            grad_wide=address(of_wide_PD),
            grad_narrowed=address(grads[1]),
            grad_x=address(grad_x_PD),
            grad_y=address(grad_y_PD),
            partial=address(partial),
            threads=threads,
        )
        run(ctx.kernels, "ayt_add_norm_backward", call)
        grad_gain_D, grad_shift_D = partial.sum(dim=0)
        return None, grad_x_PD, grad_y_PD, grad_gain_D, grad_shift_D, None, None, None


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        kernels: ctypes.CDLL,
        q_PD: Tensor,
        kv_PD: Tensor | None,
        queries: Packing,
        keys: Packing,
        shape: AttentionShape,
    ) -> Tensor:
        heads_PD = q_PD.new_empty(len(q_PD), shape.heads * shape.width)
        heads_PD[queries.positions :] = 0.0
        ctx.kernels, ctx.queries, ctx.keys, ctx.shape = kernels, queries, keys, shape
        ctx.seed = _seed(shape.dropout)
        ctx.save_for_backward(q_PD, kv_PD)
        run(kernels, "ayt_attention", _Attention._call(ctx, q_PD, kv_PD, heads_PD))
        return heads_PD

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_PD: Tensor) -> tuple[Tensor | None, ...]:
        q_PD, kv_PD = ctx.saved_tensors
        grad_PD = grad_PD.contiguous()
        grad_q_PD = q_PD.new_empty(q_PD.shape)
        grad_kv_PD = None if kv_PD is None else kv_PD.new_empty(kv_PD.shape)
        grad_q_PD[ctx.queries.positions :] = 0.0
        if grad_kv_PD is not None:
            grad_kv_PD[ctx.keys.positions :] = 0.0
        call = _Attention._call(ctx, q_PD, kv_PD, grad_PD)
        places = _places(grad_q_PD, grad_kv_PD, grad_PD.size(1))
        call.grad_q, call.grad_q_stride, call.grad_k, call.grad_v, call.grad_kv_stride = places
        run(ctx.kernels, "ayt_attention_backward", call)
        return None, grad_q_PD, grad_kv_PD, None, None, None

    @staticmethod
    def _call(ctx: Any, q_PD: Tensor, kv_PD: Tensor | None, out_PD: Tensor) -> AttentionCall:
        """The arguments of a kernel for the results `out_PD`, or for their gradients."""
        shape: AttentionShape = ctx.shape
        q, q_stride, k, v, kv_stride = _places(q_PD, kv_PD, out_PD.size(1))
        return AttentionCall(
            bf16=is_bf16(q_PD),
            sentences=len(ctx.queries.starts) - 1,
            heads=shape.heads,
            width=shape.width,
            causal=shape.causal,
            query_starts=address(ctx.queries.starts),
            key_starts=address(ctx.keys.starts),
            cosines=address(shape.rotary.cos) if shape.rotary else None,
            sines=address(shape.rotary.sin) if shape.rotary else None,
            positions=len(shape.rotary.cos) if shape.rotary else 0,
            seed=ctx.seed,
            rate=shape.dropout,
            q=q,
            q_stride=q_stride,
            k=k,
            v=v,
            kv_stride=kv_stride,
            out=address(out_PD),
            out_stride=out_PD.stride(0),
        )


def _places(q_PD: Tensor, kv_PD: Tensor | None, width: int) -> tuple[Any, ...]:
    """The addresses of queries, keys and values, and the distances between their rows."""
    if kv_PD is None:
        row = q_PD.stride(0)
        return address(q_PD), row, address(q_PD, width), address(q_PD, 2 * width), row
    return address(q_PD), q_PD.stride(0), address(kv_PD), address(kv_PD, width), kv_PD.stride(0)
