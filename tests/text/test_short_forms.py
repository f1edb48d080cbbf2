"""Short forms in full, for models that know the words only."""

import pytest

from allyouneed.text.short_forms import in_full
from allyouneed.translation.markup.rewriting import Rewriting

EN_DE = ("en", "de")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bring fruit, e.g. apples.", "Bring fruit, for example apples."),
        ("E.g., apples.", "For example, apples."),
        ("It weighs approx. 20 kg.", "It weighs about 20 kg."),
        ("It weighs approx. Tom.", "It weighs about Tom."),
        ("See Fig. 3 on p. 12, or pp. 3-5.", "See Figure 3 on page 12, or pages 3-5."),
        ("On Jan. 5, on 5 Sept. 2020.", "On January 5, on 5 September 2020."),
        ("It is on 5 Oct.", "It is on 5 October."),
        ("It takes 3 hrs. Then go.", "It takes 3 hours. Then go."),
        ("Thx, pls call asap!", "Thanks, please call as soon as possible!"),
        ("FYI: are u OK?", "For your information: are you OK?"),
        ("I dunno, we're gonna win.", "I don't know, we're going to win."),
        ("Tea w/o milk.", "Tea without milk."),
        ("The U.S. president met Prof. Lee.", "The US president met Professor Lee."),
        ("He is in the U.S., she in the U.K.", "He is in the US, she in the U.K."),
    ],
)  # fmt: skip
def test_short_forms_are_spelt_out(text: str, expected: str) -> None:
    assert Rewriting(text, in_full(text, EN_DE)).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "At 5 p.m. 3 came.",
        "I am in the U.S.",
        "Dec and Jan sat in the sun.",
        "It is u-shaped; a/u.",
        "Ur was a city.",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert list(in_full(text, EN_DE)) == []


def test_only_known_languages_have_short_forms() -> None:
    for languages in (("de", "en"), ("en", "en"), ("", ""), ("xx", "de")):
        assert list(in_full("Thx, e.g. u.", languages)) == []
