"""Languages are told apart by letters, and a few words with the help of the translation models."""

import asyncio
import random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from allyouneed.serving.desk import Desk
from allyouneed.serving.detection import Detector, Guess, decided, likelihood, unsure
from allyouneed.translation.result import Translation

pytest.importorskip("py3langid")


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector(["en", "de"])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("hello handsome", "en"),
        ("The dog sleeps under the table.", "en"),
        ("Der Hund schläft unter dem Tisch.", "de"),
        ("DER HUND SCHLÄFT UNTER DEM TISCH.", "de"),
    ],
)
def test_sentences_are_told_by_their_letters(detector: Detector, text: str, language: str) -> None:
    assert detector.rank(text)[0].language == language
    assert sum(guess.confidence for guess in detector.rank(text)) == pytest.approx(1)


MANY = ["en", "de", "fr", "es", "it", "pt-BR", "nl", "sv", "pl", "tr", "vi"]


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("Hello.", {"en"}),
        ("hello", {"en"}),
        ("Hallo", {"de", "nl"}),
        ("Guten Morgen!", {"de"}),
        ("Bom dia!", {"pt-BR"}),
        (" Ciao! ", {"de", "it"}),
        ("Merci", {"fr"}),
    ],
)
def test_a_set_phrase_is_told_by_the_languages_that_say_it(text: str, languages: set[str]) -> None:
    found = Detector(MANY).rank(text)
    assert len(found) == len(MANY)
    share = pytest.approx(1 / len(languages))
    told = {one.language: one.confidence for one in found[: len(languages)]}
    assert told == dict.fromkeys(languages, share)
    assert sum(one.confidence for one in found) == pytest.approx(1)


def test_a_phrase_of_no_language_here_is_told_by_its_letters(detector: Detector) -> None:
    assert 0 < detector.rank("Dzień dobry!")[0].confidence < 1


def test_only_the_models_languages_are_guessed(detector: Detector) -> None:
    found = detector.rank("Questa è una frase in italiano, che nessuno traduce qui.")
    assert {guess.language for guess in found} == {"en", "de"}


def test_a_region_belongs_to_its_language() -> None:
    found = Detector(["pt-BR", "de"]).rank("Eu não sei onde fica a estação de comboios.")
    assert found[0].language == "pt-BR"


def test_one_language_needs_no_detector() -> None:
    assert Detector(["en"]).rank("Der Hund schläft.") == [Guess("en", 1.0)]


def test_blank_text_may_be_anything(detector: Detector) -> None:
    assert {guess.confidence for guess in detector.rank(" \n")} == {0.5}


def test_the_models_are_asked_about_few_words_only() -> None:
    even = [Guess("en", 0.55), Guess("de", 0.45)]
    assert unsure("dog", even) == even
    assert unsure("one two three four", even) == []
    assert unsure("dog", [Guess("en", 0.999), Guess("de", 0.001)]) == []


def test_the_model_that_knows_the_word_decides() -> None:
    even = [Guess("en", 0.5), Guess("de", 0.5)]
    assert decided(even, {"en": -0.9, "de": -0.1})[0].language == "de"
    assert decided(even, {"en": -0.1, "de": -0.9})[0].language == "en"
    leaning = [Guess("en", 0.9), Guess("de", 0.1)]
    assert decided(leaning, {"en": -0.5, "de": -0.4})[0].language == "en"


@pytest.mark.parametrize("said", ["hello", "Hello", " hello "])
def test_a_translation_that_repeats_the_text_speaks_less_for_a_language(said: str) -> None:
    repeats, translates = (
        Translation(source="hello", text=text, tokens=("▁a",), token_log_probabilities=(-0.1,))
        for text in (said, "hallo")
    )
    assert likelihood("hello", translates) == pytest.approx(-0.1)
    assert likelihood("hello", repeats) < likelihood("hello", translates) - 0.5


def test_the_smaller_automaton_answers_as_that_of_the_library(detector: Detector) -> None:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    theirs = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    theirs.set_languages(["de", "en"])
    letters = random.Random(1)
    alphabets = [range(32, 127), range(160, 600), range(0x4E00, 0x4F00), range(0x1F600, 0x1F640)]
    for _ in range(500):
        text = "".join(chr(letters.choice(letters.choice(alphabets))) for _ in range(30))
        found = [(one.language, one.confidence) for one in detector.rank(text)]
        assert found == theirs.rank(text)


def test_the_model_is_read_ahead() -> None:
    ahead = Detector(["en", "de"])
    assert not ahead.loaded
    ahead.load_ahead()
    assert ahead.rank("Der Hund schläft unter dem Tisch.")[0].language == "de"
    assert ahead.loaded


def test_the_first_model_of_a_source_helps_to_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    async def translated(self: Desk, texts: list[str], source: str, target: str, *_: object) -> Any:
        asked.append((source, target))
        made = Translation(source="", text="x", tokens=("x",), token_log_probabilities=(-1.0,))
        return [SimpleNamespace(translation=made)]

    monkeypatch.setattr(Desk, "translate", translated)
    desk = object.__new__(Desk)
    desk.shelf = cast(
        Any, SimpleNamespace(models=dict.fromkeys([("en", "de"), ("de", "en"), ("en", "sv")]))
    )
    guesses = [Guess("en", 0.5), Guess("de", 0.4)]
    desk.detector = cast(Any, SimpleNamespace(loaded=True, rank=lambda text: guesses))
    assert asyncio.run(desk.detect("hallo", cast(Any, None)))[0].language == "en"
    assert asked == [("en", "de"), ("de", "en")]
