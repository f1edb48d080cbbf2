"""Lines that open or close a letter come from a table; other lines do not."""

import pytest

from allyouneed.text.letters import letter_formula

EN_DE, DE_EN = ("en", "de"), ("de", "en")


@pytest.mark.parametrize(
    ("line", "languages", "text"),
    [
        ("Dear Anna,", EN_DE, "Liebe/r Anna,"),
        ("  Dear Mr. Smith, ", EN_DE, "  Sehr geehrter Herr Smith, "),
        ("Dear Sir or Madam,", EN_DE, "Sehr geehrte Damen und Herren,"),
        ("Dear Colleagues,", EN_DE, "Liebe Kolleginnen und Kollegen,"),
        ("Kind regards,", EN_DE, "Mit freundlichen Grüßen"),
        ("Kind regards, Anna", EN_DE, "Mit freundlichen Grüßen, Anna"),
        ("Liebe Anna,", DE_EN, "Dear Anna,"),
        ("Sehr geehrte Frau von Berg,", DE_EN, "Dear Ms. von Berg,"),
        ("Liebe Gäste!", DE_EN, "Dear guests!"),
        ("Mit freundlichen Grüßen", DE_EN, "Kind regards,"),
    ],
)
def test_lines_of_letters(line: str, languages: tuple[str, str], text: str) -> None:
    found = letter_formula(line, languages)
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    ("line", "languages"),
    [
        ("Dear me!", EN_DE),
        ("Dear Anna, thank you for your letter.", EN_DE),
        ("He sends his kind regards.", EN_DE),
        ("Liebe macht blind.", DE_EN),
        ("Dear Anna,", ("en", "fr")),
        ("", EN_DE),
    ],
)
def test_other_lines(line: str, languages: tuple[str, str]) -> None:
    assert letter_formula(line, languages) is None


def test_only_a_title_makes_a_name_sure() -> None:
    named = [letter_formula(one, EN_DE) for one in ("Dear Anna,", "Dear Mr. Smith,")]
    assert [one and one.is_sure for one in named] == [False, True]
