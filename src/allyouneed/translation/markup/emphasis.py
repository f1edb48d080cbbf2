"""Finds emphasis in a line of plain text: Markdown's stars and links, and single words in capitals.

Models garble the stars in "This is *very* important.", and the capitals in "Do NOT open." The model
reads the line without stars and in small letters. The marks then return around the translations of
the marked words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from allyouneed.text.negation import negations
from allyouneed.text.tongues.known import TONGUES
from allyouneed.translation.markup.nodes import Around, Node

_MARKED = re.compile(
    r"``[^`\n]++``|`[^`\n]++`"  # code stays
    r"|(?<![\w*/\\])(?P<stars>\*{1,3})(?P<strong>[^\s*](?:[^*\n]*[^\s*\\])?)(?P=stars)(?![\w*/])"
    r"|(?<![\w\\)\]])\[(?P<name>[^\[\]\n]+)(?P<link>\]\([^\s()]+\))"
)
_CAPITALS = r"[^\W\d_a-zß-öø-ÿ]{2,}+(?:['’]\w{1,2})?"
_LOUD = re.compile(rf"(?<![\w.@#&/'’-])(?:{_CAPITALS})(?: {_CAPITALS})*+(?![\w@&/(-]|\.\w|\.? ?\d)")
_BEGINS = re.compile(r"(?:^|[.!?:]\s)\W*\Z")  # what stands before the first word of a sentence
_WORD = re.compile(r"[^\W\d_]+(?:['’]\w+)?")
CAPITALS = "capitals"
"""The opening tag around words in capitals, which the model reads in small letters. The closing tag
is the words as they were typed. Neither tag is written into the translation."""


def has_emphasis(text: str, language: str) -> bool:
    """Whether a text has emphasis or a link. `language` is its code."""
    return any(isinstance(node, Around) for node in nodes_of(text, language))


def nodes_of(line: str, language: str) -> list[Node]:
    """A line as text, and tags around text. `language` is its code."""
    found: list[Node] = []
    done = 0
    if line.isupper():
        language = ""  # nothing is stressed where all is in capitals
    for match in _MARKED.finditer(line):
        stars, group = match["stars"], "strong" if match["strong"] else "name"
        if match[group] is None:
            continue
        found += _words(line, done, match.start(), language)
        opening, closing = (stars, stars) if stars else ("[", match["link"])
        found.append(
            Around((opening,), tuple(_words(line, *match.span(group), language)), (closing,))
        )
        done = match.end()
    return [*found, *_words(line, done, len(line), language)]


@dataclass(frozen=True, slots=True)
class _Loud:
    """Characters of a translation that stand for stressed words of its source, `typed`."""

    begin: int
    end: int
    typed: str


def in_loud_letters(nodes: Sequence[Node], languages: tuple[str, str]) -> list[Node]:
    """The nodes of a translation, with its stressed words in capitals, and without tags of
    `CAPITALS`. `languages` are the codes of source and target.

    Of the words between such tags, those that are often stressed in the language are stressed, or
    else all, if they are not more than in the source. The tags of "Do NOT open" may well stand
    around the wrong word. So the stress of a negation is on the nearest negation.
    """
    found: list[Node] = []
    spans: list[_Loud] = []
    length = 0
    for node in nodes:
        is_loud = isinstance(node, Around) and node.opening == (CAPITALS,)
        inside = node.inside if isinstance(node, Around) and is_loud else (node,)
        if isinstance(node, Around) and not is_loud:
            inside = (replace(node, inside=tuple(in_loud_letters(node.inside, languages))),)
        begin = length
        length += sum(len(one) for one in inside if isinstance(one, str))
        if isinstance(node, Around) and is_loud:
            spans.append(_Loud(begin, length, str(node.closing[0])))
        found += inside
    if not spans:
        return found
    text = "".join(one for one in found if isinstance(one, str))
    loud = [place for span in spans for place in _places(text, span, languages)]
    return _in_capitals(found, loud)


def _places(text: str, loud: _Loud, languages: tuple[str, str]) -> list[tuple[int, int]]:
    """The places of the words of a translation that are stressed because `loud` is."""
    from_, into = languages
    words = [match.span() for match in _WORD.finditer(text)]
    inside = [(b, e) for b, e in words if b < loud.end and loud.begin < e]
    known = _known(into) if into in TONGUES else frozenset()
    often = [(b, e) for b, e in words if text[b:e].replace("’", "'").lower() in known]
    if within := [place for place in often if place in inside]:
        return within
    if into in TONGUES and negations(loud.typed, from_):
        negated = [one for one in negations(text, into) if one in often]
        return sorted(negated, key=lambda one: max(one[0] - loud.end, loud.begin - one[1]))[:1]
    return inside if len(inside) <= len(loud.typed.split()) else []


def _in_capitals(nodes: Sequence[Node], places: Sequence[tuple[int, int]]) -> list[Node]:
    """The nodes, with the characters of their text at these places in capitals."""
    found: list[Node] = []
    done = 0
    for node in nodes:
        if isinstance(node, str):
            loud = {n for begin, end in places for n in range(begin - done, end - done)}
            done += len(node)
            node = "".join(sign.upper() if n in loud else sign for n, sign in enumerate(node))
        found.append(node)
    return found


def _words(line: str, begin: int, end: int, language: str) -> Iterator[Node]:
    """The text line[begin:end], with each stressed word in small letters between tags."""
    for match in _stressed(line, begin, end, language):
        yield line[begin : match.start()]
        starts = _BEGINS.search(line, max(match.start() - 9, 0), match.start())
        small = match[0].capitalize() if starts else match[0].lower()
        yield Around((CAPITALS,), (small,), (match[0],))
        begin = match.end()
    yield line[begin:end]


def _stressed(line: str, begin: int, end: int, language: str) -> Iterator[re.Match[str]]:
    """The stressed words in capitals in line[begin:end]."""
    if language not in TONGUES:
        return
    for match in _LOUD.finditer(line, begin, end):
        if _known(language).issuperset(match[0].replace("’", "'").lower().split()):
            yield match


@cache
def _known(language: str) -> frozenset[str]:
    return frozenset(TONGUES[language].stressed.split())
