"""Finds times of the clock in words, such as "half past seven": English, German, French and
Spanish."""

import re
from collections.abc import Iterator

_HOURS = {
    "en": "one two three four five six seven eight nine ten eleven twelve",
    "de": "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "une deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "una dos tres cuatro cinco seis siete ocho nueve diez once doce",
}
_HOUR = {
    language: rf"(?P<hour>\d{{1,2}}|{'|'.join(words.split())})(?!\w|[.:]\d)"
    for language, words in _HOURS.items()
}
_WORDS = {
    "en": re.compile(
        rf"\b(?P<part>half past|(?:a )?quarter (?:past|after|to)) {_HOUR['en']}", re.IGNORECASE
    ),
    "de": re.compile(rf"\b(?P<part>halb|Viertel (?:nach|vor)) {_HOUR['de']}", re.IGNORECASE),
    "fr": re.compile(
        rf"\b{_HOUR['fr']} h(?:eures?)? (?P<part>et (?:demie?|quart)|moins (?:le |un )?quart)\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        rf"\blas? {_HOUR['es']} (?P<part>y (?:media|cuarto)|menos (?:un )?cuarto)\b", re.IGNORECASE
    ),
}
_SIGNS = {  # one is in all times
    "en": ("alf past", "uarter"),
    "de": ("alb ", "iertel "),
    "fr": ("demi", "quart"),
    "es": ("media", "cuarto"),
}
_MINUTES = {
    "half": 30, "halb": -30, "past": 15, "after": 15, "nach": 15, "to": -15, "vor": -15,
    "demi": 30, "demie": 30, "quart": 15, "moins": -15, "media": 30, "cuarto": 15, "menos": -15,
}  # fmt: skip
_DIGITS = re.compile(r"(?<![\d.:])(\d{1,2})(?:[.:]|\s?h\s?)(\d\d)(?![\d:])")


def times_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The times in words of a sentence that its translation has neither in words nor in digits.

    `languages` are the codes of source and target; for languages without a table there are
    none.
    """
    from_, into = languages
    if (
        from_ not in _WORDS
        or into not in _WORDS
        or not any(map(source.__contains__, _SIGNS[from_]))
    ):
        return []
    wanted = list(_times(source, from_))
    if not wanted:
        return []
    there = {time for _, time in _times(target, into)}
    there |= {(int(hour) % 12, int(minute)) for hour, minute in _DIGITS.findall(target)}
    return [text for text, time in wanted if time not in there]


def _times(text: str, language: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each time in words, with its hour from 0 to 11 and its minute."""
    words = _HOURS[language].split()
    for match in _WORDS[language].finditer(text):
        first, *_, last = match["part"].lower().split() * 2
        minutes = _MINUTES.get(first) or _MINUTES[last]
        hour = match["hour"].lower()
        since = 60 * (int(hour) if hour.isdigit() else words.index(hour) + 1) + minutes
        yield match[0], (since // 60 % 12, since % 60)
