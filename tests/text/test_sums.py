"""Sums of money are written as the target language writes them."""

import pytest

from allyouneed.text.sums import power_behind, sum_written


@pytest.mark.parametrize(
    ("text", "languages", "written"),
    [
        ("$1,200", ("en", "de"), "1.200 $"),
        ("$1,200.50", ("en", "de"), "1.200,50 $"),
        ("€5", ("en", "de"), "5 €"),
        ("9.99 €", ("en", "de"), "9,99 €"),
        ("1.299,00 €", ("de", "en"), "€1,299.00"),
        ("5\u00a0€", ("de", "en"), "€5"),
        ("1 200,50 €", ("fr", "en"), "€1,200.50"),
        ("1\u202f200 €", ("fr", "es"), "1.200 €"),
        ("£45,000", ("en", "fr"), "45 000 £"),
        ("£1,234,567", ("en", "sv"), "1 234 567 £"),
        ("£1,234,567", ("en", "pl"), "1 234 567 £"),
        ("$2.3", ("en", "it"), "2,3 $"),
        ("$850", ("en", "nl"), "$ 850"),
        ("$850", ("en", "pt"), "$ 850"),
        ("¥1000", ("en", "es"), "1000 ¥"),
        ("$5-10", ("en", "de"), "5-10 $"),
        ("US$ 5", ("en", "de"), "5 US$"),
        ("R$ 1.200,50", ("pt", "en"), "R$1,200.50"),
        ("€ 850", ("nl", "en"), "€850"),
        ("1.200–1.500 €", ("de", "en"), "€1,200-1,500"),
    ],
)
def test_a_sum(text: str, languages: tuple[str, str], written: str) -> None:
    assert sum_written(text, languages) == written


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("$1,200.50", ("de", "en")),  # not written as German writes sums
        ("1.299,00 €", ("en", "de")),
        ("$1,20", ("en", "de")),
        ("$5", ("en", "tr")),
        ("$5", ("", "")),
        ("1,200", ("en", "de")),
        ("$5€", ("en", "de")),
        ("$5 a month", ("en", "de")),
        ("$5-", ("en", "de")),
        ("https://example.org/$5", ("en", "de")),
        ("", ("en", "de")),
    ],
)
def test_what_is_no_sum_stays(text: str, languages: tuple[str, str]) -> None:
    assert sum_written(text, languages) is None


def test_the_sign_goes_around_a_million() -> None:
    assert power_behind(" Milliarden verkauft", "de") == "Milliarden"
    assert sum_written("$2.3", ("en", "de"), "Milliarden") == "2,3 Milliarden $"
    assert sum_written("5 €", ("de", "en"), "million") == "€5 million"


@pytest.mark.parametrize("text", ["", "Milliarden", " Millionenstadt", " verkauft", " mil"])
def test_no_million_behind_a_sum(text: str) -> None:
    assert power_behind(text, "de") == ""
    assert power_behind(" Milliarden", "tr") == ""
