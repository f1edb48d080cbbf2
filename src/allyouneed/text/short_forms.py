"""Abbreviations and short forms that people type, such as "e.g." and "thx", in full.

Corpora have few of them, and a small model reads "approx." as "approve". It gets the words instead.
"""

import re
from collections.abc import Iterator
from functools import cache

from allyouneed.text.tongues.known import TONGUES


def in_full(text: str, languages: tuple[str, str]) -> Iterator[tuple[int, int, str]]:
    """Each short form of a text that is translated into another language: its begin, its end and
    its words. They begin with a capital where the short form does, and all capitals count as one at
    the beginning of the text only. `languages` are the codes of source and target."""
    from_, into = languages
    if from_ == into or from_ not in TONGUES or not TONGUES[from_].short_forms:
        return
    words = tuple(TONGUES[from_].short_forms.values())
    for found in _pattern(from_).finditer(text):
        assert found.lastgroup is not None
        full = words[int(found.lastgroup[1:])]
        capital = found[0][:1].isupper() and (not found[0].isupper() or found.start() == 0)
        yield *found.span(), full[:1].upper() + full[1:] if capital else full


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """One pattern of all short forms of a language; the group n<k> is the k-th of them."""
    forms = enumerate(TONGUES[language].short_forms)
    return re.compile("|".join(f"(?P<n{k}>{form})" for k, form in forms), re.IGNORECASE)
