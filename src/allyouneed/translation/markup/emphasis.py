"""Finds Markdown's emphasis and links in a line of plain text: "This is *very* important."

Models garble the stars. The model reads the line without them, and they come back around the words
that come from their words.
"""

import re

from allyouneed.translation.markup.nodes import Around, Node

_MARKED = re.compile(
    r"``[^`\n]++``|`[^`\n]++`"  # code stays
    r"|(?<![\w*/\\])(?P<stars>\*{1,3})(?P<strong>[^\s*](?:[^*\n]*[^\s*\\])?)(?P=stars)(?![\w*/])"
    r"|(?<![\w\\)\]])\[(?P<name>[^\[\]\n]+)(?P<link>\]\([^\s()]+\))"
)


def has_emphasis(text: str) -> bool:
    """Whether a text has emphasis or a link."""
    if "*" not in text and "](" not in text:
        return False
    return any(match.lastgroup for match in _MARKED.finditer(text))


def nodes_of(line: str) -> list[Node]:
    """A line as text, and tags around text."""
    found: list[Node] = []
    done = 0
    for match in _MARKED.finditer(line) if has_emphasis(line) else ():
        stars, inside = match["stars"], match["strong"] or match["name"]
        if inside is None:
            continue
        found.append(line[done : match.start()])
        opening, closing = (stars, stars) if stars else ("[", match["link"])
        found.append(Around((opening,), (inside,), (closing,)))
        done = match.end()
    return [*found, line[done:]]
