"""Writes the numbers of a translation as its language does: English "1,250.5 km" is "1.250,5 km" in
German.

Models learn this, but copy some numbers as they are. A French reader takes "384,400 km" for less
than 385 km.
"""

import re
from functools import cache

from allyouneed.text.sums import rewritten
from allyouneed.text.tongues.known import TONGUES

UNITS = (
    "nm|µm|mm|cm|dm|km|mg|kg|ml|cl|ms|Hz|kHz|MHz|GHz|mV|kV|mA|kW|MW|kWh|Wh|hPa|°C|°F|kB|KB|MB|GB|"
    "TB|KiB|MiB|GiB|TiB|px|dpi|fps|dB|[mcdk]?m[²³]"
)
"""The pattern of the units that German, English and most other languages write alike, also after
"Kilo" or "Grad"."""
_NO_PART = r"(?<![\w.,:/-])"
_ENDS = r"(?!\d|[.,:/-]\d)"


def amounts_written(source: str, target: str, languages: tuple[str, str]) -> str:
    """A translation, with the numbers that it copied from its source as its own language writes
    them: those with marks of thousands, and those with a fraction and a unit.

    `languages` are the codes of source and target. Where the target language puts spaces between
    thousands, there is nothing between them, so that the number stays one word.
    """
    if not TONGUES.keys() >= set(languages):
        return target
    given, wanted = (TONGUES[one].sums for one in languages)
    if given.decimal == wanted.decimal:
        return target
    for number in dict.fromkeys(_numbers(languages[0]).findall(source)):
        if number in target:
            written = rewritten(number, given, wanted).replace(" ", "")
            target = re.sub(_NO_PART + re.escape(number) + _ENDS, written, target)
    return target


@cache
def _numbers(language: str) -> re.Pattern[str]:
    """The pattern of a number with marks of thousands, or with a fraction and a unit."""
    style = TONGUES[language].sums
    decimal = re.escape(style.decimal)
    unit = rf"(?=[ \u00a0\u202f]?(?:%|(?:{UNITS}|[mlg])(?![\w°])))"
    numbers = rf"\d{{1,18}}{decimal}\d{{1,9}}{unit}"
    if style.thousands != " ":  # a space may also stand between two numbers
        numbers += (
            rf"|\d{{1,3}}(?:{re.escape(style.thousands)}\d{{3}}){{1,6}}(?:{decimal}\d{{1,9}})?"
        )
    return re.compile(rf"{_NO_PART}(?:{numbers}){_ENDS}")
