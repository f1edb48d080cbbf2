"""Finds the numbers, amounts and times of a text that its translation lacks."""

import re
from collections import Counter

from allyouneed.text.amounts import UNITS
from allyouneed.text.numerals import without_spaces
from allyouneed.translation.markup.protected import NUMBER, TIME

# Letters of scripts that put spaces between numbers and words.
_CASED = "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u024f\u0370-\u052f"
_NUMBER = re.compile(NUMBER)
_AMOUNT = re.compile(
    r"(?<![\w.])(?P<number>\d{1,18}(?:[.,]\d{1,9}){0,6})"  # bounded repeats keep matching linear
    rf"[ \u00a0\u202f]?(?P<unit>{UNITS})(?![\w°])"
)
_TIME = re.compile(TIME)
_TWO_DIGITS = re.compile(r"\d[.,:/-]?\d")
_ORDINAL = r"(?:st|nd|rd|th|e)\b|[ºª]"
_WRITTEN = re.compile(rf"(?<![{_CASED}\d])\d+(?:[.,:]\d+)*(?:(?![{_CASED}\d])|(?={_ORDINAL}))")
_WRITTEN_TIME = re.compile(r"(?<![\d.,:])(\d{1,2})[:.](\d\d)(?![\d.,:]*\d)")
_DIGITS = re.compile(r"\d+")
_THOUSANDS = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*")
# Contains a comma and a full stop.
_MIXED = re.compile(r"[\d.]*,[\d,]*\.[\d.,]*|[\d,]*\.[\d.]*,[\d.,]*")
_MIXED_RIGHT = re.compile(r"\d{1,3}(?:([.,])\d{3})+(?!\1)[.,]\d+")


def has_number(text: str) -> bool:
    """Whether a text may have numbers that `lost_numbers` looks for."""
    return _TWO_DIGITS.search(text) is not None or _AMOUNT.search(text) is not None


def lost_numbers(source: str, target: str) -> list[str]:
    """The numbers of a source that its translation lacks, as the source has them, with their units.

    The translation may write "1,000" as "1.000" or "1 000", "5:30" as "5.30", and "15:30" as
    "3:30". A time may also be in words. Numbers of one digit count only with a unit. A malformed
    number in the translation, such as "12,05.2024", is accepted only if the source has the same.
    """
    source, closed = without_spaces(source), without_spaces(target)
    rows = [*_WRITTEN.findall(target), *(_WRITTEN.findall(closed) if closed != target else ())]
    target = closed
    written = [one for one in rows if _is_number(one) or one in source]
    whole = set(map(_value, written))
    parts = Counter(part for one in written for part in _DIGITS.findall(one))
    amounts = _lost_amounts(source, target)
    told = {one["number"] for one in amounts}
    numbers = []
    for one in _NUMBER.findall(source):
        own = set(_DIGITS.findall(one))
        has_parts = not _is_quantity(one) and all(parts[part] > 0 for part in own)
        parts.subtract(own)  # "555-123 or 555-987" needs 555 twice
        is_there = _value(one) in whole or has_parts
        if not is_there and one not in told:
            numbers.append(one)
    return [*numbers, *(one[0] for one in amounts), *_lost_times(source, target)]


def _lost_amounts(source: str, target: str) -> list[re.Match[str]]:
    """The amounts whose number is not followed by its unit in the translation."""
    amounts = list(_AMOUNT.finditer(source))
    if not amounts:
        return []
    kept = {(_value(one["number"]), one["unit"]) for one in _AMOUNT.finditer(target)}
    return [one for one in amounts if (_value(one["number"]), one["unit"]) not in kept]


def _lost_times(source: str, target: str) -> list[str]:
    """The times for which the translation has another time, or the hour alone."""
    times = [one[0] for one in _TIME.finditer(source)]
    if not times:
        return []
    kept = {(int(hour) % 12, minute) for hour, minute in _WRITTEN_TIME.findall(target)}
    clock = [(one, *re.split("[:.]", one)) for one in times]
    if kept:
        return [one for one, hour, minute in clock if (int(hour) % 12, minute) not in kept]
    digits = set(map(int, _DIGITS.findall(target)))
    return [
        one
        for one, hour, minute in clock
        if digits & {int(hour), int(hour) % 12} and int(minute) not in digits | {0}
    ]


def _is_quantity(number: str) -> bool:
    """Whether a number is a quantity, and not a date, time or version, whose parts are numbers of
    their own."""
    return number.isdigit() or any(one.fullmatch(number) for one in (_THOUSANDS, _MIXED_RIGHT))


def _is_number(written: str) -> bool:
    """Whether a row of digits with full stops and commas may be a number, a date or a time."""
    return not _MIXED.fullmatch(written) or _MIXED_RIGHT.fullmatch(written) is not None


def _value(number: str) -> str:
    """A number without marks of thousands, and with a point before its fraction."""
    if _THOUSANDS.fullmatch(number):
        return number.replace(".", "").replace(",", "")
    if match := _MIXED_RIGHT.fullmatch(number):
        return number.replace(match[1], "").replace(",", ".")
    return number.replace(",", ".").replace(":", ".")
