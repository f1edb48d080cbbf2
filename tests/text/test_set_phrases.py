"""Set phrases: whole lines that each language says in a way of its own."""

import pytest

from allyouneed.text.set_phrases import _phrases, _words, set_phrase

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl")


@pytest.mark.parametrize(
    ("line", "languages", "expected"),
    [
        ("What time is it?", ("en", "de"), "Wie spät ist es?"),
        ("what time is it", ("en", "fr"), "Quelle heure est-il"),
        ("What time is it?!", ("en", "es"), "¿Qué hora es?"),
        ("Cheers!", ("en", "de"), "Prost!"),
        ("Cheers!!", ("en", "fr"), "Santé !!"),
        ("Cheers.", ("en", "es"), "Salud."),
        ("Cheers!", ("en", "es"), "¡Salud!"),
        ("  Cheers! ", ("en", "nl"), "  Proost! "),
        ("Prost!", ("de", "en"), "Cheers!"),
        ("¿Qué hora es?", ("es", "sv"), "Vad är klockan?"),
        ("I’m hungry.", ("en", "it"), "Ho fame."),
        ("GOOD MORNING!", ("en", "de"), "GUTEN MORGEN!"),
        ("Guess what!", ("en", "es"), "¿Sabes qué?"),
        ("¿Sabes qué?", ("es", "en"), "Guess what!"),
    ],
)
def test_a_phrase_is_written_with_the_marks_of_its_source(
    line: str, languages: tuple[str, str], expected: str
) -> None:
    found = set_phrase(line, languages)
    assert found is not None
    assert (found.text, found.name, found.is_sure) == (expected, "", True)


@pytest.mark.parametrize(
    ("line", "languages"),
    [
        ("What time is it in Paris?", ("en", "de")),
        ("Cheers! Nice to meet you.", ("en", "de")),
        ("Cheers?", ("en", "de")),
        ("What time is it?", ("en", "ja")),
        ("What time is it?", ("", "de")),
        ("What time is it?", ("en", "en")),
        ("", ("en", "de")),
        ("?", ("en", "de")),
        ("...", ("en", "de")),
    ],
)
def test_other_lines_are_none(line: str, languages: tuple[str, str]) -> None:
    assert set_phrase(line, languages) is None


@pytest.mark.parametrize("source", LANGUAGES)
@pytest.mark.parametrize("target", LANGUAGES)
def test_every_language_is_translated_into_every_other(source: str, target: str) -> None:
    found = _phrases(source, target)
    assert (not found) == (source == target)
    for (words, asks), written in found.items():
        assert words
        assert written.strip() == written
        assert _words(written)
        again = set_phrase(words + "?" * asks, (source, target))
        assert again is not None
        assert _words(again.text) == _words(written)
