"""Finds the numbers of a sentence that its translation lacks: English and German."""

import re

# What words for 0 to 9 contain: "zwei" is also in "zweite" and "zweimal", but "dreißig" is no 3.
_ONES = {
    "en": (
        r"zero|\bno\b|null|nil",
        r"one|once|first|single|\ban?\b",
        r"two|twi|second|double|both|pair|couple|half",
        r"three|thir(?!t)|triple|thrice|tri",
        r"four(?!t[ei])|quart|quadr",
        r"five|fif(?!t[eiy])",
        r"six(?!t[eiy])",
        r"seven(?!t[eiy])",
        r"eight(?!een|ies|y)",
        r"nin(?!et)",
    ),
    "de": (
        r"null|kein",
        r"ein|erst",
        r"zwei|zwo|beid|doppel|paar|halb",
        r"drei(?!ß|zehn)|dritt",
        r"vier(?!z)",
        r"fünf(?!z)",
        r"sech(?!z)",
        r"sieb(?!z)",
        r"acht(?!z)",
        r"neun(?!z)",
    ),
}
# What words for larger numbers contain. A translation with such a word may have any of them.
_LARGER = {
    "en": r"\bten|elev|twel|teen|ty\b|tie[st]|dozen|hundred|thousand|illion|centur|decade|half",
    "de": r"zehn|elf|zwölf|zig|dreißig|dutzend|hundert|tausend|illi|halb|viertel",
}
_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:[.,]\d+)*(?![\w:/]|[-.,]\d)")
_O_CLOCK = r"\s?(?:[ap]\.?\s?m\b|o['’]clock|Uhr\b|h\b)"
_TIME = re.compile(rf"(?<![\w.,:/-])(\d{{1,2}})[:.]\d\d(?={_O_CLOCK})")
_TOLD_TIME = re.compile(  # in digits, or by words that name no hour
    rf"\d(?:[:.]\d\d|{_O_CLOCK})|noon|midday|midnight|mittag|mitternacht|quarter|half",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?<=\d)(?:[.,:](?=\d)|\s(?=\d{3}(?!\d)))")
_DIGITS = re.compile(r"\d+")


def numbers_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The numbers of a sentence that its translation has neither in digits nor in words.

    `languages` are the codes of source and target; for others than English and German there are
    none. Dates and numbers with letters do not count. A time counts where the translation tells no
    time at all.
    """
    into = languages[1]
    if not any(map(str.isdigit, source)) or not _ONES.keys() >= set(languages):
        return []
    there = {*_DIGITS.findall(target), *_DIGITS.findall(_MARK.sub("", target))}
    numbers = [
        one
        for one in dict.fromkeys(_NUMBER.findall(source))
        if _MARK.sub("", one) not in there and not _in_words(one, target, into)
    ]
    times = (time for time in _times_lost(source, target, into) if time not in numbers)
    return [*numbers, *times]


def _times_lost(source: str, target: str, into: str) -> list[str]:
    """The times of a sentence whose translation tells no time."""
    if _TOLD_TIME.search(target):
        return []
    return [
        time[0]
        for time in _TIME.finditer(source)
        if not _in_words(str(int(time[1]) % 12), target, into)
    ]


def _in_words(number: str, text: str, language: str) -> bool:
    """Whether a text may have a number in words."""
    words = _ONES[language][int(number)] if len(number) == 1 else _LARGER[language]
    return re.search(words, text, re.IGNORECASE) is not None
