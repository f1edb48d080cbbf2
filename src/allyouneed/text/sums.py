"""Writes sums of money as another language does: "$1,200.50" is "1.200,50 $" in German.

A German reader takes "$1,200" for little more than a dollar.
"""

import re
from functools import cache

from allyouneed.text.tongues.known import TONGUES
from allyouneed.text.tongues.tongue import Sums

SIGN = r"(?:(?:US|AU|A|CA|C|NZ|HK|S|R)?\$|[€£¥])"
"""The pattern of the sign of a currency."""
SPACE = r"[ \u00a0\u202f]"
"""The pattern of a space within a sum."""
_DASH = re.compile("[-–]")
_SUM = re.compile(
    rf"(?P<before>{SIGN}?){SPACE}?(?P<number>\d(?:{SPACE}?[\d.,–-])*){SPACE}?(?P<behind>{SIGN}?)"
)


def sum_written(text: str, languages: tuple[str, str], power: str = "") -> str | None:
    """A sum of money, such as "$1,200" or "$5-10", as the target language writes it.

    `languages` are the codes of source and target. `power` is a word behind the sum, such as
    "million"; the sign goes around it, too. None if the text is no such sum, if it is not written
    as the source language writes sums, or if a language is not known.
    """
    found = _SUM.fullmatch(text)
    if not found or bool(found["before"]) == bool(found["behind"]):
        return None
    if not TONGUES.keys() >= set(languages):
        return None
    given, wanted = (TONGUES[one].sums for one in languages)
    numbers = _DASH.split(found["number"])
    if not all(map(_number(given).fullmatch, numbers)):
        return None
    number = "-".join(rewritten(one, given, wanted) for one in numbers)
    number += f" {power}" if power else ""
    return wanted.form.replace("NUMBER", number).replace("SIGN", found["before"] + found["behind"])


def rewritten(number: str, given: Sums, wanted: Sums) -> str:
    """A number of one language with the marks of another."""
    whole, _, fraction = number.partition(given.decimal)
    written = re.sub(_thousands(given), wanted.thousands, whole)
    return written + wanted.decimal + fraction if fraction else written


def power_behind(text: str, language: str) -> str:
    """The word for a million or more, such as "billion", with which a text behind a number begins;
    an empty string if it begins with another word."""
    found = _power(language).match(text) if language in TONGUES else None
    return found["word"] if found else ""


@cache
def _power(language: str) -> re.Pattern[str]:
    words = "|".join(TONGUES[language].numbers.powers)
    return re.compile(rf"{SPACE}(?P<word>{words})(?!\w)", re.IGNORECASE)


@cache
def _number(style: Sums) -> re.Pattern[str]:
    """The pattern of a number in a language."""
    whole = rf"\d{{1,3}}(?:{_thousands(style)}\d{{3}})+|\d+"
    return re.compile(rf"(?:{whole})(?:{re.escape(style.decimal)}\d+)?")


def _thousands(style: Sums) -> str:
    """The pattern of a mark of thousands."""
    return SPACE if style.thousands == " " else re.escape(style.thousands)
