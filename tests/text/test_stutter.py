"""Words that follow themselves."""

from time import perf_counter

import pytest

from allyouneed.text.stutter import stutter


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("Ich auch auch nicht.", "auch"),
        ("(Nicht nicht besonders)", "Nicht"),
        ("Er kam in Japan in Japan an.", "in Japan"),
        ("They are of the stages of the stages.", "of the stages"),
        ("Das sind Sie, und das sind Sie.", ""),
        ("Es sind die Hennen, die die Eier legen.", ""),
        ("He had had enough.", ""),
        ("A very very long day.", ""),
        ("Nous nous levons, vous vous couchez.", ""),
        ("Je vais chez chez moi.", "chez"),
        ("Nein, nein.", ""),
        ("", ""),
    ],
)
def test_words_twice(text: str, twice: str) -> None:
    assert stutter(text) == twice


@pytest.mark.parametrize("text", ["ab " * 20_000, "a" * 50_000 + " b b", "ab cd " * 10_000])
def test_long_texts_take_little_time(text: str) -> None:
    began = perf_counter()
    stutter(text)
    assert perf_counter() - began < 2
