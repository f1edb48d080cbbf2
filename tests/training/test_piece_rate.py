"""Tokens per character by language, and a word where they are many."""

import pytest

from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.piece_rate import tokens_per_character, told


def test_tokens_are_counted_by_language(small_tokenizer: Tokenizer) -> None:
    texts = [
        ("en", "The dog sleeps."),
        ("ru", "Где?"),
        ("en", " "),
        ("en", "Where is the station?"),
    ]
    rates = tokens_per_character(small_tokenizer, texts)
    count = len(small_tokenizer.encode(texts[0][1]).ids) + len(
        small_tokenizer.encode(texts[3][1]).ids
    )
    assert rates["en"] == pytest.approx((count - 2) / 36)
    assert rates["ru"] >= 7 / 4  # two bytes a letter, and no piece of its own
    assert list(rates) == ["en", "ru"]


def test_languages_that_take_many_are_named() -> None:
    few, many = told({"de": 0.5, "en": 0.3, "ja": 0.61})
    assert few == "tokens per character: de 0.50, en 0.30, ja 0.61"
    assert "English: ja 2.0 times; " in many
    assert len(told({"de": 0.5, "en": 0.3, "ja": 0.6})) == 1
    assert (
        len(told({"de": 0.1, "ja": 0.9})) == 1
    )  # without English there is nothing to compare with
