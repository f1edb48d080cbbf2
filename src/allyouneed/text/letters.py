"""The lines with which letters begin and end, such as "Dear Anna,": small models garble them."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_PART = r"(?:(?:von|van|de|und|and) )*[A-Z\u00c0-\u00de][\w'’.-]*"
_NAME = rf"(?P<name>{_PART}(?: {_PART}){{0,3}}(?<!\.))"
_OPENED = r"(?P<end>[,!:]?)"
_SIGNED = rf"(?P<end>[,.!]?)(?P<signed>\s+{_NAME})?"
_BARE_END = {"de": ("closings",)}  # no comma stands at the end of these lines


@dataclass(frozen=True, slots=True)
class Formula:
    """A line of a letter in another language. `name` is what stands in it as it is; `is_sure` is
    False if only its capital says that it is a name."""

    text: str
    name: str = ""
    is_sure: bool = True


def letter_formula(line: str, languages: tuple[str, str]) -> Formula | None:
    """The translation of a line that opens or closes a letter and holds nothing else.

    None for any other line, and for `languages`, the codes of source and target, that are not in
    the table (`letters.toml`). White space around the line stays.
    """
    bare = line.strip()
    for pattern, target, kind in _rows("-".join(languages)) if bare else ():
        if found := pattern.fullmatch(bare):
            groups = found.groupdict()
            name, signed = groups["name"] or "", groups.get("signed") or ""
            end = "" if kind in _BARE_END.get(languages[1], ()) and not signed else found["end"]
            if kind == "closings" and not signed and languages[0] in _BARE_END:
                end = ","
            written = target.replace("NAME", name) + end + signed
            sure = not name or kind == "closings" or len(target.split()) > 2
            return Formula(line.replace(bare, written), name, sure)
    return None


@cache
def _rows(direction: str) -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """The patterns of a direction, such as "en-de", each with its target and its kind."""
    table = _table().get(direction, {})
    return tuple(
        (_pattern(source, kind), target, kind)
        for kind, rows in table.items()
        for source, target in rows.items()
    )


@cache
def _table() -> dict[str, dict[str, dict[str, str]]]:
    text = files("allyouneed.text").joinpath("letters.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _pattern(source: str, kind: str) -> re.Pattern[str]:
    words, name, _ = source.partition("NAME")
    fixed = rf"(?i:{re.escape(words)})" + (_NAME if name else "")
    if kind == "closings":
        return re.compile(fixed + _SIGNED)
    return re.compile(fixed + ("" if name else "(?P<name>)") + _OPENED)
