"""A letter's first and last lines are translated from a table, the others by the model."""

import pytest

import allyouneed
from allyouneed.translation.translator import Translator


@pytest.fixture(scope="module")
def english() -> Translator:
    return allyouneed.load("en-de")


def test_a_letter(english: Translator) -> None:
    found = english("Dear Mr. Smith,\nThe dog sleeps.\nKind regards,\nTom", alignments=True)
    lines = found.text.splitlines()
    assert lines[0] == "Sehr geehrter Herr Smith,"
    assert lines[2:] == ["Mit freundlichen Grüßen", "Tom"]
    assert found.alignment is not None
    assert found.confidence is not None
    assert "".join(english.stream("Dear Mr. Smith,\nThe dog sleeps.")).splitlines() == lines[:2]


@pytest.mark.parametrize("name", ["Klaus Fischer", "Wiebke Kühn", "Dr. Grün"])
def test_the_name_of_the_writer_stays(name: str) -> None:
    found = allyouneed.load("de-en")(f"Der Hund schläft.\n\nMit freundlichen Grüßen\n{name}")
    assert found.text.splitlines()[2:] == ["Kind regards,", name]


def test_a_doubtful_name_has_a_note(english: Translator) -> None:
    found = english("Dear Anna,")
    assert (found.text, found.confidence) == ("Liebe/r Anna,", None)
    assert any("'Anna' is taken for a name" in note for note in found.notes)


def test_without_protection_the_model_sees_the_line(english: Translator) -> None:
    assert english("Dear Anna,", protect=False).tokens
