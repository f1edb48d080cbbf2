from hypothesis import example, given, settings
from hypothesis import strategies as st

from allyouneed.text.clean import clean


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=50, deadline=None)
def test_text_without_surrogates_is_left_alone(text: str) -> None:
    assert clean(text) == (text, [])


@given(st.text(st.characters()))
@example("\ud83d\ude00")
@settings(max_examples=100, deadline=None)
def test_only_surrogates_change_and_nothing_moves(text: str) -> None:
    cleaned, _ = clean(text)
    cleaned.encode()
    assert len(cleaned) == len(text)
    for before, after in zip(text, cleaned, strict=True):
        assert after == ("\ufffd" if "\ud800" <= before <= "\udfff" else before)


def test_the_note_says_how_many_and_where() -> None:
    text, notes = clean("ab\ud800c\udfff")
    assert text == "ab\ufffdc\ufffd"
    assert len(notes) == 1
    assert "2 lone surrogates" in notes[0]
    assert "character 3" in notes[0]
    assert "1 lone surrogate," in clean("\ud800")[1][0]
