"""Label smoothing (section 5.4): the formula, and the same without ever holding all the logits.

P positions (batch and target length in one axis) · D d_model · V vocabulary · C chunk of positions
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


def label_smoothed_loss(logits_PV: Tensor, labels_P: Tensor, smoothing: float, pad: int) -> Tensor:
    """Cross-entropy against labels of which `smoothing` (epsilon_ls) is spread over the vocabulary.

    The true token keeps 1 - epsilon of the probability, and epsilon / V goes to every token
    (Szegedy et al. 2016). Nats, summed over the positions that are not `pad`; with smoothing 0 it
    is the negative log-likelihood. Narrower numbers than float32 are widened first.
    """
    log_probabilities_PV = logits_PV.to(_wide(logits_PV.dtype)).log_softmax(dim=-1)
    true_P = log_probabilities_PV.gather(-1, labels_P[:, None])[:, 0]
    spread_P = log_probabilities_PV.mean(dim=-1)
    loss_P = -(1 - smoothing) * true_P - smoothing * spread_P
    return loss_P.masked_fill(labels_P == pad, 0.0).sum()


def fused_loss(
    states_PD: Tensor, output: nn.Linear, labels_P: Tensor, smoothing: float, pad: int
) -> Tensor:
    """`label_smoothed_loss(output(states), …)`, projection included, in chunks of positions.

    Logits of a chunk are turned into their own gradient at once, so memory holds C × V numbers
    instead of several times P × V. Products run in the dtype of autocast, sums in float32 or wider.
    """
    dtype = states_PD.dtype
    if torch.is_autocast_enabled(states_PD.device.type):
        dtype = torch.get_autocast_dtype(states_PD.device.type)
    kept_P = (labels_P != pad).nonzero()[:, 0]
    return _FusedLoss.apply(  # type: ignore[no-any-return,no-untyped-call]
        states_PD[kept_P].to(dtype), output.weight, output.bias, labels_P[kept_P], smoothing
    )


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


class _FusedLoss(torch.autograd.Function):
    """d loss / d logit = softmax - (1 - epsilon)·[true token] - epsilon / V, chunk by chunk."""

    CHUNK = 512  # positions; large enough for full speed of the products, small enough for caches

    @staticmethod
    def forward(
        ctx: Any,
        states_PD: Tensor,
        weight_VD: Tensor,
        bias_V: Tensor | None,
        labels_P: Tensor,
        smoothing: float,
    ) -> Tensor:
        wide = _wide(states_PD.dtype)
        projection_VD = weight_VD.to(states_PD.dtype)
        grad_states_PD = torch.empty_like(states_PD)
        grad_weight_VD = torch.zeros_like(weight_VD)
        grad_bias_V = None if bias_V is None else torch.zeros_like(bias_V)
        loss = torch.zeros((), dtype=wide, device=states_PD.device)
        for first in range(0, labels_P.numel(), _FusedLoss.CHUNK):
            chunk = slice(first, first + _FusedLoss.CHUNK)
            states_CD, labels_C1 = states_PD[chunk], labels_P[chunk, None]
            logits_CV = (states_CD @ projection_VD.T).to(wide)
            if bias_V is not None:
                logits_CV += bias_V
            logits_CV -= logits_CV.amax(dim=-1, keepdim=True)
            true_C1 = logits_CV.gather(-1, labels_C1)
            spread_C1 = logits_CV.mean(dim=-1, keepdim=True)
            exp_CV = logits_CV.exp_()  # once, for the loss and for the gradient
            total_C1 = exp_CV.sum(dim=-1, keepdim=True)
            loss += (total_C1.log() - (1 - smoothing) * true_C1 - smoothing * spread_C1).sum()
            grad_CV = exp_CV.div_(total_C1).sub_(smoothing / logits_CV.size(-1))
            grad_CV.scatter_add_(-1, labels_C1, torch.full_like(true_C1, smoothing - 1))
            if grad_bias_V is not None:
                grad_bias_V += grad_CV.sum(dim=0)
            narrow_CV = grad_CV.to(states_PD.dtype)
            grad_states_PD[chunk] = narrow_CV @ projection_VD
            grad_weight_VD += narrow_CV.T @ states_CD
        ctx.save_for_backward(grad_states_PD, grad_weight_VD, grad_bias_V)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        grad_states_PD, grad_weight_VD, grad_bias_V = ctx.saved_tensors
        grad_bias = None if grad_bias_V is None else grad_bias_V * scale
        return grad_states_PD * scale, grad_weight_VD * scale, grad_bias, None, None
