"""Lines that open or close a letter come from a table; other lines do not."""

import pytest

from allyouneed.text.letters import _rows, letter_formula, letter_formulas
from allyouneed.text.tongues.known import TONGUES

EN_DE, DE_EN = ("en", "de"), ("de", "en")
EN_NL, NL_EN, EN_SV, SV_EN = ("en", "nl"), ("nl", "en"), ("en", "sv"), ("sv", "en")
EN_PL, PL_EN = ("en", "pl"), ("pl", "en")
EN_IT, IT_EN, EN_PT, PT_EN = ("en", "it"), ("it", "en"), ("en", "pt"), ("pt", "en")
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
        ("Dear Anna,", EN_NL, "Beste Anna,"),
        ("Dear Mr. and Mrs. de Vries,", EN_NL, "Geachte heer en mevrouw de Vries,"),
        ("Kind regards,", EN_NL, "Met vriendelijke groet,"),
        ("Love, Anna and Piet", EN_NL, "Liefs, Anna en Piet"),
        ("Geachte mevrouw Jansen,", NL_EN, "Dear Ms. Jansen,"),
        ("Beste collega’s,", NL_EN, "Dear colleagues,"),
        ("Hoi Piet en Truus,", NL_EN, "Hi Piet and Truus,"),
        ("Groetjes, Anna", NL_EN, "Cheers, Anna"),
        ("Dear Anna,", EN_SV, "Kära Anna,"),
        ("Hi everyone!", EN_SV, "Hej alla!"),
        ("Kind regards,", EN_SV, "Med vänliga hälsningar"),
        ("Bäste herr Öberg,", SV_EN, "Dear Mr. Öberg,"),
        ("Hej Åsa och Björn,", SV_EN, "Hello Åsa and Björn,"),
        ("Med vänliga hälsningar", SV_EN, "Kind regards,"),
        ("Dear Sir or Madam,", EN_PL, "Szanowni Państwo,"),
        ("Dear Mr. Nowak,", EN_PL, "Szanowny Panie Nowak,"),
        ("Kind regards,", EN_PL, "Z poważaniem"),
        ("Szanowna Pani Świątek,", PL_EN, "Dear Ms. Świątek,"),
        ("Witam wszystkich!", PL_EN, "Hello everyone!"),
        ("Dear Anna,", EN_IT, "Caro/a Anna,"),
        ("Dear Mr. Rossi,", EN_IT, "Gentile signor Rossi,"),
        ("Hi everyone!", EN_IT, "Ciao a tutti!"),
        ("Love, Anna and Ugo", EN_IT, "Con affetto, Anna e Ugo"),
        ("Gentile dott.ssa Bianchi,", IT_EN, "Dear Dr. Bianchi,"),
        ("Ciao Ada ed Enzo,", IT_EN, "Hi Ada and Enzo,"),
        ("Cordiali saluti", IT_EN, "Kind regards,"),
        ("Dear Mr. and Mrs. Araújo,", EN_PT, "Prezados Sr. e Sra. Araújo,"),
        ("Kind regards,", EN_PT, "Atenciosamente,"),
        ("Prezada Sra. Gonçalves,", PT_EN, "Dear Ms. Gonçalves,"),
        ("Oi, pessoal!", PT_EN, "Hi everyone!"),
        ("Um abraço, Inês e João", PT_EN, "Best wishes, Inês and João"),
        ("Pozdrawiam, Łukasz i Żaneta", PL_EN, "Regards, Łukasz and Żaneta"),
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
        ("Dear Anna,", ("en", "tr")),
        ("Madame Bovary", FR_EN),
        ("Monsieur Dupont est là,", FR_EN),
        ("Merci", FR_EN),
        ("Chère Anna, merci de ta lettre,", FR_EN),
        ("Querida Ana, gracias por tu carta:", ES_EN),
        ("Saludos", ES_EN),
        ("Hola mundo", ES_EN),
        ("Un saludo de mi parte.", ES_EN),
        ("Beste Anna, bedankt voor je brief,", NL_EN),
        ("Dag", NL_EN),
        ("Groet", NL_EN),
        ("Kära nån!", SV_EN),
        ("Tack", SV_EN),
        ("Dear Anna,", EN_PL),  # a name has another form in an opening: "Droga Anno,"
        ("Droga Anno,", PL_EN),
        ("Cara Anna, grazie della lettera,", IT_EN),
        ("Saluti", IT_EN),
        ("Caro amico di mio padre,", IT_EN),
        ("Olá mundo", PT_EN),
        ("Obrigado", PT_EN),
        ("Dziękuję", PL_EN),
        ("", EN_DE),
        ("Dear Anna,", ("en", "en")),
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
        (["Met vriendelijke groet,", "Jan en Piet de Vries"], NL_EN, "Jan and Piet de Vries"),
        (["Groeten,", "Het Team"], NL_EN, None),
        (["Med vänlig hälsning", "Åsa Öberg"], SV_EN, "Åsa Öberg"),
        (["Hälsningar,", "Ditt Team"], SV_EN, None),
        (["Cordiali saluti", "Ada ed Enzo"], IT_EN, "Ada and Enzo"),
        (["Cordiali saluti", "Il Team"], IT_EN, None),
        (["Atenciosamente,", "João e Inês"], PT_EN, "João and Inês"),
        (["Atenciosamente,", "Sua Equipe"], PT_EN, None),
        (["Z poważaniem", "Łukasz Żak"], PL_EN, "Łukasz Żak"),
        (["Z poważaniem", "Wasz Zespół"], PL_EN, None),
    ],
)
def test_names_sign_a_letter_in_other_languages(
    lines: list[str], languages: tuple[str, str], last: str | None
) -> None:
    found = letter_formulas(lines, languages)[-1]
    assert (found and found.text) == last


def test_each_language_has_a_table_of_its_letters() -> None:
    for code in TONGUES.keys() - {"en"}:
        for direction in (f"en-{code}", f"{code}-en"):
            assert _rows(direction), direction
