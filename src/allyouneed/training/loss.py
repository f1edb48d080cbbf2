"""Label smoothing (section 5.4) and R-Drop: as formulas, and fused so that the whole table of
logits is never in memory.

P positions (batch and target length in one axis) · D d_model · V vocabulary · C chunk of positions
R passes over the same batch (1, or the 2 of R-Drop) · N the positions of a chunk in every pass
"""

import ctypes
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from allyouneed.training.cpu.fused import r_drop_in_place, smoothed_in_place
from allyouneed.training.cpu.products import filled, prepared


def label_smoothed_loss(logits_PV: Tensor, labels_P: Tensor, smoothing: float, pad: int) -> Tensor:
    """The cross-entropy with smoothed labels, in nats, summed over the positions that are not
    `pad`.

    The true token y keeps 1 - epsilon of the probability, and every token k gets epsilon / V:
    q(k) = (1 - epsilon) [k = y] + epsilon / V (Szegedy et al. 2016), where epsilon is `smoothing`.
    With smoothing 0 the result is the negative log-likelihood. `pad` may lie outside the
    vocabulary. Numbers narrower than float32 are widened first. Training uses `fused_loss`, which
    computes the same without the table of logits.
    """
    log_probabilities_PV = logits_PV.to(_wide(logits_PV.dtype)).log_softmax(dim=-1)
    known_P = _within_vocabulary(labels_P, pad)
    true_P = log_probabilities_PV.gather(-1, known_P[:, None])[:, 0]
    spread_P = log_probabilities_PV.mean(dim=-1)
    loss_P = -(1 - smoothing) * true_P - smoothing * spread_P
    return loss_P.masked_fill(labels_P == pad, 0.0).sum()


def r_drop_loss(
    logits_2PV: Tensor, labels_P: Tensor, smoothing: float, alpha: float, pad: int
) -> Tensor:
    """R-Drop (Liang et al. 2021) for two passes with different dropout, in nats, summed over the
    positions that are not `pad`.

    The loss is the mean of both smoothed losses plus alpha / 4 · (KL(P1 ‖ P2) + KL(P2 ‖ P1)). This
    is half of the paper's equation 4, so that two passes that agree have the loss of one.
    """
    first, second = (label_smoothed_loss(logits, labels_P, smoothing, pad) for logits in logits_2PV)
    one_PV, other_PV = logits_2PV.to(_wide(logits_2PV.dtype)).log_softmax(dim=-1).unbind()
    apart_P = ((one_PV.exp() - other_PV.exp()) * (one_PV - other_PV)).sum(dim=-1)
    return (first + second) / 2 + alpha / 4 * apart_P.masked_fill(labels_P == pad, 0.0).sum()


def fused_loss(
    states_PD: Tensor,
    output: nn.Linear,
    labels_P: Tensor,
    smoothing: float,
    pad: int,
    r_drop: float = 0.0,
    kernels: ctypes.CDLL | None = None,
) -> Tensor:
    """`label_smoothed_loss(output(states), …)`, computed in chunks of positions.

    With `r_drop` (alpha) above 0 it is `r_drop_loss`; `states_PD` then holds both passes, one after
    the other. `kernels` (of `find_kernels`) compute the parts that they support.

    The logits of a chunk are replaced by their gradient at once. Memory therefore holds C × V
    numbers instead of several times P × V. Products run in the dtype of autocast, sums in float32
    or wider.
    """
    dtype = states_PD.dtype
    if torch.is_autocast_enabled(states_PD.device.type):
        dtype = torch.get_autocast_dtype(states_PD.device.type)
    kept_P = (labels_P != pad).nonzero()[:, 0]
    counted = len(kept_P)
    kept_P = nn.functional.pad(kept_P, (0, filled(counted) - counted))
    passes = 2 if r_drop else 1
    states_RPD = states_PD.reshape(passes, -1, states_PD.size(-1))[:, kept_P].to(dtype)
    return _FusedLoss.apply(  # type: ignore[no-any-return,no-untyped-call]
        *(states_RPD, output.weight, output.bias),
        *(_within_vocabulary(labels_P[kept_P], pad), counted),
        *(smoothing, r_drop, kernels),
    )


def _within_vocabulary(labels_P: Tensor, pad: int) -> Tensor:
    """The labels, with 0 in place of `pad`, whose positions are not counted."""
    return labels_P.masked_fill(labels_P == pad, 0)


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


class _FusedLoss(torch.autograd.Function):
    """Computes loss and gradient together, chunk by chunk."""

    CHUNK = 1024  # positions: enough for fast products, few enough for the caches
    CHUNK_ON_GPU = 4096  # starting the kernels of a smaller chunk takes longer than running them

    @staticmethod
    def forward(
        ctx: Any,
        states_RPD: Tensor,
        weight_VD: Tensor,
        bias_V: Tensor | None,
        labels_P: Tensor,
        counted: int,
        smoothing: float,
        r_drop: float,
        kernels: ctypes.CDLL | None,
    ) -> Tensor:
        """The loss; `labels_P` after the first `counted` are padding."""
        wide = _wide(states_RPD.dtype)
        native = kernels if bias_V is None else None
        projection = prepared(kernels, weight_VD, states_RPD.dtype)
        grad_states_RPD = torch.empty_like(states_RPD)
        grad_weight_VD = torch.zeros_like(weight_VD)
        grad_bias_V = None if bias_V is None else torch.zeros_like(bias_V)
        loss = torch.zeros((), dtype=wide, device=states_RPD.device)
        passes = states_RPD.size(0)
        on_gpu = states_RPD.is_cuda
        size = (_FusedLoss.CHUNK_ON_GPU if on_gpu else _FusedLoss.CHUNK) // passes
        # one buffer for all chunks: allocating one for each takes longer than the product itself
        room_NV = states_RPD.new_empty(passes * size, len(weight_VD))
        for first in range(0, labels_P.numel(), size):
            chunk = slice(first, first + size)
            states_ND = states_RPD[:, chunk].flatten(0, 1)
            logits_NV = projection.forward(states_ND, out=room_NV[: len(states_ND)])
            labels_C = labels_P[chunk]
            if native is None:
                logits_NV = logits_NV.to(wide)
            if bias_V is not None:
                logits_NV += bias_V
            losses_C = _losses_in_place(native, logits_NV, labels_C, smoothing, r_drop)
            here = max(0, counted - first)  # the rest is padding
            loss += losses_C[:here].sum()
            grad_NV = logits_NV  # the call above has replaced the logits by their gradient
            grad_NV.view(passes, len(labels_C), -1)[:, here:] = 0.0
            if grad_bias_V is not None:
                grad_bias_V += grad_NV.sum(dim=0)
            grad_NV = grad_NV.to(states_RPD.dtype)
            grad_states_ND = projection.backward(grad_NV)
            grad_states_RPD[:, chunk] = grad_states_ND.view(passes, -1, states_ND.size(-1))
            grad_weight_VD += projection.gradient(grad_NV, states_ND)
        ctx.save_for_backward(grad_states_RPD, grad_weight_VD, grad_bias_V)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        grad_states_RPD, grad_weight_VD, grad_bias_V = ctx.saved_tensors
        grad_bias = None if grad_bias_V is None else grad_bias_V * scale
        return grad_states_RPD * scale, grad_weight_VD * scale, grad_bias, *5 * [None]


def _losses_in_place(
    kernels: ctypes.CDLL | None,
    logits_NV: Tensor,
    labels_C: Tensor,
    smoothing: float,
    r_drop: float,
) -> Tensor:
    """The loss of each label C. Replaces the logits by the gradient of the losses' sum."""
    if kernels is None and r_drop:
        return _r_drop_in_place(logits_NV, labels_C[:, None], smoothing, r_drop)
    if kernels is None:
        return _smoothed_in_place(logits_NV, labels_C[:, None], smoothing)
    if r_drop:
        return r_drop_in_place(kernels, logits_NV, labels_C, smoothing, r_drop)
    return smoothed_in_place(kernels, logits_NV, labels_C, smoothing)


def _smoothed_in_place(logits_CV: Tensor, labels_C1: Tensor, smoothing: float) -> Tensor:
    """The smoothed loss of each label C. Replaces the logits by their gradient:

    softmax - (1 - epsilon)·[true token] - epsilon / V
    """
    logits_CV -= logits_CV.amax(dim=-1, keepdim=True)
    true_C1 = logits_CV.gather(-1, labels_C1)
    spread_C1 = logits_CV.mean(dim=-1, keepdim=True)
    exp_CV = logits_CV.exp_()  # used for both the loss and the gradient
    total_C1 = exp_CV.sum(dim=-1, keepdim=True)
    losses_C = (total_C1.log() - (1 - smoothing) * true_C1 - smoothing * spread_C1)[:, 0]
    exp_CV.div_(total_C1).sub_(smoothing / logits_CV.size(-1))
    logits_CV.scatter_add_(-1, labels_C1, torch.full_like(true_C1, smoothing - 1))
    return losses_C


def _r_drop_in_place(
    logits_NV: Tensor, labels_C1: Tensor, smoothing: float, alpha: float
) -> Tensor:
    """R-Drop's loss of each label C, for the logits of two passes, one after the other. Replaces
    the logits by their gradient.

    The gradient of KL(P1 ‖ P2) + KL(P2 ‖ P1) with respect to the first pass' logits is

    P1 · (log P1 - log P2 - KL(P1 ‖ P2)) + P1 - P2

    With respect to the second pass' logits it is the same with 1 and 2 exchanged.
    """
    logs_NV = logits_NV.log_softmax(dim=-1)
    probabilities_NV = logs_NV.exp()
    half = logits_NV.size(0) // 2  # rolling by half puts each pass in the other's place
    away_NV = logs_NV - logs_NV.roll(half, 0)
    divergence_N1 = (probabilities_NV * away_NV).sum(dim=-1, keepdim=True)
    away_NV.sub_(divergence_N1).mul_(probabilities_NV)
    away_NV.add_(probabilities_NV).sub_(probabilities_NV.roll(half, 0))
    smoothed_N = _smoothed_in_place(logits_NV, labels_C1.repeat(2, 1), smoothing)
    logits_NV.div_(2).add_(away_NV, alpha=alpha / 4)
    losses_N = smoothed_N / 2 + alpha / 4 * divergence_N1[:, 0]
    return losses_N[:half] + losses_N[half:]
