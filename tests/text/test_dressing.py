"""A translation has the marks of its own language where its source was typed with such marks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.text.dressing import Dresser


@pytest.mark.parametrize(
    ("source", "language", "written", "dressed"),
    [
        ("“Hello,” she said.", "German", '"Hallo", sagte sie.', "„Hallo“, sagte sie."),
        ('"Hello," she said.', "German", '"Hallo", sagte sie.', '"Hallo", sagte sie.'),
        ("„Hallo“, sagte sie.", "en", '"Hello," she said.', "“Hello,” she said."),
        ("“Hello,” she said.", "fr", '"Bonjour", dit-elle.', "«\u00a0Bonjour\u00a0», dit-elle."),
        (
            "“No!” – “Yes?”",
            "fr",
            '" Non ! " - "Oui ?"',
            "«\u00a0Non\u00a0!\u00a0» – «\u00a0Oui\u00a0?\u00a0»",
        ),
        ('"No!"', "fr", '" Non ! "', '"Non !"'),
        ("It’s 50%.", "fr", "C'est 50 %.", "C’est 50\u00a0%."),
        ("Is it 50%?", "fr", "C'est 50 % ?", "C'est 50 % ?"),
        ("It’s 50%.", "sv", "Det är 50 %, 5 st.", "Det är 50\u00a0%, 5 st."),
        ("Art is ‘art’.", "nl", "'s Avonds is 't 'kunst'.", "’s Avonds is ’t ‘kunst’."),
        ("It’s 50%.", "nl", "Het is 50 %.", "Het is 50 %."),
        ("“Hello,” she said.", "nl", '"Hallo," zei ze.', "“Hallo”, zei ze."),
        ("It’s ‘art’.", "nl", "Het is 'kunst'.", "Het is ‘kunst’."),
        ("“Hello,” she said.", "sv", '"Hej", sa hon.', "”Hej”, sa hon."),
        ("“The ‘art’”", "sv", "\"'Konsten'\"", "”’Konsten’”"),
        ("“Hello,” she said.", "pl", '"Cześć" powiedziała.', "„Cześć”, powiedziała."),
        ("“The ‘art’”", "pl", "\"'Sztuka'\"", "„«Sztuka»”"),
        ("It’s ‘art’.", "es", 'Es "arte".', "Es «arte»."),
        ("“Yes,” he said.", "es", '"Sí", dijo.', "«Sí», dijo."),
        ("“Hello,” she said.", "Klingon", '"nuqneH"', '"nuqneH"'),
        ("„Das geht nicht“", "English", '"That can\'t be."', "“That can't be.”"),
        ("Das ist Toms’ Haus.", "English", "It's Tom's house.", "It’s Tom’s house."),
        ("He called it ‘art’.", "German", "Er nannte es 'Kunst'.", "Er nannte es ‚Kunst‘."),
        ("It was late – too late.", "German", "Es war spät - zu spät.", "Es war spät – zu spät."),
        ("the well–known 10–20", "German", "die so-genannten 10-20", "die so-genannten 10–20"),
        ("“Hello,” she said.", "German", '"Hallo," sagte sie.', "„Hallo“, sagte sie."),
        ('"Hello," she said.', "de-AT", '"Hallo," sagte sie.', '"Hallo", sagte sie.'),
        ('"Hello," she said.', "nl", '"Hallo," "x",', '"Hallo", "x",'),
        ("„Hallo,“ sagte sie.", "en", '"Hello," she said.', "“Hello,” she said."),
        ("“Hello”, she said.", "de", '"Hallo," sagte sie.', "„Hallo,“ sagte sie."),
        ('"Yes," he said.', "de", '"Ja,", sagte er.', '"Ja", sagte er.'),
        ("“Hello,” she said.", "de", '"Hallo" sagte sie.', "„Hallo“, sagte sie."),
        ('"Hello," she said.', "de", '"Hallo" sagte sie.', '"Hallo", sagte sie.'),
        ('"Hello," she said.', "de", '"Hallo!" sagte sie.', '"Hallo!" sagte sie.'),
        ('"Oh," said "x".', "de", '"Oh" sagte "x" es.', '"Oh" sagte "x" es.'),
        ("„Hallo,“ sagte sie.", "en", '"Hello" she said.', "“Hello” she said."),
        ("¿Dónde está?", "en", "¿Where is it?", "Where is it?"),
        ("Hola, ¿qué tal?", "fr", "Bonjour, ¿ça va ?", "Bonjour, ça va ?"),
        ("What is “¿”?", "es", "¿Qué es?", "¿Qué es?"),
        ("Wait…", "German", "Warte...", "Warte…"),
        ("Wait…", "German", "Warte....", "Warte…"),
        ("Well... so.", "German", "Nun.. Ja.", "Nun... Ja."),
        ("Well… so.", "German", "Nun..... Ja.", "Nun… Ja."),
        ("In .. and ...", "German", "In .. und ....", "In .. und ..."),
        ("In .. and so", "German", "In ..... und", "In ..... und"),
        (
            "He said: “‘Yes’ is a word.”",
            "de",
            "Er: \"'Ja' ist ein Wort.\"",
            "Er: „‚Ja‘ ist ein Wort.“",
        ),
    ],
)
def test_marks(source: str, language: str, written: str, dressed: str) -> None:
    assert Dresser(source, language).whole(written) == dressed


@pytest.mark.parametrize(
    ("sentence", "written", "text"),
    [
        ('The word "a" is old.', '"Das Wort ""a"" ist alt."', 'Das Wort "a" ist alt.'),
        ('"A" is a word.', '"A" ist ""ein Wort"', '"A" ist ""ein Wort"'),
        ("A is a word.", '"A" ist ein "Wort"', '"A" ist ein "Wort"'),
    ],
)
def test_quotes_of_comma_separated_values(sentence: str, written: str, text: str) -> None:
    dresser = Dresser(sentence, "de")
    assert dresser.ended(written, sentence) == text
    for length in range(len(written) + 1):
        certain = dresser.certain(written[:length], sentence)
        assert text.startswith(written[:certain])


def test_one_dresser_serves_many_texts() -> None:
    dresser = Dresser("“", "de")
    assert [dresser.whole('"Ja') for _ in range(2)] == ["„Ja", "„Ja"]


def test_what_has_to_begin_a_translation_stays_exact() -> None:
    assert Dresser("“Yes.”", "de", exact='"Ja').whole('"Ja." "Nein."') == '"Ja.“ „Nein.“'


@given(
    st.text(alphabet="as1'\"-., ?¿%", max_size=25),
    st.lists(st.integers(0, 25), max_size=6),
    st.sampled_from(["“x”", "‘x’ – …", "1–2 ’", "plain", "so... it", "“x,” y", '"¿x?"']),
    st.sampled_from(["German", "French", "Swedish", "Dutch"]),
)
def test_pieces_joined_are_the_whole(
    text: str, cuts: list[int], source: str, language: str
) -> None:
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    dresser = Dresser(source, language)
    pieces = [dresser.add(text[a:b]) for a, b in pairwise(bounds)]
    joined = "".join(pieces) + dresser.end()
    assert joined == Dresser(source, language).whole(text)
