"""Names that a translation must have to the letter, found by their form."""

import pytest

from allyouneed.translation.markup.lost_names import has_name, lost_names, names


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("Goethestraße 5, 80336 München", "de", ["Goethestraße 5, 80336 München"]),
        ("in der Lange Straße 12a in 50667 Köln", "de", ["Lange Straße 12a in 50667 Köln"]),
        ("I live at Hauptstr. 7.", "en", ["Hauptstr. 7"]),
        ("Am Markt 3, 10115 Berlin", "de", ["Am Markt 3, 10115 Berlin"]),
        ("Karl-Marx-Allee 90 oder 91", "de", ["Karl-Marx-Allee 90"]),
        ("from 10 Downing Street to 221B Baker Street", "en", 2),
        ("Open report_final.docx on example.com.", "en", ["report_final.docx", "example.com"]),
        ("com.example.App calls get_user() of NullPointerException", "en", 3),
        ("Mr. O'Connor and Dr. Brown", "en", ["O'Connor", "Brown"]),
        ("Mr. Smith's car, Mrs. Bell’s Book", "en", ["Smith", "Bell"]),
        ("He lives at 10 King's Road.", "en", ["10 King's Road"]),
        ("My name is Anna Bell.", "en", ["Anna Bell"]),
        ("Ask Jane Doe's sister or Jean-Luc P. Picard.", "en", ["Jane Doe", "Jean-Luc P. Picard"]),
        ("Yesterday Mohammed Al-Sayed called.", "en", ["Mohammed Al-Sayed"]),
        ("Elle a vu Claire Dupont.", "fr", ["Claire Dupont"]),
        ("Ask Jürgen Klopp or Zoë.", "en", ["Jürgen Klopp", "Zoë"]),
        ("Herr Schäfer und Frau Dr. Özdemir", "de", ["Schäfer", "Özdemir"]),
        ("I ❤️ Berlin 👍🏽", "en", ["❤️", "👍🏽"]),
        ("§ 5: a ≈ b", "de", ["§", "≈"]),
        ("§ a ≈ b", "fr", ["§", "≈"]),
        ("J'aime ❤️ Paris 👍🏽", "fr", ["❤️", "👍🏽"]),
        ("Ich heiße Jörg Grün.", "de", ["Jörg Grün"]),
        ("Le fichier rapport.pdf est là.", "fr", ["rapport.pdf"]),
        ("M. Dupont et Mme Éluard", "fr", ["Dupont", "Éluard"]),
        ("Je m’appelle Anne Martin.", "fr", ["Anne Martin"]),
        ("au 12 rue de la Paix, 75002 Paris", "fr", ["12 rue de la Paix, 75002 Paris"]),
        ("El Sr. García y la Sra. López", "es", ["García", "López"]),
        ("Me llamo Ana Íñiguez.", "es", ["Ana Íñiguez"]),
        ("en la calle Mayor 5, 28013 Madrid", "es", ["calle Mayor 5, 28013 Madrid"]),
        ("Dhr. Jansen en mevrouw De Vries", "nl", ["Jansen", "De Vries"]),
        ("Ik heet Anna Bakker.", "nl", ["Anna Bakker"]),
        ("Kerkstraat 5, 1012 AB Amsterdam", "nl", ["Kerkstraat 5, 1012 AB Amsterdam"]),
        ("herr Åkesson och fru Berg", "sv", ["Åkesson", "Berg"]),
        ("Jag heter Åsa Öberg.", "sv", ["Åsa Öberg"]),
        ("på Storgatan 5, 111 23 Stockholm", "sv", ["Storgatan 5, 111 23 Stockholm"]),
        ("Pan Łukasz Świątek", "pl", ["Łukasz Świątek"]),
        ("Nazywam się Żaneta Nowak.", "pl", ["Żaneta Nowak"]),
        ("przy ul. Długiej 5, 00-238 Warszawa", "pl", ["Długiej 5, 00-238 Warszawa"]),
        ("il sig. Rossi e la signora Bianchi", "it", ["Rossi", "Bianchi"]),
        ("Mi chiamo Niccolò D'Amico.", "it", ["Niccolò D'Amico"]),
        ("in via Garibaldi 5, 20121 Milano", "it", ["via Garibaldi 5, 20121 Milano"]),
        ("o Sr. Araújo e a senhora Lima", "pt", ["Araújo", "Lima"]),
        ("Meu nome é Inês Galvão.", "pt", ["Inês Galvão"]),
        ("na rua Augusta, 500, 01305-000 São Paulo", "pt", 1),
        (
            "It is at Kerkstraat 5 or 12 rue de la Paix.",
            "en",
            ["Kerkstraat 5", "12 rue de la Paix"],
        ),
    ],
)
def test_names(text: str, language: str, found: list[str] | int) -> None:
    seen = list(dict.fromkeys(names(text, language)))
    assert (len(seen) if isinstance(found, int) else seen) == found
    assert has_name(text, language)
    assert lost_names(text, text, (language, "de")) == []
    assert lost_names(text, "", (language, "de")) == seen


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Er kam auf Platz 3 und saß auf Sitzplatz 12.", "de"),
        ("Die Straße ist 5 km lang.", "de"),
        ("Ich nehme eine heiße Dusche.", "de"),
        ("Der Herr Präsident und die Frau Ministerin", "de"),
        ("Ich mag Bücher, z. B. von Goethe.", "de"),
        ("He has 3 dogs. They bark at 5 p.m. in the street.", "en"),
        ("Mr. President, e.g. this naïve idea costs $5.99.", "en"),
        ("I came home.Nobody was there.", "en"),
        ("The United States, New York and Pope John Paul II", "en"),
        ("Tom and Mary met Peter. Then Anna left.", "en"),
        ("Ich will Peter Geld geben.", "de"),
        ("Goethestraße 5", "tr"),
        ("Monsieur le Président, Madame la Ministre", "fr"),
        ("Il a 3 enfants et habite au 2 dans la rue.", "fr"),
        ("Meneer de President en de heer Minister", "nl"),
        ("De straat is 5 km lang, en op straat 3 huizen.", "nl"),
        ("Herr President, gatan är 5 km lång.", "sv"),
        ("Pan Prezydent mieszka przy ulicy.", "pl"),
        ("Il signor Presidente abita in una via.", "it"),
        ("La senhora Ministra mora na rua.", "pt"),
        ("El Sr. Presidente vive en la plaza.", "es"),
    ],
)
def test_no_names(text: str, language: str) -> None:
    assert not has_name(text, language)


def test_capitals_count_but_for_a_word_in_small_letters() -> None:
    assert lost_names("Er trinkt Rosé.", "He drinks rosé.", ("de", "en")) == []
    assert lost_names("Call get_user().", "Get_user() aufrufen.", ("en", "de")) == ["get_user()"]
    assert lost_names("Mr. O’Connor", "Herr O'Connor", ("en", "de")) == []


def test_a_name_may_have_another_ending_where_names_are_declined() -> None:
    found = lost_names("Ask Tomasz Kowalski.", "Zapytaj Tomasza Kowalskiego.", ("en", "pl"))
    assert found == []
    assert lost_names("Ask Tomasz Kowalski.", "Zapytaj go.", ("en", "pl")) == ["Tomasz Kowalski"]
    assert lost_names("Ask Liu Wei.", "Frag Liu Weit.", ("en", "de")) == []  # "Liu Wei" is in it
    assert lost_names("Ask Anna Doe.", "Frag Anna.", ("en", "de")) == ["Anna Doe"]
