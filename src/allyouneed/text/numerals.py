"""Finds the numbers of a sentence that its translation lacks, in the languages of `tongues`."""

import re
from functools import cache
from typing import NamedTuple

from allyouneed.text.tongues.known import TONGUES

_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:[.,]\d+)*(?![\w:/]|[-.,]\d)")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)")  # "12 000"


_AFTER_HOURS = "|".join(filter(None, (one.clock.after_hour for one in TONGUES.values())))
O_CLOCK = rf"\s?(?:{_AFTER_HOURS})"
"""The pattern of what stands behind an hour in digits, in any language."""
_NO_PART = r"(?<![\w.,:/-])"
_MARK = re.compile(r"(?<=\d)(?:[.,:](?=\d)|\s(?=\d{3}(?!\d)))")
_DIGITS = re.compile(r"\d+")


def numbers_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The numbers of a sentence that its translation has neither in digits nor in words.

    `languages` are the codes of source and target; if one is not known, there are none.
    Dates and numbers with letters do not count. A time counts where the translation tells no time
    at all, and an hour may be that of a clock of twelve hours.
    """
    into = languages[1]
    if not any(map(str.isdigit, source)) or not TONGUES.keys() >= set(languages):
        return []
    there = {*_DIGITS.findall(target), *_DIGITS.findall(_MARK.sub("", target))}
    there |= _hours_there(source, target, languages)
    bare = without_spaces(_patterns(languages[0]).time.sub("", source))
    numbers = [
        one
        for one in dict.fromkeys(_NUMBER.findall(bare))
        if _MARK.sub("", one) not in there and not _in_words(one, target, into)
    ]
    times = (time for time in _times_lost(source, target, languages) if time not in numbers)
    return [*numbers, *times]


def without_spaces(text: str) -> str:
    """The text without the spaces that part the thousands of a number, as in "12 000"."""
    return _SPACED.sub(lambda found: "".join(found[0].split()), text)


class _Patterns(NamedTuple):
    """The patterns of an hour in digits, and of a whole time."""

    hour: re.Pattern[str]
    time: re.Pattern[str]


@cache
def _patterns(language: str) -> _Patterns:
    before = TONGUES[language].clock.before_hour
    at = rf"\b(?:{before})\s?" if before else "(?!)"
    hour = (
        rf"{_NO_PART}(?:{at}(\d{{1,2}})(?![\d%])|(\d{{1,2}})(?::\d\d(?![:\d])"
        rf"|(?:[:.]\d\d)?(?={O_CLOCK}|h\d\d\b)))"
    )
    time = (  # also "14 h 30" and "kl. 14.30"
        rf"{_NO_PART}(?:{at}(\d{{1,2}})[:.]\d\d(?!\d)"
        rf"|(\d{{1,2}})(?:[:.]\d\d(?={O_CLOCK})|\s?h\s?\d\d\b))"
    )
    return _Patterns(re.compile(hour, re.IGNORECASE), re.compile(time))


def _hours_there(source: str, target: str, languages: tuple[str, str]) -> set[str]:
    """The hours of a source that its translation has by a clock of twelve or of 24 hours."""
    from_, into = (_patterns(one).hour for one in languages)
    told = {int(hour) % 12 for hour in map(_hour, into.finditer(target))}
    return {hour for hour in map(_hour, from_.finditer(source)) if int(hour) % 12 in told}


def _hour(found: re.Match[str]) -> str:
    """The hour of a time."""
    return found[1] or found[2]


def _times_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The times of a sentence whose translation tells no time."""
    from_, into = languages
    if _told_time(into).search(target):
        return []
    return [
        time[0]
        for time in _patterns(from_).time.finditer(source)
        if not _in_words(str(int(_hour(time)) % 12), target, into)
    ]


@cache
def _told_time(language: str) -> re.Pattern[str]:
    """What tells a time: digits, or words that name no hour."""
    digits = rf"(?<!\d)\d{{1,2}}[:.]\d\d|(?<!\d)(?:1?\d|2[0-4])(?:{O_CLOCK}|\s?h\s?\d\d)"
    return re.compile(f"{digits}|{TONGUES[language].clock.told}", re.IGNORECASE)


def _in_words(number: str, text: str, language: str) -> bool:
    """Whether a text may have a number in words. A word of a larger number may be any of them."""
    words = TONGUES[language].numbers
    pattern = words.ones[int(number)] if len(number) == 1 else words.larger
    return re.search(pattern, text, re.IGNORECASE) is not None
