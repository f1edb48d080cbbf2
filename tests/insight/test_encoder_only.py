"""A model without a decoder can be looked into, too."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

import allyouneed
from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.encoder_only.model import EncoderModel
from allyouneed.errors import UsageError
from allyouneed.insight.capture import capture
from allyouneed.insight.intervene import Patch, intervene

TEXT = "The dog sleeps."


@pytest.fixture
def model(encoder_folder: Path) -> EncoderModel:
    opened: EncoderModel = allyouneed.load(encoder_folder)
    return opened


def test_attention_of_a_prediction_is_captured(model: EncoderModel) -> None:
    before = model.predict(TEXT)
    with capture(model, residuals=True, queries_keys=True, activations=True) as tape:
        during = model.predict([TEXT, "A man rides a bike."])[0]
    length = 1 + max(
        len(model.tokenizer.encode(text).ids) for text in (TEXT, "A man rides a bike.")
    )
    layers = ["encoder.layers.0.self_attention", "encoder.layers.1.self_attention"]
    assert list(tape) == layers
    for name in layers:
        assert tape[name].shape == (2, 2, length, length)
        assert_close(tape[name].sum(-1), torch.ones(2, 2, length))
        assert tape.queries[name].shape == (2, 2, length, 8)
    assert tape[f"{layers[1]}[1]"].shape == (2, length, length)
    assert tape.activations["encoder.layers.0.feed_forward"].shape == (2, length, 24)
    assert_close(tape.residuals["encoder.layers.1.feed_forward"], tape.residuals["encoder.norm"])
    assert during.probabilities == pytest.approx(before.probabilities, abs=1e-5)
    assert all(not part.probes for part in map(model.model.get_submodule, layers))


def test_heads_are_switched_off_and_streams_patched(
    small_encoder: Callable[..., EncoderOnly], model: EncoderModel
) -> None:
    before, head = model.predict(TEXT), "encoder.layers.0.self_attention[1]"
    with intervene(model, switch_off=[head]):
        off = model.predict(TEXT)
    assert off.probabilities != pytest.approx(before.probabilities, abs=1e-3)
    without = small_encoder()
    with torch.no_grad():
        without.encoder.layers[0].self_attention.W_O.weight[:, 8:] = 0
    expected = EncoderModel(without, model.tokenizer, model.heads).predict(TEXT)
    assert off.probabilities == pytest.approx(expected.probabilities, abs=1e-5)

    with capture(model, residuals=True) as tape:
        model.predict("A man.")
    first = Patch(tape.residuals["encoder.layers.1.feed_forward"][0].clone(), positions=[0])
    with intervene(model, patch={"encoder.norm": first}):
        patched = model.predict(TEXT)
    assert patched.probabilities == pytest.approx(model.predict("A man.").probabilities, abs=1e-5)
    nowhere = intervene(model, patch={"decoder.norm": first})
    with pytest.raises(UsageError, match=r"there is no 'decoder.norm' to patch"), nowhere:
        pass
    assert model.predict(TEXT) == before
