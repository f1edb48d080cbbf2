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
"""The pattern of units that most languages spell alike: a number before one is an amount."""
_NO_PART = r"(?<![\w.,:/])(?<![^\W\d]-)"  # "-3.5" and "2.5-3.5" are numbers, "A-3.5" is none
_ENDS = r"(?!\d|[.,:/]\d)"


def amounts_written(source: str, target: str, languages: tuple[str, str]) -> str:
    """The translation, with each number that it copied from its source as its own language writes
    it. Only numbers with marks of thousands count, and those with a fraction and a unit.

    `languages` are the codes of source and target. Spaces between thousands are left out (French
    "384400"), so that the number stays one word.
    """
    if not TONGUES.keys() >= set(languages):
        return target
    given, wanted = (TONGUES[one].sums for one in languages)
    if given.decimal == wanted.decimal:
        return target
    numbers = _numbers(languages[0])
    copied = {
        one: rewritten(one, given, wanted).replace(" ", "") for one in numbers.findall(source)
    }
    copied = {one: written for one, written in copied.items() if written not in copied}
    return numbers.sub(lambda found: copied.get(found[0], found[0]), target)


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
