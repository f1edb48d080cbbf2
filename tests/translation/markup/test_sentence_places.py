"""Sentences stand apart from the symbols, bars and marks around them."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.translation.markup.protected import SYMBOLS, Protection
from allyouneed.translation.markup.sentence_places import sentence_places


def sentences(text: str, *patterns: str) -> list[str]:
    found = sentence_places(text, Protection(patterns).spans(text))
    return [text[begin:end] for begin, end in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One two. Three.", ["One two.", "Three."]),
        ("© 2024 The News. All rights.", ["2024 The News.", "All rights."]),
        ("♪ We sing ♪", ["We sing"]),
        ("New lanes | The News", ["New lanes", "The News"]),
        ("Terms • Privacy · Contact", ["Terms", "Privacy", "Contact"]),
        ("a|b is one", ["a|b is one"]),
        ("Choose File → New now", ["Choose File → New now"]),
        ("« Bonjour » dit-elle", ["« Bonjour » dit-elle"]),
        ("on IBM® Notes®", ["on IBM® Notes®"]),
        ("{name} writes", ["{name} writes"]),
        (" … ", ["…"]),
        ("| • |", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sincerely,\nThe board", ["Sincerely,", "The board"]),
        ("Why we need\na new website", ["Why we need\na new website"]),
        ("It is late.\nwe know", ["It is late.", "we know"]),
        ("12 Park Road\n10115 Berlin", ["12 Park Road", "10115 Berlin"]),
        ("Options:\n- one\n- two", ["Options:", "- one", "- two"]),
        ("A line of\n{name} here", ["A line of\n{name} here"]),
    ],
)
def test_a_new_line_ends_a_sentence_if_it_looks_like_one(text: str, expected: list[str]) -> None:
    breaks = [n for n, sign in enumerate(text) if sign == "\n"]
    found = sentence_places(text, Protection().spans(text), breaks)
    assert [text[begin:end] for begin, end in found] == expected


@pytest.mark.parametrize("mark", ["[x]", "[ ]", "[^1]:", "[!NOTE]"])
def test_a_mark_at_the_begin_belongs_to_no_sentence(mark: str) -> None:
    marks = r"^\[\^\d\]:|^\[[ x]\]|^\[!\w+\]"
    assert sentences(f"{mark} Read the text.", marks) == ["Read the text."]
    assert sentences(f"Read {mark} now.", marks) == [f"Read {mark} now."]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["a", "Be.", " ", *SYMBOLS[:6], "|", "{n}", "IBM®", "[x]"])))
def test_nothing_with_letters_is_left_out(pieces: list[str]) -> None:
    text = "".join(pieces)
    spans = list(Protection().spans(text))
    places = list(sentence_places(text, spans))
    assert places == sorted(places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))
    for begin, end in places:
        assert not any(b < cut < e for b, e in spans for cut in (begin, end))
    inside = {n for begin, end in places for n in range(begin, end)}
    assert all(n in inside for n, sign in enumerate(text) if sign.isalnum())
