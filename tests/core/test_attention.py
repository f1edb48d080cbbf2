import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from allyouneed.core import masks
from allyouneed.core.attention import attention, attention_weights, fused_attention, masked_softmax
from allyouneed.core.attention import attention as equation_1

QUICK = settings(max_examples=25, deadline=None)
DTYPES = [torch.float32, torch.bfloat16, torch.float16]
B, H, T, S, K = 2, 3, 5, 7, 4


def random_qkv(
    seed: int = 0, dtype: torch.dtype = torch.float32, queries: int = T, keys: int = S
) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = ((B, H, queries, K), (B, H, keys, K), (B, H, keys, K))
    q, k, v = (2 * torch.randn(shape, generator=generator) for shape in shapes)
    return q.to(dtype), k.to(dtype), v.to(dtype)


def hides_a_row() -> Tensor:
    may_look = torch.rand(B, 1, T, S, generator=torch.Generator().manual_seed(5)) > 0.4
    may_look[0, :, 2] = False
    return may_look


MASKS = {
    "none": None,
    "padding": masks.valid_lengths(torch.tensor([3, 7]), S),
    "an empty sentence": masks.valid_lengths(torch.tensor([0, 7]), S),
    "causal": masks.causal(S)[:, :, :T],
    "window": masks.window(T, S, 1),
    "one length a query": masks.valid_lengths(torch.arange(B * T).reshape(B, T) % S, S),
    "hides a row": hides_a_row(),
    "differs by head": torch.rand(B, H, T, S, generator=torch.Generator().manual_seed(6)) > 0.3,
}


def test_equation_1_step_by_step() -> None:
    """One document's six steps, for every word by itself and without a tensor library."""
    q, k, v = random_qkv()
    result, weights = attention(q, k, v)
    for b, h, t in [(0, 0, 0), (1, 2, 4), (0, 1, 3)]:
        scores = [sum(float(q[b, h, t, i] * k[b, h, s, i]) for i in range(K)) for s in range(S)]
        scaled = [score / math.sqrt(K) for score in scores]
        total = sum(math.exp(score) for score in scaled)
        softmax = [math.exp(score) / total for score in scaled]
        weighted = [sum(softmax[s] * float(v[b, h, s, i]) for s in range(S)) for i in range(K)]
        assert weights[b, h, t].tolist() == pytest.approx(softmax, rel=1e-4)
        assert result[b, h, t].tolist() == pytest.approx(weighted, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_fused_equals_written_out(name: str, dtype: torch.dtype) -> None:
    q, k, v = (x.requires_grad_() for x in random_qkv(dtype=dtype))
    written, _ = attention(q, k, v, MASKS[name])
    fused = fused_attention(q, k, v, MASKS[name])
    assert written.std() > 1
    assert_close(fused, written)
    pull = torch.randn_like(written)
    both = (torch.autograd.grad(road, (q, k, v), pull) for road in (fused, written))
    for ours, theirs in zip(*both, strict=True):
        assert theirs.isfinite().all()
        assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_fully_hidden_row_gives_zeros_on_both_roads(dtype: torch.dtype) -> None:
    q, k, v = (x.requires_grad_() for x in random_qkv(dtype=dtype))
    may_look = MASKS["hides a row"]
    written, weights = attention(q, k, v, may_look)
    for result in (written, fused_attention(q, k, v, may_look)):
        assert (result[0, :, 2] == 0).all()
        assert result.isfinite().all()
        assert (result[0, :, 1].abs() > 0).all()
        for gradient in torch.autograd.grad(result.float().pow(2).sum(), (q, k, v)):
            assert gradient.isfinite().all()
    assert (weights[0, :, 2] == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_fully_hidden_row_gives_zeros_under_attention_dropout(dtype: torch.dtype) -> None:
    q, k, v = random_qkv(dtype=dtype)
    result = fused_attention(q, k, v, MASKS["hides a row"], dropout=0.2)
    assert result.isfinite().all()
    assert (result[0, :, 2] == 0).all()


def test_masked_softmax_with_valid_lengths_leaves_its_input_alone() -> None:
    # One document's example; its own version writes -1e6 into the scores it was given.
    scores = torch.rand(2, 1, 2, 4)
    before = scores.clone()
    weights = masked_softmax(scores, masks.valid_lengths(torch.tensor([2, 3]), 4))
    assert torch.equal(scores, before)
    assert_close(weights.sum(-1), torch.ones(2, 1, 2))
    assert (weights[0, ..., 2:] == 0).all()
    assert (weights[1, ..., 3:] == 0).all()
    assert (weights[0, ..., :2] > 0).all()
    assert_close(weights[1, 0, 0, :3], before[1, 0, 0, :3].softmax(-1))


def test_masked_softmax_without_a_mask_is_softmax() -> None:
    scores = torch.randn(2, 1, 3, 4)
    assert_close(masked_softmax(scores), scores.exp() / scores.exp().sum(-1, keepdim=True))


@given(seed=st.integers(0, 2**31), hidden=st.sets(st.integers(0, S - 1), max_size=S))
@QUICK
def test_what_is_hidden_does_not_matter(seed: int, hidden: set[int]) -> None:
    q, k, v = random_qkv(seed)
    may_look = torch.tensor([s not in hidden for s in range(S)])[None, None, None]
    other_k = k.masked_fill(~may_look.mT, 1e4)
    other_v = v.masked_fill(~may_look.mT, -1e4)
    for road in (fused_attention, lambda *qkvm: equation_1(*qkvm)[0]):
        assert_close(road(q, k, v, may_look), road(q, other_k, other_v, may_look))


@given(seed=st.integers(0, 2**31), order=st.permutations(range(S)))
@QUICK
def test_keys_and_values_have_no_order(seed: int, order: list[int]) -> None:
    q, k, v = random_qkv(seed)
    for road in (fused_attention, lambda *qkv: equation_1(*qkv)[0]):
        assert_close(road(q, k, v), road(q, k[:, :, order], v[:, :, order]))


@pytest.mark.parametrize(("length", "width"), [(5, 10), (3, 12), (1, 1), (17, 2)])
def test_any_length_and_any_width(length: int, width: int) -> None:
    x = torch.randn(2, 1, length, width)
    result, weights = attention(x, x, x)
    assert result.shape == x.shape
    assert weights.shape == (2, 1, length, length)


@pytest.mark.parametrize("name", MASKS)
def test_gradcheck(name: str) -> None:
    qkv = tuple(x.requires_grad_() for x in random_qkv(dtype=torch.float64))
    assert torch.autograd.gradcheck(lambda q, k, v: attention(q, k, v, MASKS[name]), qkv)


def test_attention_weights_are_the_first_half_of_attention() -> None:
    q, k, v = random_qkv()
    assert_close(attention_weights(q, k, MASKS["causal"]), attention(q, k, v, MASKS["causal"])[1])
