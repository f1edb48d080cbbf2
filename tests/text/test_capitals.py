"""Lines in capitals are known, and written small again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.model_folder.folder import open_model_folder
from allyouneed.text.capitals import (
    in_capitals,
    in_small_letters,
    is_known,
    is_word_in_capitals,
    with_known_capitals,
)


@pytest.mark.parametrize(
    "text", ["HE CAN'T SWIM.", "DIE STRASSE IST NASS", "PRICE: 5 EUR", "ÜBER ALLE BERGE!"]
)
def test_lines_in_capitals(text: str) -> None:
    assert in_capitals(text)


@pytest.mark.parametrize("text", ["", "NATO", "I", "A B C", "He IS HERE", "123", "日本 語", "OK!"])
def test_lines_that_are_none(text: str) -> None:
    assert not in_capitals(text)


def test_a_word_in_capitals_may_be_a_name() -> None:
    assert [*map(is_word_in_capitals, ("WARNING!", "NATO", "EU", "Stop", "NO WAY", "!"))] == [
        *(True, True, False, False, False, False)
    ]
    tokenizer = open_model_folder("en-de").tokenizer
    known = {
        "Warning!": True,
        "Important": True,
        "Exit": True,
        "Ikea": False,
        "Unesco": False,
        "Do it": True,
    }
    assert {one: is_known(one, tokenizer) for one in known} == known


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("HE CAN'T SWIM.", "He can't swim."),
        ("HELLO! ARE YOU THERE? YES.", "Hello! Are you there? Yes."),
        ('"I THINK I\'M LATE"', '"I think I\'m late"'),
        ("(SEE I.E. THIS)", "(See i.e. this)"),
        ("3 MEN ARE HERE", "3 men are here"),
    ],
)
def test_small_letters(text: str, small: str) -> None:
    assert in_small_letters(text) == small


def test_the_vocabulary_knows_names_and_nouns() -> None:
    tokenizer = open_model_folder("en-de").tokenizer
    for text in ("Yesterday Tom came to Boston.", "Der Hund hat Mary im Garten gesehen."):
        small = in_small_letters(text.upper())
        assert with_known_capitals(small, tokenizer) == text, small
    assert with_known_capitals("", tokenizer) == ""


def test_german_words_get_their_eszett_back() -> None:
    tokenizer = open_model_folder("de-en").tokenizer
    for text in ("Ich weiß, dass die Straße nass ist.", "Er wusste von dem großen Fluss."):
        small = in_small_letters(text.upper())
        assert with_known_capitals(small, tokenizer, eszett=True) == text, small
        assert "ß" not in with_known_capitals(small, tokenizer)


@given(st.text())
def test_every_character_stays_in_its_place(text: str) -> None:
    assert len(in_small_letters(text)) == len(text)
