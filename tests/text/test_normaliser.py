"""Every way of typing a text becomes the one that the model has learnt, place by place."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.errors import UsageError
from allyouneed.text.normaliser import AsTyped, PlainMarks, normaliser_named

plain = PlainMarks().plain


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("He can’t swim.", "He can't swim."),
        ("I don´t know.", "I don't know."),
        ("“Hello,” she said.", '"Hello," she said.'),
        ("„Hallo“, sagte sie.", '"Hallo", sagte sie.'),
        ("»Tom« ist mein Name.", '"Tom" ist mein Name.'),
        ("Er sagte »Ja« und »Nein«.", 'Er sagte "Ja" und "Nein".'),
        ("« Tom » est mon nom.", '"Tom" est mon nom.'),
        ("Il dit (« Non\u202f!\u00a0»).", 'Il dit ("Non !").'),
        ("«Tom» est « mon\u00a0», nom", '"Tom" est "mon", nom'),
        ("It was late — very late – too late.", "It was late - very late - too late."),
        ("It was late—very late.", "It was late - very late."),
        ("pages 10–20, −5 °C", "pages 10-20, -5 °C"),
        ("Wait…", "Wait..."),
        ("I dont care.He does.Really", "I dont care. He does. Really"),
        ("Hello!How are you?Fine.", "Hello! How are you? Fine."),
        ("And then…he left...today. 1...2", "And then... he left... today. 1...2"),
        ("A\u00a0man\trides a\u2009bike.", "A man rides a bike."),
        ("A  man   rides.", "A man rides."),
        ("bi\u00adcy\u200bcle", "bicycle"),
        ("\ufeffHello.", "Hello."),
        ("Cafe\u0301 in Ko\u0308ln", "Café in Köln"),
        ("oﬃce ﬁles", "office files"),
        ("\u1112\u1161\u11ab", "한"),
        ("👩\u200d🚒 is here.", "👩\u200d🚒 is here."),
        ("\u200b", ""),
    ],
)
def test_one_form(typed: str, read: str) -> None:
    assert plain(typed).text == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "See com.example.App, Node.js or z.B.Er.",
        "foo.Bar() e.g.This",
        "He can't swim.",
        "Straße: 5 €, 3 × 4",
        "日本語。",
        'say "hi"',
        "x_y - {name} %s",
    ],
)
def test_what_needs_no_change_goes_through_untouched(text: str) -> None:
    found = plain(text)
    assert found.text is text
    assert found.places is None
    assert found.typed(0, len(text)) == (0, len(text))


@pytest.mark.parametrize(
    ("typed", "word", "written"),
    [
        ("“Hello,” she said.", "she", "she"),
        ("co\u00adop\u00aderate now", "cooperate", "co\u00adop\u00aderate"),
        ("A\u00a0 man", "man", "man"),
        ("so… many", "...", "…"),
        ("so… many", ".", "…"),
        ("Cafe\u0301 noir", "Café", "Cafe\u0301"),
        ("late—very", " - ", "—"),
        ("  \ufeffHello", "Hello", "Hello"),
    ],
)
def test_places_lead_back_to_what_was_typed(typed: str, word: str, written: str) -> None:
    found = plain(typed)
    begin = found.text.index(word)
    first, end = found.typed(begin, begin + len(word))
    assert typed[first:end] == written


@given(
    st.text(
        alphabet=st.sampled_from("ab \t\u00a0“”’—…\u00ade\u0301ﬁ-\u200b1\u1112\u1161"), max_size=30
    )
)
def test_the_form_is_final_and_places_rise(typed: str) -> None:
    found = plain(typed)
    assert plain(found.text).text == found.text
    assert unicodedata.is_normalized("NFC", found.text)
    places = found.places or list(range(len(typed) + 1))
    assert len(places) == len(found.text) + 1
    assert list(places) == sorted(places)
    assert all(0 <= place <= len(typed) for place in places)
    for n in range(len(found.text)):
        first, end = found.typed(n, n + 1)
        assert first < end <= len(typed)


@given(st.text(max_size=40))
def test_lines_joined_are_the_text(text: str) -> None:
    for one in (PlainMarks(), AsTyped()):
        assert "".join(line + end for line, end in one.lines(text)) == text


def test_line_ends_are_those_of_unicode() -> None:
    text = "one\u2028two\x85three\vfour\r\nfive\nsix"
    assert [line for line, _ in PlainMarks().lines(text)] == [
        *("one", "two", "three", "four", "five", "six")
    ]
    assert len(AsTyped().lines(text)) == 3


def test_without_a_normaliser_texts_stay_as_typed() -> None:
    assert normaliser_named(None).plain("“a\u00a0b”").text == "“a\u00a0b”"


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(UsageError, match=r"'plain-mark'; did you mean plain-marks"):
        normaliser_named("plain-mark")
