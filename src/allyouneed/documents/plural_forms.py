"""Plural forms: how many a language has, and which of them is the singular."""

import re

_BY_COUNT = {
    1: "bo dz fa hu id ja ka km ko lo ms my su th tr tt ug vi yo zh",
    3: "be bs cs hr lt lv mk mo pl ro ru sh sk sr uk",
    4: "cy gd mt sl",
    5: "ga",
    6: "ar",
}
_COUNTS = {code: count for count, codes in _BY_COUNT.items() for code in codes.split()}
_ENDING = re.compile(r"(?<=\w)\((e?s)\)")


def forms_of(language: str) -> int:
    """The number of plural forms that Qt gives a language, by its code; 2 for most."""
    return _COUNTS.get(re.split("[-_]", language.lower())[0], 2)


def is_singular(form: int, count: int) -> bool:
    """Whether this form, counted from 0, of `count` forms is the singular. In Arabic, the form for
    no things comes first. A language with one form uses it for all numbers."""
    return count > 1 and form == (1 if count == 6 else 0)


def singular_of(text: str) -> str:
    """The text for one thing: "%n file" for "%n file(s)"."""
    return _ENDING.sub("", text)


def plural_of(text: str) -> str:
    """The text for several things: "%n files" for "%n file(s)"."""
    return _ENDING.sub(r"\1", text)
