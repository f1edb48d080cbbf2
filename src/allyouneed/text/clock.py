"""Finds times of the clock, such as "half past seven" and "7:30", that a translation lacks."""

import re
from collections.abc import Iterator
from functools import cache

from allyouneed.text.tongues.known import TONGUES

TWELVE_HOURS = frozenset({"en"})
"""The codes of the languages that write times of the afternoon as "7:30 pm"."""
_TWELVE = re.compile(
    r"(?<![\w.,:/])(?<!\d-)(?:(?P<first>FIGURES)(?P<dash>[ ]?-[ ]?))?(?P<last>FIGURES)"
    r"[ \u00a0\u202f]?(?P<half>[ap])(?:m\b|\.[ ]?m\.(?P<end>\s*\Z)?|\.m\b)".replace(
        "FIGURES", r"(?:1[0-2]|0?[1-9])(?:[:.][0-5]\d)?"
    ),
    re.IGNORECASE,
)
_HOUR = re.compile(r"(?<![\d.,:])\d{1,2}(?![\d.,:]*\d)")
_DIGITS = re.compile(r"(?<![\d.:])(\d{1,2})(?:[.:]|\s?h\s?)(\d\d)(?![\d:])")


def in_24_hours(text: str, languages: tuple[str, str]) -> Iterator[tuple[int, int, str]]:
    """Each time such as "7:30 pm" in an English text that is translated into another language: its
    begin, its end and the time by a clock of 24 hours, "19:30".

    A full stop of "p.m." that ends the text stays behind the time.
    """
    from_, into = languages
    if from_ not in TWELVE_HOURS or into in TWELVE_HOURS:
        return
    for found in _TWELVE.finditer(text):
        last = _minutes(found["last"]) + 12 * 60 * (found["half"] in "pP")
        written = _clock(last) + "." * (found["end"] is not None)
        if found["first"]:
            first = _minutes(found["first"])
            first += (
                12 * 60 * (first + 12 * 60 < last)
            )  # "3-4 pm", but "11-2 pm" begins before noon
            written = _clock(first) + found["dash"] + written
        yield *found.span(), written


def _minutes(figures: str) -> int:
    """The minutes since midnight or noon of a time such as "7:30" or "7"."""
    hour, *minute = re.split("[:.]", figures)
    return int(hour) % 12 * 60 + sum(map(int, minute))


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


def times_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The times of a sentence that its translation lacks, in words and in digits such as "19:30".

    A full hour may also be a number. A time in digits is not looked for if the translation has
    words for hours, such as "neun Uhr", in another form than `Clock.times` has it. `languages` are
    the codes of source and target. If the words of one are not known, the list is empty.
    """
    from_, into = languages
    if not TONGUES.keys() >= {from_, into}:
        return []
    wanted = list(_in_words(source, from_))
    in_words = [time for _, time in _in_words(target, into)]
    in_digits = list(_in_digits(source, mark=":"))
    if in_digits and (in_words or not _names_hours(into).search(target)):
        wanted += in_digits
    if not wanted:
        return []
    there = {*in_words, *(time for _, time in _in_digits(target))}
    there |= {(int(hour) % 12, 0) for hour in _HOUR.findall(target)}
    return [text for text, time in wanted if time not in there]


def _in_digits(text: str, mark: str = "") -> Iterator[tuple[str, tuple[int, int]]]:
    """Each time in digits, such as "7:30", with its hour from 0 to 11 and its minute; with a
    `mark`, only those that contain it."""
    for found in _DIGITS.finditer(text) if mark in text else ():
        if mark in found[0]:
            yield found[0], (int(found[1]) % 12, int(found[2]))


def _in_words(text: str, language: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each time in words, with its hour from 0 to 11 and its minute."""
    clock = TONGUES[language].clock
    if not any(map(text.__contains__, clock.signs)):
        return
    patterns, hours = _patterns(language)
    for match in (match for one in patterns for match in one.finditer(text)):
        first, *_, last = match["part"].lower().split() * 2
        hour = match["hour"].lower()
        named = (n for n, one in enumerate(hours, 1) if one.fullmatch(hour))
        since = 60 * (int(hour) if hour.isdigit() else next(named))
        since += clock.minutes.get(first) or clock.minutes[last]
        yield match[0], (since // 60 % 12, since % 60)


@cache
def _names_hours(language: str) -> re.Pattern[str]:
    """A word for an hour or for a larger number."""
    tongue = TONGUES[language]
    words = "|".join((*tongue.clock.hours.split(), tongue.clock.told))
    return re.compile(rf"\b(?:{words})\b|{tongue.numbers.larger}", re.IGNORECASE)


@cache
def _patterns(language: str) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
    """The patterns of times, and those of the hours from one to twelve."""
    clock = TONGUES[language].clock
    hours = clock.hours.split()
    hour = rf"(?P<hour>\d{{1,2}}|{'|'.join(hours)})(?!\w|[.:]\d)"
    times = filter(None, (clock.times, clock.more_times))
    patterns = [re.compile(one.replace("HOUR", hour), re.IGNORECASE) for one in times]
    return patterns, [re.compile(one) for one in hours]
