"""What stands around a sentence: list marks, pairs of quotes, symbols, end marks."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.text.edges import edges_of, with_end


def _parts(line: str) -> tuple[str, str, str, str, str]:
    edges = edges_of(line)
    assert edges is not None
    return (
        line[: edges.begin],
        edges.opening,
        line[edges.inner_begin : edges.inner_end],
        edges.closing,
        line[edges.end :],
    )


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("He sleeps.", ("", "", "He sleeps.", "", "")),
        ("- Milk", ("- ", "", "Milk", "", "")),
        ("## How to install", ("## ", "", "How to install", "", "")),
        ("1. Open it.", ("1. ", "", "Open it.", "", "")),
        ("2) a) Read it", ("2) a) ", "", "Read it", "", "")),
        ("3. Oktober 2024", ("", "", "3. Oktober 2024", "", "")),
        ("-5 degrees", ("", "", "-5 degrees", "", "")),
        ("Thanks! 🎉🎂", ("", "", "Thanks!", "", " 🎉🎂")),
        ('- "I know." 😂', ("- ", '"', "I know.", '"', " 😂")),
        ("👋 Hi", ("👋 ", "", "Hi", "", "")),
        ("❤️ - Milk 🥛", ("❤️ - ", "", "Milk", "", " 🥛")),
        ("- ✅ Done", ("- ✅ ", "", "Done", "", "")),
        ("I", ("", "", "I", "", "")),
        ("水", ("", "", "水", "", "")),
        ("(See page 2.)", ("", "(", "See page 2.", ")", "")),
        ("'It's late.'", ("", "'", "It's late.", "'", "")),
        ('"Yes" or "no"', ("", "", '"Yes" or "no"', "", "")),
        ("(a) or (b)", ("(a) ", "", "or (b)", "", "")),
        ('"Wait.', ("", '"', "Wait.", "", "")),
        ('I go."', ("", "", "I go.", '"', "")),
    ],
)
def test_edges(line: str, parts: tuple[str, ...]) -> None:
    assert _parts(line) == parts


@pytest.mark.parametrize("line", ["...", "---", "🎉", '"', "?!", "| - | - |", "b", "Ñ", "ß", "(x)"])
def test_a_line_without_letters_and_digits_has_nothing_to_translate(line: str) -> None:
    assert edges_of(line) is None


@given(st.text("a1 .-*#)(\"'🎉[]", min_size=1, max_size=20).map(str.strip).filter(bool))
def test_no_character_of_a_line_is_lost(line: str) -> None:
    if edges_of(line) is not None:
        assert "".join(_parts(line)) == line


@pytest.mark.parametrize(
    ("text", "source", "ended"),
    [
        ("Ich weiß es nicht.", "I don't know...", "Ich weiß es nicht..."),
        ("Wirklich!", "Really?!", "Wirklich?!"),
        ("Nein!", "No!!!", "Nein!!!"),
        ("Wo ist er.", "Where is he?", "Wo ist er?"),
        ("Lieber Tom", "Dear Tom,", "Lieber Tom,"),
        ("Hinweis", "Note:", "Hinweis:"),
        ("Rosen sind rot.", "Roses are red,", "Rosen sind rot,"),
        ("Denken Sie daran.", "Remember:", "Denken Sie daran:"),
        ("Datei speichern.", "Save file", "Datei speichern"),
        ("Äpfel usw.", "Apples etc.", "Äpfel usw."),
        ("Äpfel u.a.", "Apples and others", "Äpfel u.a."),
        ("Halt!", "Stop.", "Halt!"),
        ("Er ging um 15 Uhr", "He left at 3 p.m.", "Er ging um 15 Uhr"),
        ("", "No!!!", "!!!"),
    ],
)
def test_a_translation_ends_as_its_source(text: str, source: str, ended: str) -> None:
    assert with_end(text, source, "de") == ended


@pytest.mark.parametrize(
    ("text", "source", "language", "ended"),
    [
        ("Où est la gare", "Where is the station?", "fr", "Où est la gare ?"),
        ("Où est la gare.", "Where is the station?", "fr", "Où est la gare ?"),
        ("Vraiment !", "Really?!", "fr", "Vraiment ?!"),
        ("Remarque", "Note:", "fr", "Remarque :"),
        ("Attends", "Wait...", "fr", "Attends..."),
        ("Bonjour Tom", "Hello Tom,", "fr", "Bonjour Tom,"),
        ("Where is the station", "Où est la gare ?", "en", "Where is the station?"),
        ("Dónde está la estación?", "Where is the station?", "es", "¿Dónde está la estación?"),
        ("Dónde está.", "Where is it?", "es", "¿Dónde está?"),
        ("Hola, ¿cómo estás?", "Hello, how are you?", "es", "Hola, ¿cómo estás?"),
        ("Hola. Cómo estás?", "Hello. How are you?", "es", "Hola. ¿Cómo estás?"),
        ("¿Sí? Dónde?", "Yes? Where?", "es", "¿Sí? ¿Dónde?"),
        ("Alto!", "Stop!", "es", "¡Alto!"),
        ("Alto.", "Stop.", "es", "Alto."),
        ("¡Qué!", "What?!", "es", "¡Qué?!"),
        ("Hola.", "Hello!", "es", "Hola."),
        ("¿Cómo instalar", "How to install", "es", "Cómo instalar"),
        ("¡Tienes 3 mensajes.", "You have 3 messages.", "es", "Tienes 3 mensajes."),
        ("¿Es verdad?", "Is it true", "es", "¿Es verdad?"),
    ],
)
def test_ends_in_french_and_spanish(text: str, source: str, language: str, ended: str) -> None:
    assert with_end(text, source, language) == ended


def test_end_marks_in_chinese_and_japanese() -> None:
    assert with_end("どこですか", "Where is it?", "ja") == "どこですか？"
    assert with_end("Where is it", "在哪里？", "en") == "Where is it?"
    assert with_end("我不知道", "I don't know...", "zh") == "我不知道..."


@pytest.mark.parametrize("line", ["😂" * 100_000 + "a", "- " * 100_000 + "a", "." * 200_000 + "a"])
def test_the_time_is_linear(line: str) -> None:
    began = perf_counter()
    edges_of(line)
    with_end(line, line, "de")
    assert perf_counter() - began < 2
