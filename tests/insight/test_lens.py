"""The lens ends in the model's own distribution, and its parts add up to the logits."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from allyouneed.core.transformer import Transformer
from allyouneed.errors import UsageError
from allyouneed.insight.capture import capture
from allyouneed.insight.intervene import intervene
from allyouneed.insight.lens import Place, logit_lens

SHAPES = [
    {"residual": residual, "norm": norm, "output_bias": norm == "layer"}
    for residual in ("pre-norm", "post-norm")
    for norm in ("layer", "rms")
]


def look(model: Transformer, pair: tuple[Tensor, Tensor]) -> tuple[list[Place], Tensor, Tensor]:
    """The places, the model's logits, and the tokens that are looked at (the most probable)."""
    with capture(model, residuals=True) as tape:
        logits_BTV = model(*pair)
    target_BT = logits_BTV.argmax(dim=-1)
    return list(logit_lens(model, tape, target_BT)), logits_BTV, target_BT


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_last_place_is_the_model(
    shape: dict[str, object], make: Callable[..., Transformer], pair: tuple[Tensor, Tensor]
) -> None:
    places, logits_BTV, target_BT = look(make(**shape), pair)
    names = [
        f"decoder.layers.{layer}.{kind}"
        for layer in range(3)
        for kind in ("self_attention", "cross_attention", "feed_forward")
    ]
    assert [place.name for place in places] == ["decoder.embeddings", *names]
    assert torch.equal(places[-1].log_p_BTV, logits_BTV.log_softmax(-1))
    assert not torch.allclose(places[-2].log_p_BTV, places[-1].log_p_BTV)
    assert places[-1].parts == ("decoder.embeddings", *names, "biases")
    logit_BT = logits_BTV.gather(-1, target_BT[..., None])[..., 0]
    assert_close(
        places[-1].effects_PBT.sum(0), logit_BT - logits_BTV.mean(-1), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_at_every_place_the_parts_add_up(
    shape: dict[str, object], make: Callable[..., Transformer], pair: tuple[Tensor, Tensor]
) -> None:
    """A logit above the mean logit is the same above the mean log-probability."""
    places, _, target_BT = look(make(**shape), pair)
    for place in places:
        log_p_BT = place.log_p_BTV.gather(-1, target_BT[..., None])[..., 0]
        above = log_p_BT - place.log_p_BTV.mean(-1)
        assert_close(place.effects_PBT.sum(0), above, rtol=1e-4, atol=1e-4)
        assert len(place.parts) == len(place.effects_PBT)


def test_cross_attention_has_its_share(model: Transformer, pair: tuple[Tensor, Tensor]) -> None:
    places, *_ = look(model, pair)
    shares = torch.stack([place.cross_share() for place in places])
    assert shares[:2].eq(0).all(), "it has not come yet"
    assert shares[2:].gt(0).all()
    assert shares.lt(1).all()
    last = places[-1]
    by_hand = sum(
        effects_BT.abs()
        for part, effects_BT in zip(last.parts, last.effects_PBT, strict=True)
        if "cross" in part
    )
    assert_close(shares[-1], by_hand / last.effects_PBT.abs().sum(0))


def test_what_is_off_has_no_share(
    make: Callable[..., Transformer], pair: tuple[Tensor, Tensor]
) -> None:
    model = make(bias=False)
    names = [f"decoder.layers.{layer}.cross_attention" for layer in range(3)]
    with intervene(model, switch_off=names):
        places, *_ = look(model, pair)
    assert all(place.cross_share().eq(0).all() for place in places)


def test_a_tape_without_residuals_is_refused(
    model: Transformer, pair: tuple[Tensor, Tensor]
) -> None:
    with capture(model) as tape:
        model(*pair)
    with pytest.raises(UsageError, match="residuals=True"):
        next(logit_lens(model, tape, pair[1]))
