"""Tells whether a sentence is negated, by the words of its language (`tongues`)."""

import re
from functools import cache
from typing import NamedTuple

from allyouneed.text.tongues.known import TONGUES


class _Patterns(NamedTuple):
    """The compiled patterns of a language's `tongue.Negation`."""

    words: re.Pattern[str]
    idle: re.Pattern[str]
    half: re.Pattern[str]


@cache
def _patterns(language: str) -> _Patterns:
    found = TONGUES[language].negation
    some = (re.compile(one, re.IGNORECASE) for one in (found.words, found.idle, found.half))
    return _Patterns(*some)


def negations(text: str, language: str) -> list[tuple[int, int]]:
    """The places of the words that negate, in a text of a language of `tongues`."""
    return [match.span() for match in _patterns(language).words.finditer(text)]


def negation_lost(source: str, target: str, languages: tuple[str, str]) -> bool:
    """Whether a sentence is negated and its translation has no word that may negate it, or whether
    it has several negations and the translation has fewer words that may.

    Both texts are in plain marks. `languages` are the codes of source and target; if the words of
    one are not known, the answer is False.
    """
    if not TONGUES.keys() >= set(languages):
        return False
    from_, into = map(_patterns, languages)
    rest = from_.idle.sub(" ", source)
    if from_.words.search(rest) is None:
        return False
    said = len(from_.words.findall(rest))
    return len(into.words.findall(target)) + len(into.half.findall(target)) < said
