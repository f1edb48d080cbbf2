"""Moses' words know where they stand in the text."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.errors import UsageError
from allyouneed.text.moses import Moses, Spaces

ENGLISH = Moses("en")


def standing(rules: Moses | Spaces, text: str) -> list[str]:
    """For each word, the text's characters that it stands for."""
    words = rules.words(text)
    places = rules.places(words, text, escapes=rules.escapes)
    return ["".join(text[i] for i in dict.fromkeys(place)) for place in places]


def test_escapes_stand_for_their_signs() -> None:
    text = 'The boy\'s "well-known" dog & [I] <3.'
    words = ENGLISH.words(text)
    assert words[:8] == ["The", "boy", "&apos;s", "&quot;", "well", "@-@", "known", "&quot;"]
    found = [
        "The",
        "boy",
        "'s",
        '"',
        "well",
        "-",
        "known",
        '"',
        "dog",
        "&",
        "[",
        "I",
        "]",
        "<",
        "3",
    ]
    assert standing(ENGLISH, text) == [*found, "."]


def test_without_escapes_and_hyphens() -> None:
    plain = Moses("en", escapes=False, hyphens=False)
    assert plain.words("a well-known boy's") == ["a", "well-known", "boy", "'s"]
    assert standing(plain, "&quot; a-b") == ["&", "quot", ";", "a-b"]


def test_an_escape_that_is_text() -> None:
    assert ENGLISH.words("&quot;") == ["&amp;", "quot", ";"]
    assert standing(ENGLISH, "&quot;") == ["&", "quot", ";"]


def test_characters_that_the_rules_leave_out() -> None:
    assert standing(ENGLISH, "a\u0007b \u0000\u0001 c") == ["ab", "c"]


@given(text=st.text(st.sampled_from("ab .,'\"-&<|[]é日\t\u00a05€…@;"), max_size=40))
def test_places_are_in_the_text_and_in_order(text: str) -> None:
    words = ENGLISH.words(text)
    places = [i for place in ENGLISH.places(words, text, escapes=True) for i in place]
    assert len(places) == sum(map(len, words))
    assert places == sorted(places)
    assert all(0 <= place < len(text) for place in places)


@given(text=st.text(st.sampled_from("abc .,!?'"), max_size=40))
def test_words_stand_for_all_that_is_not_blank(text: str) -> None:
    assert "".join(standing(ENGLISH, text)) == "".join(text.split())


def test_words_are_joined_as_people_write() -> None:
    words = ["&quot;", "Two", "well", "@-@", "known", "dogs", "&quot;", ",", "he", "said", "."]
    assert ENGLISH.text(words) == '"Two well-known dogs", he said.'
    assert Moses("fr").text(["l&apos;", "eau", "est", "bleue", "!"]) == "l'eau est bleue !"


def test_text_that_is_set_apart_already() -> None:
    assert Spaces().words(" a  b's c") == ["a", "b's", "c"]
    assert Spaces().text(["a", "b's"]) == "a b's"
    assert standing(Spaces(), " a  ab a") == ["a", "ab", "a"]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(UsageError, match=r"pip install 'allyouneed\[moses\]'"):
        Moses("en")
