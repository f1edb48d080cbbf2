"""Which words stand for which literals."""

import pytest

from allyouneed.translation.markup.stand_ins import NAMES, NUMBERS, asked, words_for


@pytest.mark.parametrize(
    "literal", ["1987", "$1,200", "$5", "5 €", "1 200,50 €", "£45,000", "%d", "{count}", "555-0199"]
)
def test_a_number_stands_for_numbers_and_sums(literal: str) -> None:
    assert words_for([literal], 0) == [NUMBERS]


@pytest.mark.parametrize("literal", ["https://example.org", "{name}", "`x`", "$name", "€"])
def test_a_name_stands_for_other_literals(literal: str) -> None:
    assert words_for([literal], 0) == [NAMES]


def test_each_literal_of_a_sentence_has_words_of_its_kind() -> None:
    assert words_for(["$5", "{name}"], 0) == [NUMBERS, NAMES]


def test_notes_name_the_literal_and_not_its_stand_in() -> None:
    ask = asked("It cost $2 trillion.", [(8, 10)], [NUMBERS])
    assert ask.text == "It cost 99 trillion."
    note = ask.as_typed(["$2"])("the translation of 'It …' lacks the number 99 trillion: check it")
    assert note == "the translation of 'It …' lacks the number $2 trillion: check it"
