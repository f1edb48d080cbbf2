from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from allyouneed.core.residual import PostNorm, PreNorm

D = 8
X = torch.randn(2, 3, D, generator=torch.Generator().manual_seed(0)) * 3


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x + 1


def test_post_norm(loud: Callable[..., nn.Module]) -> None:
    wiring = loud(PostNorm(nn.LayerNorm(D)))
    assert_close(wiring(X, double), wiring.norm(X + double(X)))


def test_pre_norm(loud: Callable[..., nn.Module]) -> None:
    wiring = loud(PreNorm(nn.LayerNorm(D)))
    assert_close(wiring(X, double), X + double(wiring.norm(X)))


@pytest.mark.parametrize("wiring", [PostNorm, PreNorm])
def test_dropout_acts_on_the_sublayer_alone(wiring: type[PostNorm] | type[PreNorm]) -> None:
    part = wiring(nn.Identity(), dropout=0.5)
    added = part(X, double) - X
    kept = added.abs() > 1e-6
    assert 0 < kept.sum() < kept.numel()
    assert_close(added[kept], 2 * double(X)[kept], atol=1e-5, rtol=1e-5)
    assert_close(part.eval()(X, double), X + double(X))


def test_layer_norm_divides_by_the_biased_deviation(loud: Callable[..., nn.Module]) -> None:
    # One document divides by the unbiased deviation plus eps instead, and calls it batch norm; each
    # position is normalised by itself, whatever else is in the batch.
    norm = loud(nn.LayerNorm(D))
    mean, variance = X.mean(-1, keepdim=True), X.var(-1, keepdim=True, correction=0)
    right = (X - mean) / (variance + 1e-5).sqrt() * norm.weight + norm.bias
    wrong = (X - mean) / (X.std(-1, keepdim=True) + 1e-6) * norm.weight + norm.bias
    assert_close(norm(X), right)
    assert (norm(X) - wrong).abs().max() > 0.05
    assert_close(norm(X)[:1], norm(X[:1]))
