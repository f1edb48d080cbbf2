"""Times in words that a translation lacks."""

import pytest

from allyouneed.text.clock import times_lost

EN_DE, DE_EN = ("en", "de"), ("de", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("at half past seven", "um halb acht", EN_DE),
        ("Half past 12.", "Halb eins.", EN_DE),
        ("at half past seven", "um 19:30 Uhr", EN_DE),
        ("It is a quarter to three.", "Es ist Viertel vor drei.", EN_DE),
        ("um halb eins", "at 12:30", DE_EN),
        ("Es ist Viertel nach drei.", "It's a quarter past three.", DE_EN),
        ("Er war halb tot.", "He was half dead.", DE_EN),
        ("Es ist halb acht.", "Il est sept heures.", ("de", "fr")),
    ],
)
def test_a_time_that_is_there(source: str, target: str, languages: tuple[str, str]) -> None:
    assert times_lost(source, target, languages) == []


@pytest.mark.parametrize(
    ("source", "target", "languages", "lost"),
    [
        ("at half past seven", "um halb sieben", EN_DE, ["half past seven"]),
        ("It is a quarter to three.", "Es ist drei.", EN_DE, ["a quarter to three"]),
        ("um halb acht", "at 8:30", DE_EN, ["halb acht"]),
        ("Viertel nach drei, nicht halb 4", "quarter to three, not 3.30", DE_EN, 1),
    ],
)
def test_a_lost_time(
    source: str, target: str, languages: tuple[str, str], lost: list[str] | int
) -> None:
    found = times_lost(source, target, languages)
    assert (len(found) if isinstance(lost, int) else found) == lost
