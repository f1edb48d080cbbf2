"""Finds the numbers of a sentence that its translation lacks: English, German, French
and Spanish."""

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
    "fr": (
        r"zéro|nul|aucun|\bpas\b",
        r"\bune?s?\b|premi|uni",
        r"deux|second|doubl|pair|couple|moitié|demi|bi",
        r"troi|tri|tier",
        r"quatre(?![ -]vingt)|quatri|quart|quadr",
        r"cinq(?!uant)|quint",
        r"six|sext",
        r"sept(?!embre|ant)",
        r"huit(?!ant)|octav|octo[gs]",
        r"neuf|neuv",
    ),
    "es": (
        r"cero|nul|ning[uú]n|\bno\b",
        r"\bun[oa]?s?\b|primer|únic|\bsol[oa]\b",
        r"dos|segund|dobl|\bpar\b|pareja|amb[oa]s|mitad|medi[oa]|bi",
        r"tres(?!c)|tri|terc",
        r"cuatro(?!c)|cuart|cuádr",
        r"cinco|quint",
        r"seis(?!c)|sext",
        r"siete(?!c)|s[eé]ptim|sétim",
        r"ocho(?!c)|octav|octó",
        r"nueve(?!c)|noven(?!ta)",
    ),
}
# What words for larger numbers contain. A translation with such a word may have any of them.
_LARGER = {
    "en": r"\bten|elev|twel|teen|ty\b|tie[st]|dozen|hundred|thousand|illion|centur|decade|half",
    "de": r"zehn|elf|zwölf|zig|dreißig|dutzend|hundert|tausend|illi|halb|viertel",
    "fr": r"\bdix|onz|douz|treiz|quatorz|quinz|seiz|vingt|trent|ante\b|anti|cent|mill|dizain|"
    r"siècle|décenni|demi|quart|trimestr",
    "es": r"\bdie[zc]|décim|\bonce|doce|trece|catorce|quince|veint|vigés|[eai]nta|gésim|cien|"
    r"quinient|\bmil|millón|millon|decena|siglo|década|medi[oa]|cuarto|trimestr",
}
_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:[.,]\d+)*(?![\w:/]|[-.,]\d)")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)")  # "12 000"
O_CLOCK = r"\s?(?:[ap]\.?\s?m\b|o['’]clock|Uhr\b|h(?:eures?|oras?)?\b|de la (?:mañana|tarde|noche))"
_HOUR = re.compile(rf"(?<![\w.,:/-])(\d{{1,2}})(?:[:.]\d\d)?(?={O_CLOCK}|h\d\d\b)", re.IGNORECASE)
_TIME = re.compile(  # also "14 h 30"
    rf"(?<![\w.,:/-])(\d{{1,2}})(?:[:.]\d\d(?={O_CLOCK})|\s?h\s?\d\d\b)"
)
_TOLD_TIME = re.compile(  # in digits, or by words that name no hour
    rf"(?<!\d)\d{{1,2}}[:.]\d\d|(?<!\d)(?:1?\d|2[0-4])(?:{O_CLOCK}|\s?h\s?\d\d)|noon|midday|midnight"
    r"|mittag|mitternacht|quarter|half|\bmidi\b|minuit|quart|demie|mediodía|medianoche"
    r"|\bcuarto|y media",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?<=\d)(?:[.,:](?=\d)|\s(?=\d{3}(?!\d)))")
_DIGITS = re.compile(r"\d+")


def numbers_lost(source: str, target: str, languages: tuple[str, str]) -> list[str]:
    """The numbers of a sentence that its translation has neither in digits nor in words.

    `languages` are the codes of source and target; for languages without a table there are none.
    Dates and numbers with letters do not count. A time counts where the translation tells no time
    at all, and an hour may be that of a clock of twelve hours.
    """
    into = languages[1]
    if not any(map(str.isdigit, source)) or not _ONES.keys() >= set(languages):
        return []
    there = {*_DIGITS.findall(target), *_DIGITS.findall(_MARK.sub("", target))}
    there |= _hours_there(source, target)
    bare = without_spaces(_TIME.sub("", source))
    numbers = [
        one
        for one in dict.fromkeys(_NUMBER.findall(bare))
        if _MARK.sub("", one) not in there and not _in_words(one, target, into)
    ]
    times = (time for time in _times_lost(source, target, into) if time not in numbers)
    return [*numbers, *times]


def without_spaces(text: str) -> str:
    """The text without the spaces that part the thousands of a number, as in "12 000"."""
    return _SPACED.sub(lambda found: "".join(found[0].split()), text)


def _hours_there(source: str, target: str) -> set[str]:
    """The hours of a source that its translation has by a clock of twelve or of 24 hours."""
    told = {int(hour) % 12 for hour in _HOUR.findall(target)}
    return {hour for hour in _HOUR.findall(source) if int(hour) % 12 in told}


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
