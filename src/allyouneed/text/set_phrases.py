"""Set phrases, such as "Cheers!": each language has its own, and small models miss them."""

import re
from functools import cache
from importlib.resources import files

from allyouneed.text.letters import Formula

_ENDS = re.compile(r"[\s.!?…]*$")
_BEGINS = "¡¿"


def set_phrase(line: str, languages: tuple[str, str]) -> Formula | None:
    """The translation of a line that is a set phrase; None for any other line.

    `set_phrases.tsv` has a language in each column, and the ways to say a phrase, which "|" parts,
    in each cell: all are known, the first is written. Case and the marks at the end do not count,
    but a question has to be one. The translation ends as the line does.
    """
    bare = line.strip()
    phrases = _phrases(*languages)
    words, end = _words(bare), _end(bare)
    target = phrases.get((words, "?" in end))
    if target is None and not end:
        target = phrases.get((words, True))
    if target is None:
        return None
    return Formula(line.replace(bare, _ended(target, end, languages[1])))


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
    text = files("allyouneed.text").joinpath("set_phrases.tsv").read_text("utf-8")
    codes, *rows = (line.split("\t") for line in text.splitlines())
    if source not in codes or target not in codes or source == target:
        return {}
    here, there = codes.index(source), codes.index(target)
    found: dict[tuple[str, bool], str] = {}
    for row in rows:
        for phrase in row[here].split("|"):
            found.setdefault((_words(phrase), "?" in _end(phrase)), row[there].split("|")[0])
    return found
