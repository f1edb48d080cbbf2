"""The words of a text are found again when marks around them have changed."""

import pytest

from allyouneed.translation.words import same_words, spread


@pytest.mark.parametrize(
    ("before", "after", "numbers"),
    [
        ('"Oui", dit-il.', "«\u00a0Oui\u00a0», dit-il.", [1, 3]),
        ('Il dit : "Oui."', "Il dit : «\u00a0Oui.\u00a0»", [0, 1, 2, 4]),
        ("Où est-ce", "Où est-ce ?", [0, 1]),
        ("a - b", "a – b", [0, 1, 2]),
        ("", "?", []),
    ],
)
def test_the_same_words(before: str, after: str, numbers: list[int]) -> None:
    assert list(same_words(before, after)) == numbers


def test_values_are_spread_to_marks_that_stand_alone() -> None:
    text = "«\u00a0Oui\u00a0», dit-il."
    assert spread([0.5, 0.7], '"Oui", dit-il.', text) == (0.5, 0.5, 0.5, 0.7)
    assert spread([0.5], "Oui dit-il", text) == (0.5,)
