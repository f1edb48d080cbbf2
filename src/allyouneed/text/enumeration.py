"""Finds enumerations, such as "apples, pears and plums", of which a translation lacks a part."""

import re
from functools import cache

from allyouneed.text.tongues.known import TONGUES

MOST = 12  # commas; with a bound, the time is linear in the length of the text


def items_lost(source: str, target: str, languages: tuple[str, str]) -> bool:
    """Whether the translation of a sentence with an enumeration has fewer commas and "and"s.

    `languages` are the codes of source and target; where `tongues` do not tell how one enumerates,
    the answer is False.
    """
    if "," not in source:
        return False
    from_, into = map(_patterns, languages)
    if from_ is None or into is None:
        return False
    (whole, parts), (_, kept) = from_, into
    found = whole.search(source)
    return found is not None and len(kept.findall(target)) < len(parts.findall(found[0]))


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """The patterns of an enumeration and of what parts it."""
    tongue = TONGUES.get(language)
    if tongue is None or tongue.enumeration is None:
        return None
    word, fewest = f"(?:{tongue.enumeration.and_})", tongue.enumeration.commas
    whole = rf"\b\w+(?:, (?:\w+ )?\w+){{{fewest},{MOST}}},? {word} (?:\w+ )?\w+"
    return re.compile(whole, re.IGNORECASE), re.compile(rf",? {word} |[,;/] ", re.IGNORECASE)
