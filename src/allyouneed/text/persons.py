"""Finds names of persons in a text: a known first name, and the words with capitals behind it."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from allyouneed.text.tongues.tongue import BIG, WORD

_CAPITALS = re.compile(rf"(?<![\w'’-]){BIG}{WORD}(?:\s(?:{BIG}\.\s)?{BIG}{WORD})+")
_POSSESSIVE = re.compile(r"['’]s?$")
_ROMAN = re.compile("[IVX]+")


def persons(text: str) -> Iterator[str]:
    """The names of persons that have a first name of `first_names.txt` and a second name, without
    titles. Names of kings and popes ("John Paul II") are left out, because languages translate
    them."""
    for match in _CAPITALS.finditer(text):
        words = match[0].split()
        first = next((n for n, word in enumerate(words[:-1]) if _is_first_name(word)), None)
        if first is None:
            continue
        ends = (n for n in range(first + 1, len(words)) if _POSSESSIVE.search(words[n]))
        name = words[first : next(ends, len(words)) + 1]
        if not _ROMAN.fullmatch(name[-1]):
            yield _POSSESSIVE.sub("", " ".join(name))


def _is_first_name(word: str) -> bool:
    known = _first_names()
    return word in known or word.partition("-")[0] in known


@cache
def _first_names() -> frozenset[str]:
    """Some 850 first names of many countries. Those that are also words or places are not there."""
    text = files("allyouneed.text").joinpath("first_names.txt").read_text("utf-8")
    return frozenset(text.split())
