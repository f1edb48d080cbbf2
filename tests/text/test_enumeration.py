"""Enumerations that a translation shortens."""

from time import perf_counter

import pytest

from allyouneed.text.enumeration import items_lost

EN_DE, DE_EN = ("en", "de"), ("de", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("Apples, pears, bananas, and cherries", "Äpfel, Bananen und Kirschen", EN_DE),
        ("I was in Rome, Paris and Oslo.", "Ich war in Rom und Oslo.", EN_DE),
        ("Äpfel, Birnen, Bananen und Kirschen", "Apples, bananas and cherries", DE_EN),
        ("kein Brot, keine Milch, kein Salz und kein Öl", "no bread, no milk and no oil", DE_EN),
        ("Milk, bread and salt", "melk en zout", ("en", "nl")),
        ("appels, peren en pruimen", "apples and plums", ("nl", "en")),
        ("mjölk, bröd och salt", "milk and salt", ("sv", "en")),
        ("mleko, chleb, sól i olej", "milk, salt and oil", ("pl", "en")),
        ("Milk, bread and salt", "du lait et du sel", ("en", "fr")),
        ("Milk, bread and salt", "latte e sale", ("en", "it")),
        ("latte, pane ed erba", "milk and bread", ("it", "en")),
        ("leite, pão e sal", "milk and salt", ("pt", "en")),
        ("leche, pan y sal", "milk and salt", ("es", "en")),
    ],
)
def test_a_lost_item(source: str, target: str, languages: tuple[str, str]) -> None:
    assert items_lost(source, target, languages)


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("Apples, pears, and plums", "Äpfel, Birnen und Pflaumen", EN_DE),
        ("We ate, drank and slept.", "Wir aßen und tranken, dann schliefen wir.", EN_DE),
        ("Ich glaube, Tom und Mary sind verliebt.", "I think Tom and Mary are in love.", DE_EN),
        ("Brot, Milch, Salz und Öl", "bread, milk, salt, and oil", DE_EN),
        ("Brot, Milch, Salz und Öl", "ekmek, süt", ("de", "tr")),
        ("pain, lait, sel et huile", "bread, milk, salt, and oil", ("fr", "en")),
        ("Myślę, że Tom i Mary się kochają.", "I think Tom and Mary are in love.", ("pl", "en")),
        ("Milk, bread and salt", "melk, brood en zout", ("en", "nl")),
    ],
)
def test_whole_enumerations(source: str, target: str, languages: tuple[str, str]) -> None:
    assert not items_lost(source, target, languages)


@pytest.mark.parametrize("text", ["Hi, " * 20_000, "aa, bb " * 20_000])
def test_long_texts_take_little_time(text: str) -> None:
    began = perf_counter()
    items_lost(text, text, EN_DE)
    assert perf_counter() - began < 5
