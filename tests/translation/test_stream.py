"""Translations that are given out as they grow."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import UsageError
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.rules import TextRules
from allyouneed.translation.translator import Translator

GREEDY = BeamOptions(beam=1, max_length=20)
DRAWN = SamplingOptions(seed=5, max_length=20, temperature=2.0)
TEXTS = [
    "ab cd",
    "für 😀\n\n  Straße 👩‍👩‍👧 \r\n",
    "",
    " \n",
    "\tab. cd ef! " * 12,
    "e\u0301 שלום \x00 </s>\udcff",
]


@pytest.fixture(scope="module")
def babbler(small_model: Callable[..., Transformer], small_tokenizer: Tokenizer) -> Translator:
    """Random weights: what it writes breaks characters and puts blanks everywhere."""
    model = small_model(d_model=32, shared_embeddings="none")
    return Translator.of_model(model, small_tokenizer, TextRules(trained_length=24))


@pytest.mark.parametrize("options", [GREEDY, DRAWN], ids=["greedy", "sample"])
@pytest.mark.parametrize("text", TEXTS)
def test_pieces_joined_are_the_translation(
    text: str, options: BeamOptions | SamplingOptions, babbler: Translator
) -> None:
    assert "".join(babbler.stream(text, options)) == babbler(text, options=options).text


@settings(max_examples=12, deadline=None)
@given(text=st.text(max_size=40))
def test_of_any_text(text: str, babbler: Translator) -> None:
    assert "".join(babbler.stream(text, GREEDY)) == babbler(text, options=GREEDY).text


@settings(max_examples=12, deadline=None)
@given(text=st.text(max_size=20))
def test_of_any_translation(text: str, copier: Translator) -> None:
    pieces = list(copier.stream(text))
    assert "".join(pieces) == copier(text, beam=1).text


def test_characters_stay_whole(copier: Translator) -> None:
    text = "für 😀 Straße"
    pieces = list(copier.stream(text))
    assert "".join(pieces) == text
    assert "😀" in "|".join(pieces)


def test_a_text_grows_before_it_is_whole(
    copier: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, step = 0, copier.model.step

    def count(*arguments: object) -> torch.Tensor:
        nonlocal steps
        steps += 1
        return step(*arguments)

    monkeypatch.setattr(copier.model, "step", count)
    pieces = copier.stream("The dog sleeps.")
    assert next(piece for piece in pieces if piece)
    assert steps == 1
    assert len(list(filter(None, pieces))) > 3


def test_a_prefix_comes_first_and_once(babbler: Translator) -> None:
    found = "".join(babbler.stream("ab cd\nefg", GREEDY, prefix="Wo"))
    assert found == babbler("ab cd\nefg", options=GREEDY, prefix="Wo").text
    assert found.startswith("Wo")


def test_what_is_noted_of_a_translation_is_noted_of_a_stream(copier: Translator) -> None:
    text = "The dog sleeps. Where is the station? A man rides a bike.\udcff"
    short = BeamOptions(beam=1, max_length=4)
    expected = copier(text, options=short).notes
    assert len(expected) == 3, "a surrogate, several parts, and cut off"
    stream = copier.stream(text, short)
    list(stream)
    assert stream.notes == expected


def test_a_wider_search_is_refused_at_once(copier: Translator) -> None:
    with pytest.raises(UsageError, match=r"beam=4 .* cannot be streamed"):
        copier.stream("a", BeamOptions())
