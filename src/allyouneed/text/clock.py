"""Finds times of the clock in words, such as "half past seven", in the languages of `tongues`."""

import re
from collections.abc import Iterator
from functools import cache

from allyouneed.text.tongues.known import TONGUES

_DIGITS = re.compile(r"(?<![\d.:])(\d{1,2})(?:[.:]|\s?h\s?)(\d\d)(?![\d:])")


def times_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The times that a sentence tells in words and its translation lacks, in words and in digits.

    `languages` are the codes of source and target. If the words of one are not known, the list is
    empty.
    """
    from_, into = languages
    if not TONGUES.keys() >= {from_, into}:
        return []
    if not any(map(source.__contains__, TONGUES[from_].clock.signs)):
        return []
    wanted = list(_times(source, from_))
    if not wanted:
        return []
    there = {time for _, time in _times(target, into)}
    there |= {(int(hour) % 12, int(minute)) for hour, minute in _DIGITS.findall(target)}
    return [text for text, time in wanted if time not in there]


def _times(text: str, language: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each time in words, with its hour from 0 to 11 and its minute."""
    pattern, hours = _patterns(language)
    minutes = TONGUES[language].clock.minutes
    for match in pattern.finditer(text):
        first, *_, last = match["part"].lower().split() * 2
        hour = match["hour"].lower()
        named = (n for n, one in enumerate(hours, 1) if one.fullmatch(hour))
        since = 60 * (int(hour) if hour.isdigit() else next(named))
        since += minutes.get(first) or minutes[last]
        yield match[0], (since // 60 % 12, since % 60)


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], list[re.Pattern[str]]]:
    """The patterns of times, and those of the hours from one to twelve."""
    clock = TONGUES[language].clock
    hours = clock.hours.split()
    hour = rf"(?P<hour>\d{{1,2}}|{'|'.join(hours)})(?!\w|[.:]\d)"
    times = re.compile(clock.times.replace("HOUR", hour), re.IGNORECASE)
    return times, [re.compile(one) for one in hours]
