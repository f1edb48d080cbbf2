"""Finds emphasis in a line of plain text: Markdown's stars and links, and single words in capitals.

Models garble the stars in "This is *very* important.", and the capitals in "Do NOT open." The model
reads the line without them, and they come back around the words that come from their words.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

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
CAPITALS = "capitals"
"""The opening and the closing tag around words in capitals, which the model reads in small letters.
They are written nowhere."""


def has_emphasis(text: str, language: str) -> bool:
    """Whether a text has emphasis or a link. `language` is its code."""
    may_be_marked = "*" in text or "](" in text
    marked = may_be_marked and any(match.lastgroup for match in _MARKED.finditer(text))
    return marked or any(_stressed(text, language))


def nodes_of(line: str, language: str) -> list[Node]:
    """A line as text, and tags around text. `language` is its code."""
    found: list[Node] = []
    done = 0
    for match in _MARKED.finditer(line) if "*" in line or "](" in line else ():
        stars, inside = match["stars"], match["strong"] or match["name"]
        if inside is None:
            continue
        found += _words(line[done : match.start()], language)
        opening, closing = (stars, stars) if stars else ("[", match["link"])
        found.append(Around((opening,), (inside,), (closing,)))
        done = match.end()
    return [*found, *_words(line[done:], language)]


def in_loud_letters(nodes: Sequence[Node]) -> list[Node]:
    """The nodes of a translation, with the text between tags of `CAPITALS` in capitals, and without
    these tags."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Around) and node.opening == (CAPITALS,):
            found += (one.upper() if isinstance(one, str) else one for one in node.inside)
        else:
            found.append(node)
    return found


def _words(text: str, language: str) -> Iterator[Node]:
    """A text, with tags around its stressed words, which are in small letters."""
    done = 0
    for match in _stressed(text, language):
        yield text[done : match.start()]
        begins = _BEGINS.search(text, max(match.start() - 9, 0), match.start())
        small = match[0].capitalize() if begins else match[0].lower()
        yield Around((CAPITALS,), (small,), (CAPITALS,))
        done = match.end()
    yield text[done:]


def _stressed(text: str, language: str) -> Iterator[re.Match[str]]:
    """The stressed words in capitals, in a text that has small letters, too."""
    if language not in TONGUES or text.isupper():
        return
    for match in _LOUD.finditer(text):
        if _known(language).issuperset(match[0].replace("’", "'").lower().split()):
            yield match


@cache
def _known(language: str) -> frozenset[str]:
    return frozenset(TONGUES[language].stressed.split())
