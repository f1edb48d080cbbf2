"""Text that was broken into lines of some width, broken again."""

import re
from collections.abc import Sequence
from itertools import pairwise

BREAK = "\0"  # a space at which a line may end; spaces within code or addresses are no such places
_LIKE_SYNTAX = re.compile(r"[-+*>#=|~]|\d+[.)]")


def wrapped(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    """Lines of at most `width` characters, as far as words allow, each with what it begins with.

    The text has `BREAK` where a line may end. No line begins with what Markdown takes for a list.
    """
    lines: list[str] = []
    line, empty = first, True
    for word in text.split(BREAK):
        fits = len(line) + len(word.partition("\n")[0]) + (not empty) <= width
        if empty or fits or _LIKE_SYNTAX.match(word):
            line += word if empty else f" {word}"
        else:
            lines.append(line)
            line = later + word
        empty = False
        if "\n" in word:
            *done, line = line.split("\n")
            lines += done
    return [*lines, line]


def balanced(text: str, lines: int, width: int) -> str:
    """Text on as many lines as it needs at this width, at least as even as words allow; `lines`
    are what there may be before the width gives way."""
    words = text.split()
    needed = min(-(-len(text) // max(width, 1)), max(lines, 1))
    if needed < 2 or len(words) < 2:
        return " ".join(words)
    best, best_longest = " ".join(words), len(text)
    low, high = -(-len(text) // needed), len(text)
    while low <= high:
        middle = (low + high) // 2
        found = wrapped(BREAK.join(words), middle)
        if len(found) <= needed:
            best, best_longest, high = "\n".join(found), middle, middle - 1
        else:
            low = middle + 1
    return best if best_longest else text


def width_of(lines: Sequence[str]) -> int | None:
    """The width that lines of a paragraph were broken at; None for lines that end where they want
    to, as those of a poem or a list of names do."""
    if len(lines) < 2:
        return None
    widest = max(map(len, lines))
    if not 30 <= widest <= 120:
        return None
    for line, next_line in pairwise(lines):
        word = next_line.split(maxsplit=1)[0] if next_line.split() else ""
        if len(line.rstrip()) + 1 + len(word) <= 0.8 * widest:
            return None  # the next word would have had room
    return widest
