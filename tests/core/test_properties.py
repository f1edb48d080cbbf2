"""What holds for the whole model whatever its weights: causality, padding, order of the batch."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from allyouneed.core import masks, simple_recurrent_unit
from allyouneed.core.config import TransformerConfig
from allyouneed.core.simple_recurrent_unit import scan
from allyouneed.core.transformer import Transformer

Loud = Callable[..., nn.Module]
Sentences = Callable[..., Tensor]
QUICK = settings(max_examples=25, deadline=None)
LENGTHS = st.lists(st.integers(1, 8), min_size=1, max_size=4)
SEEDS = st.integers(0, 2**31)
# In float64 only a mistake makes a difference; the tables of positions are rounded to float32.
assert_close = partial(torch.testing.assert_close, rtol=0, atol=1e-5)

KINDS: dict[str, dict[str, Any]] = {
    "the paper": {},
    "pre-norm rotary": {"residual": "pre-norm", "positions": "rotary"},
    "learned": {"positions": "learned", "norm": "rms", "activation": "swiglu"},
    "starts with pad": {"start": 0},
    "ssru": {"decoder": "ssru"},
}


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, config: TransformerConfig, loud: Loud) -> Transformer:
    model = loud(Transformer(replace(config, **KINDS[request.param])))
    return cast(Transformer, model.double())


def change(ids_BT: Tensor, from_: int) -> Tensor:
    """Other words from a position on; padding stays where it is."""
    other_BT = 3 + (ids_BT - 3 + 7) % 20
    other_BT[:, :from_] = ids_BT[:, :from_]
    return other_BT.masked_fill(ids_BT == 0, 0)


def check_the_future_is_invisible(model: Transformer, source_BS: Tensor, target_BT: Tensor) -> None:
    logits_BTV = model(source_BS, target_BT)
    assert logits_BTV.std() >= 1
    for cut in range(1, target_BT.size(1)):
        other_BTV = model(source_BS, change(target_BT, cut))
        assert_close(other_BTV[:, :cut], logits_BTV[:, :cut])
        assert (other_BTV[:, cut] - logits_BTV[:, cut]).abs().max() > 1e-2


@given(seed=SEEDS, length=st.integers(2, 8))
@QUICK
def test_the_future_is_invisible(
    model: Transformer, sentences: Sentences, seed: int, length: int
) -> None:
    source_BS = sentences([5, 7], seed=seed)
    check_the_future_is_invisible(model, source_BS, sentences([length] * 2, seed=seed + 1))


def check_padding_changes_nothing(
    model: Transformer, source_BS: Tensor, target_BT: Tensor, *, pads: int, left: bool
) -> None:
    sides = (pads, 0) if left else (0, pads)
    logits_BTV = model(source_BS, target_BT)
    more_BS = nn.functional.pad(source_BS, sides)
    assert_close(model(more_BS, target_BT), logits_BTV)
    if left and model.config.start == model.config.pad:
        return  # the pads would be starts
    more_BT = nn.functional.pad(target_BT, sides)
    real = slice(pads, None) if left else slice(target_BT.size(1))
    assert_close(model(more_BS, more_BT)[:, real], logits_BTV)


@given(seed=SEEDS, pads=st.integers(1, 4), left=st.booleans())
@QUICK
def test_padding_changes_nothing(
    model: Transformer, sentences: Sentences, seed: int, pads: int, left: bool
) -> None:
    source_BS = sentences([5, 5], seed=seed)
    target_BT = sentences([4, 4], seed=seed + 1)
    check_padding_changes_nothing(model, source_BS, target_BT, pads=pads, left=left)


@given(seed=SEEDS, sources=LENGTHS, left=st.booleans())
@QUICK
def test_a_sentence_comes_out_the_same_alone(
    model: Transformer, sentences: Sentences, seed: int, sources: list[int], left: bool
) -> None:
    targets = [1 + (length + seed) % 7 for length in sources]
    source_BS, target_BT = sentences(sources, seed=seed, left=left), sentences(targets, seed=seed)
    logits_BTV = model(source_BS, target_BT)
    for b, (source, target) in enumerate(zip(sources, targets, strict=True)):
        source_S = source_BS[b, -source:] if left else source_BS[b, :source]
        alone_TV = model(source_S[None], target_BT[b : b + 1, :target])[0]
        assert_close(logits_BTV[b, :target], alone_TV)


@given(seed=SEEDS, order=st.permutations(range(4)))
@QUICK
def test_the_order_of_the_batch_does_not_matter(
    model: Transformer, sentences: Sentences, seed: int, order: list[int]
) -> None:
    source_BS = sentences([5, 2, 7, 1], seed=seed)
    target_BT = sentences([3, 6, 1, 4], seed=seed)
    logits_BTV = model(source_BS, target_BT)
    assert_close(model(source_BS[order], target_BT[order]), logits_BTV[order])


def test_the_source_is_seen_both_ways(model: Transformer, sentences: Sentences) -> None:
    source_BS, target_BT = sentences([6, 6]), sentences([4, 4])
    logits_BTV = model(source_BS, target_BT)
    for position in range(6):
        other_BS = source_BS.clone()
        other_BS[:, position] = change(source_BS, 0)[:, position]
        moved_BT = (model(other_BS, target_BT) - logits_BTV).abs().amax(-1)
        assert (moved_BT > 1e-4).all()


def see_everything(length: int, device: torch.device | None = None) -> Tensor:
    return torch.ones(1, 1, length, length, dtype=torch.bool, device=device)


def see_padding(ids_BS: Tensor, pad: int) -> Tensor:
    return torch.ones_like(ids_BS, dtype=torch.bool)[:, None, None, :]


def scan_backwards(forget_BTD: Tensor, new_BTD: Tensor) -> Tensor:
    return scan(forget_BTD.flip(1), new_BTD.flip(1)).flip(1)


def see_one_ahead(length: int, device: torch.device | None = None) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device=device).tril(1)[None, None]


@pytest.mark.parametrize("broken", [see_everything, see_one_ahead])
def test_the_causality_test_can_fail(
    model: Transformer,
    sentences: Sentences,
    monkeypatch: pytest.MonkeyPatch,
    broken: Callable[..., Tensor],
) -> None:
    source_BS, target_BT = sentences([5, 7]), sentences([4, 4])
    check_the_future_is_invisible(model, source_BS, target_BT)
    monkeypatch.setattr(masks, "causal", broken)
    monkeypatch.setattr(simple_recurrent_unit, "scan", scan_backwards)
    with pytest.raises(AssertionError):
        check_the_future_is_invisible(model, source_BS, target_BT)


@pytest.mark.parametrize("left", [True, False])
def test_the_padding_test_can_fail(
    model: Transformer, sentences: Sentences, monkeypatch: pytest.MonkeyPatch, left: bool
) -> None:
    source_BS, target_BT = sentences([5, 5]), sentences([4, 4])
    check_padding_changes_nothing(model, source_BS, target_BT, pads=2, left=left)
    monkeypatch.setattr(masks, "padding", see_padding)
    with pytest.raises(AssertionError):
        check_padding_changes_nothing(model, source_BS, target_BT, pads=2, left=left)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_an_empty_source_is_finite(
    model: Transformer, sentences: Sentences, dtype: torch.dtype
) -> None:
    """All padding: every row of the encoder's and the cross attention is hidden."""
    source_BS, target_BT = sentences([5, 3]), sentences([4, 4])
    source_BS[0] = 0
    model = deepcopy(model).to(dtype)
    logits_BTV = model(source_BS, target_BT)
    logits_BTV.float().pow(2).mean().backward()
    assert logits_BTV.isfinite().all()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())
