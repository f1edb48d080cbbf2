"""Lines that open or close a letter come from a table; other lines do not."""

import pytest

from allyouneed.text.letters import letter_formula, letter_formulas

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
        ("Liebe Grüße", DE_EN, "Best wishes,"),
        ("Liebe Grüße!", DE_EN, "Best wishes!"),
        ("LG Anna", DE_EN, "Best wishes, Anna"),
        ("Hi team,", EN_DE, "Hallo Team,"),
        ("Love, Anna", EN_DE, "Alles Liebe, Anna"),
        ("Cheers,", EN_DE, "Viele Grüße"),
        ("Hallo Sabine und Jörg,", DE_EN, "Hello Sabine and Jörg,"),
        ("Lieber Herr Dr. Weber,", DE_EN, "Dear Dr. Weber,"),
        ("Liebe Sabine, lieber Herr Dr. Weber,", DE_EN, "Dear Sabine, dear Dr. Weber,"),
        ("Good evening, Mr Smith.", EN_DE, "Guten Abend, Herr Smith."),
        ("Dear Mr and Mrs Hill,", EN_DE, "Sehr geehrte Frau Hill, sehr geehrter Herr Hill,"),
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
        ("Love", EN_DE),
        ("Cheers!", EN_DE),
        ("Hello World", EN_DE),
        ("Hallo Welt!", DE_EN),
        ("Liebe Grüße aus Wien!", DE_EN),
        ("Liebe Anna, das Haus ist leer,", DE_EN),
        ("Liebe Anna,  ", ("de", "fr")),
        ("Dear Anna,", ("en", "fr")),
        ("", EN_DE),
    ],
)
def test_other_lines(line: str, languages: tuple[str, str]) -> None:
    assert letter_formula(line, languages) is None


def test_only_a_title_makes_a_name_sure() -> None:
    named = [letter_formula(one, EN_DE) for one in ("Dear Anna,", "Dear Mr. Smith,")]
    assert [one and one.is_sure for one in named] == [False, True]


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        (["Viele Grüße", "Klaus Fischer"], "Klaus Fischer"),
        (["Viele Grüße", "", "Dr. Hans von Stein"], "Dr. Hans von Stein"),
        (["Liebe Grüße,", "Sabine und Jörg"], "Sabine and Jörg"),
        (["Viele Grüße", "Ihr Team"], None),
        (["Viele Grüße", "Klaus", "Leiter Einkauf"], None),
        (["Viele Grüße, Anna", "Tisch"], None),
        (["Der Tisch", "Klaus Fischer"], None),
    ],
)
def test_names_sign_a_letter(lines: list[str], last: str | None) -> None:
    found = letter_formulas(lines, DE_EN)[-1]
    assert (found and found.text) == last
