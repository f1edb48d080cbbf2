"""The model that comes with the package does what its card says it is for."""

import re
from pathlib import Path

import pytest

from allyouneed.interop.huggingface import to_marian
from allyouneed.loading import load
from allyouneed.model_folder.folder import bundled_models, open_model_folder
from allyouneed.translation.translator import Translator

EVERYDAY = {
    "Good morning!": "Guten Morgen!",
    "Where is the train station?": "Wo ist der Bahnhof?",
    "My sister lives in Berlin.": "Meine Schwester lebt in Berlin.",
    "The children are playing in the garden.": "Die Kinder spielen im Garten.",
    "I have two brothers and one sister.": "Ich habe zwei Brüder und eine Schwester.",
}


SHORT = {
    "Hello.": "Hallo.",
    "Hello": "Hallo",
    "Yes": "Ja",
    "No.": "Nein.",
    "Monday": "Montag",
    "42": "42",
    "1789": "1789",
    "1,000": "1.000",
    "2026-11-21": "2026-11-21",
    "Thanks": "Danke",
    "Good morning": "Guten Morgen",
    "apple": "Apfel",
    "Anna": "Anna",
    "?": "?",
}


GERMAN = {
    "Guten Morgen!": "Good morning!",
    "Meine Schwester lebt in Berlin.": "My sister lives in Berlin.",
    "Die Kinder spielen im Garten.": "The children are playing in the garden.",
    "Ich habe gestern ein Buch gelesen.": "I read a book yesterday.",
    "Wie spät ist es?": "What time is it?",
    "Hallo": "Hello",
    "Ja": "Yes",
    "Nein.": "No.",
    "Montag": "Monday",
    "Apfel": "apple",
    "Anna": "Anna",
    "42": "42",
    "1789": "1789",
    "2026-11-21": "2026-11-21",
    "?": "?",
}


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load("en-de")


@pytest.fixture(scope="module")
def back() -> Translator:
    return load("de-en")


def test_everyday_sentences_come_out_as_german(translator: Translator) -> None:
    found = translator([*EVERYDAY])
    assert [translation.text for translation in found] == [*EVERYDAY.values()]
    assert all(translation.probability > 0.5 for translation in found)
    assert not any(translation.notes for translation in found)


@pytest.mark.parametrize("beam", [1, 4])
def test_words_and_numbers_by_themselves_come_out_right(beam: int, translator: Translator) -> None:
    found = translator([*SHORT], beam=beam)
    assert {source: t.text for source, t in zip(SHORT, found, strict=True)} == SHORT


@pytest.mark.parametrize("beam", [1, 4])
def test_german_comes_out_as_english(beam: int, back: Translator) -> None:
    found = back([*GERMAN], beam=beam)
    assert {source: t.text for source, t in zip(GERMAN, found, strict=True)} == GERMAN


def test_there_and_back(translator: Translator, back: Translator) -> None:
    for sentence in ("I'm hungry.", "Do you speak English?", "Good morning!"):
        assert back(translator(sentence).text).text == sentence
    late = back(translator("The train is late.").text).text
    assert late in ("The train is late.", "The train is delayed.")


def test_nonsense_is_less_probable_than_a_translation(translator: Translator) -> None:
    source = "Where is the train station?"
    right, wrong = translator.score([source] * 2, [EVERYDAY[source], "Der Bahnhof isst Wo."])
    assert right.average_log_likelihood > wrong.average_log_likelihood + 1


def test_paragraph_is_translated_sentence_by_sentence(translator: Translator) -> None:
    paragraph = " ".join([*EVERYDAY] * 2)
    assert translator(paragraph).text == " ".join([*EVERYDAY.values()] * 2)


@pytest.mark.parametrize("name", bundled_models())
def test_folder_is_small_and_whole(name: str) -> None:
    folder = open_model_folder(name).path
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 16 * 2**20
    assert {file.name for file in folder.iterdir()} == {
        "README.md", "confidence.json", "config.json", "model.safetensors", "tokenizer.json",
        "training.json",
    }  # fmt: skip


@pytest.mark.parametrize("name", bundled_models())
def test_card_names_licence_command_scores_and_signatures(name: str) -> None:
    card = Path(open_model_folder(name).path / "README.md").read_text("utf-8")
    for words in ("CC BY 2.0", "MIT", f"allyouneed train {name}", "case:mixed", "case:lc"):
        assert words in card
    captions = ["Multi30k"] if {"de", "fr"} & {*name.split("-")} else []  # its languages
    everyday = "Written for the package" if name == "en-it-pt" else "Tatoeba"  # it has no it, pt
    for test_set in (everyday, "Documentation", "PUD", *captions):
        assert re.search(rf"\| {test_set}.*\| \d+\.\d ± \d+\.\d \|", card)


def test_marian_can_express_it(translator: Translator) -> None:
    config, weights = to_marian(translator.model)
    assert config["d_model"] == translator.config.d_model
    assert weights
