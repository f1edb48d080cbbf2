"""Set phrases, such as "Cheers!": each language has its own, and small models miss them."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TypeVar

from allyouneed.text.letters import Formula

_ENDS = re.compile(r"[\s.!?…]*$")
_BEGINS = "¡¿"

Said = TypeVar("Said")


def set_phrase(line: str, languages: tuple[str, str]) -> Formula | None:
    """The translation of a line that is a set phrase; None for any other line.

    `set_phrases.tsv` has a language in each column, and the ways to say a phrase, which "|" parts,
    in each cell: all are known, the first is written. Case and the marks at the end do not count,
    but a question has to be one. The translation ends as the line does, and is in capitals where
    the line is.
    """
    bare = line.strip()
    target = _found(bare, _phrases(*languages))
    if target is None:
        return None
    written = _ended(target, _end(bare), languages[1])
    return Formula(line.replace(bare, written.upper() if bare.isupper() else written))


def languages_of_phrase(line: str) -> frozenset[str]:
    """The codes of the languages in which a line is a set phrase, as `set_phrase` knows them."""
    return _found(line.strip(), _speakers()) or frozenset()


def _found(bare: str, phrases: "Mapping[tuple[str, bool], Said]") -> Said | None:
    words, end = _words(bare), _end(bare)
    found = phrases.get((words, "?" in end))
    return phrases.get((words, True)) if found is None and not end else found


def _words(phrase: str) -> str:
    return _ENDS.sub("", phrase).lstrip(_BEGINS).replace("’", "'").casefold()


def _end(phrase: str) -> str:
    found = _ENDS.search(phrase)
    return found[0].strip() if found else ""


def _ended(target: str, end: str, language: str) -> str:
    """The target with the marks at the end that the source has."""
    bare = _ENDS.sub("", target).lstrip(_BEGINS)
    own = _end(target)
    if not end or not own:
        return bare
    written = own if "?" in own + end else end
    begin = target[: len(target) - len(target.lstrip(_BEGINS))] if set(written) & set("!?") else ""
    space = " " if language == "fr" and written[0] in "!?" else ""
    return f"{begin}{bare}{space}{written}"


@cache
def _phrases(source: str, target: str) -> dict[tuple[str, bool], str]:
    """For each way to say a phrase, and whether it is a question, what the target says."""
    codes, *rows = _rows()
    if source not in codes or target not in codes or source == target:
        return {}
    here, there = codes.index(source), codes.index(target)
    found: dict[tuple[str, bool], str] = {}
    for row in rows:
        for phrase in row[here].split("|"):
            found.setdefault(_key(phrase), row[there].split("|")[0])
    return found


@cache
def _speakers() -> dict[tuple[str, bool], frozenset[str]]:
    """For each way to say a phrase, and whether it is a question, the languages that say it."""
    codes, *rows = _rows()
    found: dict[tuple[str, bool], frozenset[str]] = {}
    for row in rows:
        for code, cell in zip(codes, row, strict=True):
            for phrase in cell.split("|"):
                key = _key(phrase)
                found[key] = found.get(key, frozenset()) | {code}
    return found


def _key(phrase: str) -> tuple[str, bool]:
    return _words(phrase), "?" in _end(phrase)


def _rows() -> list[list[str]]:
    """The cells of the table; the codes of the languages are the first row."""
    text = files("allyouneed.text").joinpath("set_phrases.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.splitlines()]
