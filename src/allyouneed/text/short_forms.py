"""Abbreviations and short forms that people type, such as "e.g." and "thx", in full.

Corpora have few of them, and a small model reads "approx." as "approve". It gets the words instead.
"""

import re
from collections.abc import Iterator
from functools import cache

from allyouneed.text.tongues.known import TONGUES

_WORD = re.compile(r"[A-Za-z]+(?:[./][A-Za-z]+)*/?")
_JOINS_BEFORE, _JOINS_BEHIND = re.compile(r"[\w.'’&/:@-]\Z"), re.compile(r"[\w'’&/@-]")
_NUMBER_BEFORE, _NUMBER_BEHIND = re.compile(r"\d \Z"), re.compile(r"\.? ?\d")
_STOP = re.compile(r"\.(?=,| ?\d| [a-z])")  # before other words it may be the end of a sentence
_SHORT = 2  # letters; such forms count in small letters only: "ca. 20", but "CA 94103"


def in_full(text: str, languages: tuple[str, str]) -> Iterator[tuple[int, int, str]]:
    """Each short form of a text that is translated into another language: its begin, its end and
    the words that it stands for. `languages` are the codes of source and target.

    The words begin with a capital if the short form does ("Fig. 3"). A short form in capitals gets
    a capital only at the beginning of the text ("FYI: ...").
    """
    known = _known(languages[0]) if languages[0] != languages[1] else frozenset()
    for word in _WORD.finditer(text) if known else ():
        if (form := word[0].lower()) in known:
            begin, end = word.span()
            before, behind = text[max(begin - 2, 0) : begin], text[end : end + 3]
            if (found := _words(form, word[0], before, behind, languages[0])) is not None:
                capital = form[0] != word[0][0] and (not word[0].isupper() or begin == 0)
                words, is_dotted = found
                yield begin, end + is_dotted, words[0].upper() + words[1:] if capital else words


def _words(
    form: str, typed: str, before: str, behind: str, language: str
) -> tuple[str, bool] | None:
    """The words that the short form `form` stands for, and whether the full stop behind it belongs
    to it; None if it is no short form at this place. `before` and `behind` are the two or three
    signs around it."""
    forms = TONGUES[language].short_forms
    in_other_word = _JOINS_BEFORE.search(before) or _JOINS_BEHIND.match(behind)
    if forms is None or in_other_word or (len(form) <= _SHORT and form != typed):
        return None
    if form in forms.anywhere:
        return forms.anywhere[form], False
    stop = _STOP.match(behind) is not None
    if form in forms.before_numbers and _NUMBER_BEHIND.match(behind):
        return forms.before_numbers[form], stop
    if form in forms.after_numbers and _NUMBER_BEFORE.search(before):
        return forms.after_numbers[form], stop
    is_dotted = behind.startswith((". ", ".,"))
    return (forms.before_words[form], True) if is_dotted and form in forms.before_words else None


@cache
def _known(language: str) -> frozenset[str]:
    """The short forms of a language, wherever they stand."""
    forms = TONGUES[language].short_forms if language in TONGUES else None
    return frozenset(form for kind in forms or () for form in kind)
