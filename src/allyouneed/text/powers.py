"""Finds words such as "million" and "billion" behind a number that a translation lacks, in the
languages of `tongues`. German "Billion" is an English trillion."""

import re
from functools import cache
from typing import NamedTuple

from allyouneed.text.tongues.known import TONGUES

EXPONENTS = (6, 9, 12)
_DIGITS = re.compile(r"\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?!\d)|\d{6,}")


def powers_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The numbers of a sentence, such as "2.3 billion", whose last word the translation lacks. A
    translation may have digits instead, such as "2,300,000,000".

    `languages` are the codes of source and target; if one is not known, there are none.
    """
    if not TONGUES.keys() >= set(languages):
        return []
    lost = []
    for exponent, from_, into in zip(EXPONENTS, *map(_patterns, languages), strict=True):
        wanted = [one[0] for one in from_.number.finditer(source)]
        if wanted and into.word.search(target) is None and _longest(target) < exponent:
            lost += wanted
    return lost


def _longest(text: str) -> int:
    """The most digits that a number of a text has."""
    return max((sum(map(str.isdigit, one[0])) for one in _DIGITS.finditer(text)), default=0)


class _Patterns(NamedTuple):
    """The patterns of a number with its word, and of the word alone, also within a compound."""

    number: re.Pattern[str]
    word: re.Pattern[str]


@cache
def _patterns(language: str) -> list[_Patterns]:
    """The patterns for each exponent."""
    _, *two_to_twelve = TONGUES[language].clock.hours.split()
    number = rf"(?<![\w.,])(?:\d+(?:[.,]\d+)*|{'|'.join(two_to_twelve)})"
    return [
        _Patterns(
            re.compile(rf"{number}[\s-](?:{power})(?!\w)", re.IGNORECASE),
            re.compile(rf"(?<![^\W\d])(?:{power})", re.IGNORECASE),
        )
        for power in TONGUES[language].numbers.powers
    ]
