from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from allyouneed.core.dropout import Dropout
from allyouneed.core.feed_forward import FeedForward, GatedFeedForward

Loud = Callable[..., nn.Module]
D, F = 6, 10
KINDS = [FeedForward, GatedFeedForward]
ACTIVATIONS = [nn.ReLU, nn.GELU, nn.SiLU]


def test_equation_2(loud: Loud) -> None:
    ffn = loud(FeedForward(D, F, nn.ReLU()))
    x = torch.randn(3, 4, D)
    hidden = (x @ ffn.W_1.weight.T + ffn.W_1.bias).clamp(min=0)
    assert 0.2 < (hidden == 0).float().mean() < 0.8
    assert_close(ffn(x), hidden @ ffn.W_2.weight.T + ffn.W_2.bias)


def test_swiglu(loud: Loud) -> None:
    ffn = loud(GatedFeedForward(D, F, nn.SiLU(), bias=False))
    x = torch.randn(3, 4, D)
    gate = x @ ffn.W_1.weight.T
    hidden = gate * torch.sigmoid(gate) * (x @ ffn.V_1.weight.T)
    assert_close(ffn(x), hidden @ ffn.W_2.weight.T)
    assert sorted(ffn.state_dict()) == ["V_1.weight", "W_1.weight", "W_2.weight"]


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 1000), order=st.permutations(range(5)))
@settings(max_examples=20, deadline=None)
def test_the_same_map_at_every_position(
    loud: Loud, kind: type[FeedForward] | type[GatedFeedForward], seed: int, order: list[int]
) -> None:
    ffn = loud(kind(D, F, nn.ReLU()), seed)
    x = torch.randn(2, 5, D, generator=torch.Generator().manual_seed(seed))
    result = ffn(x)
    assert_close(ffn(x[:, order]), result[:, order])
    for position in range(5):
        assert_close(ffn(x[:, position : position + 1]), result[:, position : position + 1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradcheck(
    loud: Loud,
    kind: type[FeedForward] | type[GatedFeedForward],
    activation: type[nn.Module],
) -> None:
    ffn = loud(kind(4, 5, activation()).double())
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, *_: ffn(x), (x, *ffn.parameters()))


def test_dropout_before_or_after_relu_is_the_same(loud: Loud) -> None:
    # One document asks: ReLU lets zeros and positive factors through, so for it the order is free.
    # It is not for GELU: gelu(2x) is not 2 gelu(x).
    x = torch.randn(2, 5, D)
    for activation, same in ((nn.ReLU(), True), (nn.GELU(), False)):
        drop = Dropout(0.5)
        results = []
        for parts in ((activation, drop), (drop, activation)):
            ffn = loud(FeedForward(D, F, nn.Sequential(*parts))).train()
            torch.manual_seed(3)
            results.append(ffn(x))
        assert torch.allclose(*results, atol=1e-5) is same
