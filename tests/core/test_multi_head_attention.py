import math
from collections.abc import Callable
from typing import cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core import masks
from allyouneed.core.attention import MultiHeadAttention, Site, attention
from allyouneed.core.positions import Rotary
from allyouneed.errors import ConfigError

Loud = Callable[..., nn.Module]
B, T, S, D, H = 3, 6, 7, 16, 4


def inputs(seed: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, T, D, generator=generator), torch.randn(B, S, D, generator=generator)


def keep(into: list[Tensor]) -> Callable[[Tensor, Site], Tensor]:
    def probe(weights_BHTS: Tensor, _: Site) -> Tensor:
        into.append(weights_BHTS)
        return weights_BHTS

    return probe


def adopt(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    """torch keeps W_Q, W_K and W_V in one matrix."""
    parts = dict(zip("QKV", theirs.in_proj_weight.chunk(3), strict=True))
    state = {f"W_{name}.weight": part for name, part in parts.items()}
    state["W_O.weight"] = theirs.out_proj.weight
    if theirs.in_proj_bias is not None:
        parts = dict(zip("QKV", theirs.in_proj_bias.chunk(3), strict=True))
        state |= {f"W_{name}.bias": part for name, part in parts.items()}
        state["W_O.bias"] = theirs.out_proj.bias
    ours.load_state_dict(state)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("probed", [True, False])
@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_parity_with_torch(loud: Loud, bias: bool, probed: bool, mask: str) -> None:
    theirs = cast(
        nn.MultiheadAttention, loud(nn.MultiheadAttention(D, H, bias=bias, batch_first=True))
    )
    ours = MultiHeadAttention(D, H, bias=bias).eval()
    adopt(theirs, ours)
    x_BTD, memory_BSD = inputs()
    if mask == "causal":
        memory_BSD = x_BTD
    may_look, their_mask = {
        "none": (None, {}),
        "causal": (masks.causal(T), {"attn_mask": ~masks.causal(T)[0, 0]}),
        "padding": (
            masks.valid_lengths(torch.tensor([3, 7, 1]), S),
            {"key_padding_mask": torch.arange(S) >= torch.tensor([[3], [7], [1]])},
        ),
    }[mask]
    expected, their_weights = theirs(
        x_BTD, memory_BSD, memory_BSD, average_attn_weights=False, **their_mask
    )
    seen: list[Tensor] = []
    if probed:
        ours.probes.append(keep(seen))
    assert expected.std() >= 1
    assert_close(ours(x_BTD, memory_BSD, may_look), expected, rtol=1e-5, atol=1e-5)
    if probed:
        assert their_weights.max() > 0.9  # far from flat
        assert_close(seen[0], their_weights, rtol=1e-5, atol=1e-5)


def test_split_heads_equal_separate_heads(loud: Loud) -> None:
    """One projection cut into heads is head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)."""
    ours = cast(MultiHeadAttention, loud(MultiHeadAttention(D, H)))
    x_BTD, memory_BSD = inputs()
    may_look = masks.valid_lengths(torch.tensor([3, 7, 1]), S)
    width = D // H
    heads = []
    for i in range(H):
        mine = slice(i * width, (i + 1) * width)
        projections = []
        for projection, x in ((ours.W_Q, x_BTD), (ours.W_K, memory_BSD), (ours.W_V, memory_BSD)):
            own = nn.Linear(D, width)
            own.load_state_dict({"weight": projection.weight[mine], "bias": projection.bias[mine]})
            projections.append(own(x)[:, None])
        head, _ = attention(*projections, may_look)
        heads.append(head[:, 0])
    assert_close(ours(x_BTD, memory_BSD, may_look), ours.W_O(torch.cat(heads, dim=-1)))


def test_a_reduced_head_width_scales_by_its_own_root(loud: Loud) -> None:
    ours = cast(MultiHeadAttention, loud(MultiHeadAttention(D, 3, head_width=2)))
    assert ours.W_Q.weight.shape == ours.W_K.weight.shape == ours.W_V.weight.shape == (6, D)
    assert ours.W_O.weight.shape == (D, 6)
    x_BTD, memory_BSD = inputs()
    seen: list[Tensor] = []
    ours.probes.append(keep(seen))
    assert ours(x_BTD, memory_BSD).shape == x_BTD.shape
    q, k = ours.W_Q(x_BTD)[..., 2:4], ours.W_K(memory_BSD)[..., 2:4]
    assert_close(seen[0][:, 1], (q @ k.mT / math.sqrt(2)).softmax(-1))


def test_without_bias_there_is_none() -> None:
    ours = MultiHeadAttention(D, H, bias=False)
    assert sorted(ours.state_dict()) == [f"W_{name}.weight" for name in "KOQV"]


@pytest.mark.parametrize(
    ("d_model", "heads", "widths"), [(10, 4, "d_model=8 or 12"), (3, 8, "d_model=8,")]
)
def test_heads_have_to_divide_the_width(d_model: int, heads: int, widths: str) -> None:
    with pytest.raises(
        ConfigError, match=f"heads={heads} does not divide d_model={d_model}.*{widths}"
    ):
        MultiHeadAttention(d_model, heads)


def test_a_probe_that_changes_nothing_changes_nothing(loud: Loud) -> None:
    ours = cast(MultiHeadAttention, loud(MultiHeadAttention(D, H)))
    x_BTD, memory_BSD = inputs()
    fused = ours(x_BTD, memory_BSD)
    ours.probes.append(keep([]))
    assert_close(ours(x_BTD, memory_BSD), fused)


@pytest.mark.parametrize("probed", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_row_that_sees_nothing_gives_the_bias_of_W_O(
    loud: Loud, dtype: torch.dtype, probed: bool
) -> None:
    ours = cast(MultiHeadAttention, loud(MultiHeadAttention(D, H)).to(dtype))
    if probed:
        ours.probes.append(keep([]))
    x_BTD, memory_BSD = (x.to(dtype) for x in inputs())
    result = ours(x_BTD, memory_BSD, masks.valid_lengths(torch.tensor([0, S, 2]), S))
    assert torch.equal(result[0], ours.W_O.bias.expand(T, D))
    assert result.isfinite().all()


@given(seed=st.integers(0, 2**31), reach=st.integers(0, 3), far=st.integers(0, T - 1))
@settings(max_examples=25, deadline=None)
def test_nothing_beyond_the_window_is_seen(loud: Loud, seed: int, reach: int, far: int) -> None:
    ours = loud(MultiHeadAttention(D, H), seed)
    x_BTD, _ = inputs(seed)
    other_BTD = x_BTD.clone()
    other_BTD[:, far] += 1
    may_look = masks.window(T, T, reach)
    change_T = (
        (ours(x_BTD, x_BTD, may_look) - ours(other_BTD, other_BTD, may_look)).abs().amax(dim=(0, 2))
    )
    near_T = (torch.arange(T) - far).abs() <= reach
    assert (change_T[near_T] > 1e-4).all()
    assert (change_T[~near_T] < 1e-5).all()


@pytest.mark.parametrize("probed", [True, False])
@pytest.mark.parametrize("rotary", [True, False])
def test_gradcheck(loud: Loud, probed: bool, rotary: bool) -> None:
    positions = Rotary(2, 8) if rotary else None
    ours = loud(MultiHeadAttention(4, 2, positions=positions).double())
    if probed:
        cast(MultiHeadAttention, ours).probes.append(keep([]))
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
    may_look = masks.valid_lengths(torch.tensor([[1, 2, 4], [0, 3, 2]]), 4)
    weights = tuple(ours.parameters())
    assert torch.autograd.gradcheck(
        lambda x, memory, *_: ours(x, memory, may_look), (x, memory, *weights)
    )


def test_attention_dropout_acts_in_training_only_on_both_roads(loud: Loud) -> None:
    ours = cast(MultiHeadAttention, loud(MultiHeadAttention(D, H, dropout=0.5)))
    x_BTD, memory_BSD = inputs()
    quiet = ours(x_BTD, memory_BSD)
    assert torch.equal(ours(x_BTD, memory_BSD), quiet)
    for probes in ([], [keep([])]):
        ours.probes[:] = probes
        ours.train()
        torch.manual_seed(0)
        many = torch.stack([ours(x_BTD, memory_BSD) for _ in range(400)])
        assert not torch.equal(many[0], many[1])
        error = many.std(0) / 20  # of the mean of 400
        assert ((many.mean(0) - quiet).abs() < 5 * error + 1e-4).all()
        ours.eval()
