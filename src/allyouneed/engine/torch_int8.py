"""int8 with torch: the core's modules with quantised linear maps.

This is the reference that the native engine is tested against, and the engine that runs in its
place where it is not built. Linear maps and token embeddings are int8; all else is as in the core.

M rows · I input width · O output width
"""

from copy import deepcopy
from functools import cache

import torch
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.cache import Cache
from allyouneed.core.encoder import Memory
from allyouneed.core.transformer import Transformer
from allyouneed.model_folder.weights.int8 import LARGEST, quantise
from allyouneed.model_folder.weights.model import check_finite


class Int8Transformer:
    """A `Decodable` model with int8 weights (one scale per output channel) and int8 activations
    (one scale and one zero point per row).

    A sentence's logits depend neither on the other sentences of its batch nor on padding. Each row
    has its own scale, zero point and products. Attention is computed in float64, because the order
    in which float32 sums are added depends on the length: a difference in the last bit of a float32
    can round to another int8, a difference a hundred thousand times as large.

    Raises:
        ModelFolderError: the weights contain NaN or infinity.
    """

    def __init__(self, model: Transformer) -> None:
        check_finite(model)
        self.config = model.config
        self._model = quantised(model)

    def encode(self, source_BS: Tensor) -> Memory:
        """Source ids → memory."""
        return self._model.encode(source_BS)

    def start(self, memory: Memory, hypotheses: int, max_length: int) -> Cache:
        """A cache for decoding `hypotheses` per sentence, at most `max_length` steps long."""
        return self._model.start(memory, hypotheses, max_length)

    def step(self, ids_BN: Tensor, cache: Cache) -> Tensor:
        """Logits BNV of the next token, given each hypothesis' newest id."""
        return self._model.step(ids_BN, cache)


def quantised(model: Transformer) -> Transformer:
    """A copy of the model whose linear maps are int8. Token embeddings are rounded to int8 rows
    too, so that they equal the output projection's weights where the two are tied."""
    into_attention = {
        id(linear)
        for heads in model.modules()
        if isinstance(heads, MultiHeadAttention)
        for linear in (heads.W_Q, heads.W_K, heads.W_V)
    }
    in_place_of: dict[int, object] = {
        id(linear): Int8Linear(
            linear, torch.float64 if id(linear) in into_attention else torch.float32
        )
        for linear in model.modules()
        if isinstance(linear, nn.Linear)
    }
    # deepcopy takes the memo's entry for an object's id as the copy of that object.
    copy = deepcopy(model, in_place_of).float().eval().requires_grad_(False)
    for tokens in {copy.encoder.embeddings.tokens, copy.decoder.embeddings.tokens}:
        values_VD, scale_V1 = quantise(tokens.weight.detach())
        tokens.weight = nn.Parameter(values_VD.float() * scale_V1, requires_grad=False)
    return copy


class Int8Linear(nn.Module):
    """y = x Wᵀ + b in float32, with an exact product of integers. y is returned as `dtype`."""

    def __init__(self, linear: nn.Linear, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype
        weight_OI, scale_O1 = quantise(linear.weight.detach().float())
        total_O = weight_OI.sum(dim=1, dtype=torch.int32)
        bias_O = None if linear.bias is None else linear.bias.detach().float().clone()
        self.weight_OI: Tensor
        self.scale_O: Tensor
        self.total_O: Tensor
        self.bias_O: Tensor | None
        self.register_buffer("weight_OI", weight_OI)
        self.register_buffer("scale_O", scale_O1[:, 0].clone())
        self.register_buffer("total_O", total_O)
        self.register_buffer("bias_O", bias_O)

    def forward(self, x: Tensor) -> Tensor:
        """Maps the last axis from I to O; any axes may precede it."""
        values_MI, scale_M1, zero_M1 = quantise_centred(x.flatten(0, -2).float())
        sums_MO = integer_product(values_MI, self.weight_OI) + zero_M1 * self.total_O
        y_MO = sums_MO.float().mul_(scale_M1).mul_(self.scale_O)
        if self.bias_O is not None:
            y_MO += self.bias_O
        return y_MO.view(*x.shape[:-1], -1).to(self.dtype)


def quantise_centred(x_MI: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Activations rounded to int8: values MI (int8), scale M1 and zero M1 (int32), with
    x ≈ (values + zero) · scale and an error of at most half a scale.

    `zero` moves the middle of the row's range (which includes 0) to the value 0, so that all int8
    values are used (Jacob et al. 2018). After ReLU this doubles the number of values in use.
    """
    low_M1 = x_MI.amin(dim=1, keepdim=True).clamp_(max=0)
    high_M1 = x_MI.amax(dim=1, keepdim=True).clamp_(min=0)
    steps = 2 * LARGEST - 1  # leaves one step for the rounding of zero
    scale_M1 = ((high_M1 - low_M1) / steps).clamp_(min=torch.finfo(x_MI.dtype).tiny)
    zero_M1 = ((low_M1 + high_M1) / 2 / scale_M1).round_().int()
    return ((x_MI / scale_M1).round_() - zero_M1).to(torch.int8), scale_M1, zero_M1


def integer_product(a_MI: Tensor, b_OI: Tensor) -> Tensor:
    """The exact product A Bᵀ of int8 tensors, as integers MO."""
    if int_mm_is_exact():
        return torch._int_mm(a_MI, b_OI.T)
    return a_MI.double() @ b_OI.T.double()  # slow; every sum is an integer below 2⁵³


@cache
def int_mm_is_exact() -> bool:
    """Whether torch has an int8 product and computes it exactly on this processor.

    Without VNNI instructions torch's kernels add pairs of products in 16 bits, which can overflow.
    """
    signs = torch.tensor([[1], [-1]], dtype=torch.int8).repeat(16, 1)
    largest_MI = (LARGEST * signs).expand(-1, 256).contiguous()
    true_MM = LARGEST**2 * 256 * (signs.int() @ signs.int().T)
    try:
        products = [torch._int_mm(rows, largest_MI.T) for rows in (largest_MI, largest_MI[:1])]
    except (AttributeError, RuntimeError):
        return False
    return all(torch.equal(product, true_MM[: len(product)]) for product in products)
