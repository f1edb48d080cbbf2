"""Times of the clock: those that a translation lacks, and "7:30 pm" as "19:30"."""

import re
from collections.abc import Iterator
from functools import cache

from allyouneed.text.tongues.known import TONGUES

TWELVE_HOURS = frozenset({"en"})
"""The codes of the languages that write times of the afternoon as "7:30 pm"."""
_TWELVE = re.compile(
    r"(?<![\w.,:/$€£])(?<!\d-)(?:(?P<first>FIGURES)(?P<dash>[ ]?[-–][ ]?|[ ]to[ ]|[ ]and[ ]))?"
    r"(?P<last>FIGURES)[ \u00a0\u202f]?"
    r"(?P<half>[ap])(?:m\b|\.[ ]?m\.(?P<end>(?=[\"')\]]*\s*\Z))?|\.m\b)".replace(
        "FIGURES", r"(?:1[0-2]|0?[1-9])(?:[:.][0-5]\d)?"
    ),
    re.IGNORECASE,
)
_BEFORE_RANGE = {" to ": "from ", " and ": "between "}  # "10 to 5 pm" alone may be ten minutes to 5
_H = re.compile(r"(?<![\w.,:/-])([01]?\d|2[0-4]) ?h ?([0-5]\d)(?!\w)")  # "19h30", "19 h 30"
_TOO_LATE = re.compile(r"\b(1[3-9]|2[0-3])((?:[:.][0-5]\d)? ?p\.? ?m\b)", re.IGNORECASE)
_HOUR = re.compile(r"(?<![\d.,:])\d{1,2}(?![\d.,:]*\d)")
_DIGITS = re.compile(r"(?<![\d.:])(2[0-4]|[01]?\d)(?:[.:]|\s?h\s?)([0-5]\d)(?![\d:])")


def in_24_hours(text: str, languages: tuple[str, str]) -> Iterator[tuple[int, int, str]]:
    """Each time such as "7:30 pm" or "19h30", in a text that is translated into another language:
    its begin, its end and the time as "19:30", which every model knows.

    A full stop of "p.m." that ends the text stays behind the time.
    """
    from_, into = languages
    if from_ == into:
        return
    if from_ not in TWELVE_HOURS:
        for found in _H.finditer(text):
            yield *found.span(), f"{int(found[1])}:{found[2]}"
        return
    for found in _TWELVE.finditer(text):
        begin, end = found.span()
        last = _minutes(found["last"]) + 12 * 60 * (found["half"] in "pP")
        written = _clock(last) + "." * (found["end"] is not None)
        before = _BEFORE_RANGE.get(found["dash"], "")
        if found["first"] and text[:begin].lower().endswith(before):
            first = _minutes(found["first"])
            first = (last - (last - first) % 720) % 1440  # at most 12 hours before
            written = _clock(first) + found["dash"] + written
        elif found["first"]:
            begin = found.start("last")
        yield begin, end, written


def in_12_hours(text: str) -> str:
    """A text in English, with times such as "19:30 p.m." as "7:30 p.m."."""
    return _TOO_LATE.sub(lambda found: f"{int(found[1]) - 12}{found[2]}", text)


def _minutes(figures: str) -> int:
    """The minutes since midnight or noon of a time such as "7:30" or "7"."""
    hour, *minute = re.split("[:.]", figures)
    return int(hour) % 12 * 60 + sum(map(int, minute))


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


def times_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The times of a sentence that its translation lacks, in words and in digits such as "19:30".

    A full hour may also be a number. A time in digits is skipped if the translation names hours in
    words that `Clock.times` does not match, such as "neun Uhr". `languages` are the codes of source
    and target. If the words of one are not known, the list is empty.
    """
    from_, into = languages
    if not TONGUES.keys() >= {from_, into}:
        return []
    wanted = list(_in_words(source, from_))
    in_words = [time for _, time in _in_words(target, into)]
    in_digits = list(_in_digits(source, marks=":"))
    if in_digits and (in_words or not _names_hours(into).search(target)):
        wanted += in_digits
    if not wanted:
        return []
    there = {*in_words, *(time for _, time in _in_digits(target))}
    there |= {(int(hour) % 12, 0) for hour in _HOUR.findall(target)}
    return [text for text, time in wanted if time not in there]


def _in_digits(text: str, marks: str = ":.h") -> Iterator[tuple[str, tuple[int, int]]]:
    """Each time in digits that has one of the `marks`, such as "7:30", with its hour from 0 to 11
    and its minute."""
    for found in _DIGITS.finditer(text):
        if any(map(found[0].__contains__, marks)):
            yield found[0], (int(found[1]) % 12, int(found[2]))


def _in_words(text: str, language: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each time in words, with its hour from 0 to 11 and its minute."""
    clock = TONGUES[language].clock
    if not any(map(text.__contains__, clock.signs)):
        return
    patterns, hours = _patterns(language)
    for match in (match for one in patterns for match in one.finditer(text)):
        first, *_, last = match["part"].lower().split() * 2
        hour = match["hour"]
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
    return patterns, [re.compile(one, re.IGNORECASE) for one in hours]
