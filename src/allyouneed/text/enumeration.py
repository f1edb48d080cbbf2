"""Finds enumerations, such as "apples, pears and plums", of which a translation lacks a part."""

import re
from functools import cache

from allyouneed.text.tongues.known import TONGUES

MOST = 12  # commas; with a bound, the time is linear in the length of the text


def items_lost(source: str, target: str, languages: tuple[str, str]) -> bool:
    """Whether the translation of a sentence with an enumeration has fewer commas and "and"s.

    `languages` are the codes of source and target; if the words of one are not known, the answer is
    False.
    """
    if "," not in source or not TONGUES.keys() >= set(languages):
        return False
    (whole, parts), (_, kept) = map(_patterns, languages)
    found = whole.search(source)
    return found is not None and len(kept.findall(target)) < len(parts.findall(found[0]))


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of an enumeration and of what parts it."""
    word, fewest = TONGUES[language].enumeration
    whole = rf"\b\w+(?:, (?:\w+ )?\w+){{{fewest},{MOST}}},? (?:{word}) (?:\w+ )?\w+"
    parts = rf",? (?:{word}) |[,;/] "
    return re.compile(whole, re.IGNORECASE), re.compile(parts, re.IGNORECASE)
