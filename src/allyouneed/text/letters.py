"""The lines with which letters begin and end, such as "Dear Anna,": small models garble them."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from allyouneed.text.language_names import name_of
from allyouneed.text.tongues.known import TONGUES
from allyouneed.text.tongues.tongue import BIG

_PART = rf"(?:(?:von|van|de|del|la) )*{BIG}[\w'’.-]*"
_STYLES = [one.letters for one in TONGUES.values()]
_ANDS = "|".join(f" {and_}" for one in _STYLES for and_ in (one.and_, one.other_and) if and_)
_NAME = rf"(?P<name>{_PART}(?:(?:{_ANDS})? {_PART}){{0,3}}(?<!\.))"


@dataclass(frozen=True, slots=True)
class Formula:
    """A line of a letter in another language. `name` is what stands in it as it is; `is_sure` is
    False if only its capital says that it is a name. After a line that `closes` a letter, the
    names of its writers may follow."""

    text: str
    name: str = ""
    is_sure: bool = True
    closes: bool = False


def letter_formulas(lines: Sequence[str], languages: tuple[str, str]) -> list[Formula | None]:
    """The translation of each line that opens, closes or signs a letter; None for other lines.

    A line of names signs a letter if it is the first one after a line that closes the letter.
    """
    found: list[Formula | None] = []
    closed = False
    for line in lines:
        formula = letter_formula(line, languages)
        if formula is None and closed and _signature(languages[0]).fullmatch(line.strip()):
            formula = Formula(_with_and(line, languages), line.strip())
        found.append(formula)
        if line.strip():
            closed = formula is not None and formula.closes
    return found


def letter_formula(line: str, languages: tuple[str, str]) -> Formula | None:
    """The translation of a line that opens or closes a letter and holds nothing else.

    None for any other line, and for `languages`, the codes of source and target, without a table
    (`tongues/LANGUAGE.letters.toml`). White space around the line stays.
    """
    bare = line.strip()
    words = bare.removeprefix("¡")
    if not words or _first_word(words) not in _first_words("-".join(languages)):
        return None
    formula = _of_one(words, languages) or _of_two(words, languages)
    return formula and replace(formula, text=line.replace(bare, formula.text))


def _of_one(bare: str, languages: tuple[str, str]) -> Formula | None:
    """The translation of a line that a row of the table matches."""
    for row in _rows("-".join(languages)):
        if found := row.pattern.fullmatch(bare):
            groups = found.groupdict()
            name, signed, end = groups["name"] or "", groups.get("signed") or "", found["end"]
            end = end.strip()
            style = TONGUES[languages[1]].letters
            if row.closes and (style.after_closing or signed):
                end = end or style.after_closing
            elif row.closes:
                end = end.replace(",", "")
            elif end in (",", ":"):
                end = style.after_opening
            if end in ("!", ":") and languages[1] == "fr":
                end = f" {end}"
            begin = "¡" if end == "!" and languages[1] == "es" else ""
            words = begin + row.target.replace("NAME", name) + end
            written = _with_and(words + signed, languages)
            is_sure = not name or row.names_are_sure
            return Formula(written, name, is_sure, row.closes and not signed)
    return None


def _of_two(bare: str, languages: tuple[str, str]) -> Formula | None:
    """The translation of a line with two openings, such as "Liebe Anna, lieber Jörg,"."""
    first, comma, second = bare.partition(", ")
    one = _of_one(first, languages) if comma and second[0].islower() else None
    other = _of_one(second, languages) if one else None
    if one is None or other is None or one.closes or other.closes:
        return None
    text = f"{one.text}, {other.text[0].lower()}{other.text[1:]}"
    sure = one.is_sure and other.is_sure
    return Formula(text, (other if one.is_sure else one).name, sure)


def _with_and(names: str, languages: tuple[str, str]) -> str:
    """Names with the "and" of the target language between them."""
    given, wanted = (TONGUES[code].letters for code in languages)
    if given.other_and:
        names = re.sub(rf" {given.other_and} (?={given.before})", f" {given.and_} ", names)
    written = names.replace(f" {given.and_} ", f" {wanted.and_} ")
    if not wanted.other_and:
        return written
    return re.sub(rf" {wanted.and_} (?={wanted.before})", f" {wanted.other_and} ", written)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table: the pattern of its source, and its target."""

    pattern: re.Pattern[str]
    target: str
    closes: bool
    names_are_sure: bool


@cache
def _signature(language: str) -> re.Pattern[str]:
    """The name of a person, as a letter is signed. "Your Team" is none."""
    return re.compile(rf"(?!(?:{TONGUES[language].letters.no_names})\b){_NAME}")


@cache
def _rows(direction: str) -> tuple[_Row, ...]:
    """The rows of a direction, such as "en-de". Rows with a name come last: "Liebe Grüße" names
    nobody."""
    rows = [
        _row(source, target, closes=kind == "closings")
        for kind, some in _table(direction).items()
        for source, target in some.items()
    ]
    return tuple(sorted(rows, key=lambda row: "NAME" in row.target))


@cache
def _first_words(direction: str) -> frozenset[str]:
    """The first words of all rows of a direction: most lines begin with none of them."""
    rows = (source for some in _table(direction).values() for source in some)
    return frozenset(map(_first_word, rows))


def _first_word(line: str) -> str:
    return line.split(None, 1)[0].rstrip(",.!:").lower()


@cache
def _table(direction: str) -> dict[str, dict[str, str]]:
    """The rows of a direction, for openings and for closings; none for directions without table."""
    source, _, target = direction.partition("-")
    other = target if source == "en" else source
    are_known = TONGUES.keys() >= {source, target}
    if not are_known or "en" not in (source, target) or source == target:
        return {}
    name = f"{name_of(other).lower()}.letters.toml"
    text = files("allyouneed.text.tongues").joinpath(name).read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = tomllib.loads(text)[direction]
    return found


def _row(source: str, target: str, *, closes: bool) -> _Row:
    words, name, _ = source.removesuffix(",").partition("NAME")
    fixed = re.escape(words).replace(r"\.", r"\.?").replace("'", "['’]")
    ends = source.endswith(",")
    end = "," if ends and closes else "[,:]" if ends else "[,.!]?" if closes else "[,!.:]?"
    named = _NAME if name else "" if closes else "(?P<name>)"
    signed = rf"(?P<signed>\s+{_NAME})?" if closes else ""
    pattern = re.compile(rf"(?i:{fixed}){named}(?P<end>\s?{end}){signed}")
    titled = max(len(source.split()), len(target.split())) > 2
    return _Row(pattern, target, closes, closes or ends or titled)
