"""A million that a translation lacks, or makes a billion, is found."""

from time import perf_counter

import pytest

from allyouneed.text.powers import powers_lost


@pytest.mark.parametrize(
    ("source", "target", "languages", "lost"),
    [
        ("It cost $2.3 billion.", "Es kostete $2.3.", ("en", "de"), ["2.3 billion"]),
        ("two million and 3 million", "zwei und 3", ("en", "de"), ["two million", "3 million"]),
        ("5 billion", "5 Billionen", ("en", "de"), ["5 billion"]),
        ("5 Billionen", "5 billion", ("de", "en"), ["5 Billionen"]),
        ("5 Mio. Euro", "5 euros", ("de", "en"), ["5 Mio"]),
        ("5 milliards", "5 million", ("fr", "en"), ["5 milliards"]),
        ("3 mil millones", "3 million", ("es", "en"), ["3 mil millones"]),
        ("three billion", "3 millones", ("en", "es"), ["three billion"]),
        ("4 miljard", "4 million", ("nl", "en"), ["4 miljard"]),
        ("6 miljoner", "6", ("sv", "en"), ["6 miljoner"]),
        ("7 milionów", "7", ("pl", "en"), ["7 milionów"]),
        ("8 miliardi", "8 million", ("it", "en"), ["8 miliardi"]),
        ("9 bilhões", "9 million", ("pt", "en"), ["9 bilhões"]),
    ],
)
def test_what_is_lost(
    source: str, target: str, languages: tuple[str, str], lost: list[str]
) -> None:
    assert powers_lost(source, target, languages) == lost


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("It cost $2.3 billion.", "Es kostete 2,3 Mrd. Dollar.", ("en", "de")),
        ("16 Milliarden Euro", "€16bn", ("de", "en")),
        ("a 3 million city", "eine Dreimillionenstadt, Millionenstadt", ("en", "de")),
        ("It grew to 2.5 million.", "Es wuchs auf 2.500.000.", ("en", "de")),
        ("It grew to 2.5 million.", "Es wuchs auf 2500000.", ("en", "de")),
        ("4.5 billion dollars", "4.500 millones de dólares", ("en", "es")),
        ("two trillion euros", "deux mille milliards d'euros", ("en", "fr")),
        ("I have seen it a million times.", "Das habe ich tausendmal gesehen.", ("en", "de")),
        ("Millions of people", "Viele Menschen", ("en", "de")),
        ("5 million", "5", ("en", "tr")),
        ("5 million", "5", ("", "")),
    ],
)
def test_what_is_there(source: str, target: str, languages: tuple[str, str]) -> None:
    assert powers_lost(source, target, languages) == []


@pytest.mark.parametrize("text", ["5 million " * 20_000, "1,000" * 20_000, "1 " * 50_000])
def test_long_texts_take_little_time(text: str) -> None:
    began = perf_counter()
    powers_lost(text, text, ("en", "de"))
    assert perf_counter() - began < 5
