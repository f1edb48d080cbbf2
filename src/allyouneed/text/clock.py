"""Finds times of the clock, such as "half past seven" and "7:30", that a translation lacks."""

import re
from collections.abc import Iterator
from functools import cache

from allyouneed.text.tongues.known import TONGUES

_DIGITS = re.compile(r"(?<![\d.:])(\d{1,2})(?:[.:]|\s?h\s?)(\d\d)(?![\d:])")


def times_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The times of a sentence that its translation lacks, in words and in digits.

    A time in digits counts only if the translation tells a time in words: `numbers_lost` looks for
    the others. `languages` are the codes of source and target. If the words of one are not known,
    the list is empty.
    """
    from_, into = languages
    if not TONGUES.keys() >= {from_, into}:
        return []
    in_words = [time for _, time in _in_words(target, into)]
    wanted = list(_in_words(source, from_))
    if in_words:
        wanted += _in_digits(source)
    if not wanted:
        return []
    there = {*in_words, *(time for _, time in _in_digits(target))}
    return [text for text, time in wanted if time not in there]


def _in_digits(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each time in digits, such as "7:30", with its hour from 0 to 11 and its minute."""
    for found in _DIGITS.finditer(text):
        yield found[0], (int(found[1]) % 12, int(found[2]))


def _in_words(text: str, language: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each time in words, with its hour from 0 to 11 and its minute."""
    clock = TONGUES[language].clock
    if not any(map(text.__contains__, clock.signs)):
        return
    pattern, hours = _patterns(language)
    for match in pattern.finditer(text):
        first, *_, last = match["part"].lower().split() * 2
        hour = match["hour"].lower()
        named = (n for n, one in enumerate(hours, 1) if one.fullmatch(hour))
        since = 60 * (int(hour) if hour.isdigit() else next(named))
        since += clock.minutes.get(first) or clock.minutes[last]
        yield match[0], (since // 60 % 12, since % 60)


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], list[re.Pattern[str]]]:
    """The patterns of times, and those of the hours from one to twelve."""
    clock = TONGUES[language].clock
    hours = clock.hours.split()
    hour = rf"(?P<hour>\d{{1,2}}|{'|'.join(hours)})(?!\w|[.:]\d)"
    times = re.compile(clock.times.replace("HOUR", hour), re.IGNORECASE)
    return times, [re.compile(one) for one in hours]
