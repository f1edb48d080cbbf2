"""Lines that open or close a letter come from a table; other lines do not."""

import pytest

from allyouneed.text.letters import letter_formula, letter_formulas

EN_DE, DE_EN = ("en", "de"), ("de", "en")
EN_FR, FR_EN, EN_ES, ES_EN = ("en", "fr"), ("fr", "en"), ("en", "es"), ("es", "en")


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
        ("Dear Anna,", EN_FR, "Cher/chère Anna,"),
        ("Dear Mr. Smith:", EN_FR, "Cher Monsieur Smith,"),
        ("Hello everyone!", EN_FR, "Bonjour à tous !"),
        ("Kind regards", EN_FR, "Cordialement,"),
        ("Love, Anna and Paul", EN_FR, "Bises, Anna et Paul"),
        ("Madame, Monsieur,", FR_EN, "Dear Sir or Madam,"),
        ("Chère Hélène, cher Paul,", FR_EN, "Dear Hélène, dear Paul,"),
        ("Bonjour à tous !", FR_EN, "Hello everyone!"),
        ("Bonjour l’équipe,", FR_EN, "Hello team,"),
        ("Bonjour Monsieur Dupont,", FR_EN, "Hello Mr. Dupont,"),
        ("Cordialement,", FR_EN, "Kind regards,"),
        ("Bien à vous, Éric", FR_EN, "Best regards, Éric"),
        ("Dear Anna,", EN_ES, "Querido/a Anna:"),
        ("Dear Mr. and Mrs. García,", EN_ES, "Estimados Sr. y Sra. García:"),
        ("Hi Ana and Inés,", EN_ES, "Hola, Ana e Inés:"),
        ("Hi everyone!", EN_ES, "¡Hola a todos!"),
        ("Kind regards,", EN_ES, "Un cordial saludo,"),
        ("Estimado Sr. García:", ES_EN, "Dear Mr. García,"),
        ("Querida Ana:", ES_EN, "Dear Ana,"),
        ("Hola Juan e Íñigo:", ES_EN, "Hello Juan and Íñigo,"),
        ("Un abrazo, Ñusta", ES_EN, "Best wishes, Ñusta"),
        ("¡Hola a todos!", ES_EN, "Hello everyone!"),
        ("Atentamente,", ES_EN, "Yours sincerely,"),
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
        ("Dear Anna,", ("en", "it")),
        ("Madame Bovary", FR_EN),
        ("Monsieur Dupont est là,", FR_EN),
        ("Merci", FR_EN),
        ("Chère Anna, merci de ta lettre,", FR_EN),
        ("Querida Ana, gracias por tu carta:", ES_EN),
        ("Saludos", ES_EN),
        ("Hola mundo", ES_EN),
        ("Un saludo de mi parte.", ES_EN),
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


@pytest.mark.parametrize(
    ("lines", "languages", "last"),
    [
        (["Cordialement,", "", "Hélène et Paul"], FR_EN, "Hélène and Paul"),
        (["Bises", "Anna"], FR_EN, None),  # it lacks its comma
        (["Cordialement,", "Votre équipe"], FR_EN, None),
        (["Un abrazo,", "Ana y Luis"], ES_EN, "Ana and Luis"),
        (["Atentamente,", "El Equipo"], ES_EN, None),
    ],
)
def test_names_sign_a_letter_in_french_and_spanish(
    lines: list[str], languages: tuple[str, str], last: str | None
) -> None:
    found = letter_formulas(lines, languages)[-1]
    assert (found and found.text) == last
