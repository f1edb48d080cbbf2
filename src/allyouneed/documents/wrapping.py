"""Breaks text into lines of a width, and finds the width that lines were broken at."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

BREAK = "\0"  # stands for a space where a line may end; a space in code or an address may not
_BREAKABLE = re.compile(r"(?<!(?<!\w)[«‹]) (?![?!:;]|[»›](?!\w))")  # « Quoi ? » in French
_LIKE_SYNTAX = re.compile(r"[-+*>#=|~:]|\d+[.)]")
_MARK = re.compile(r"[-+*>#]|\d+[.)]")  # by itself; more signs may be emphasis or a code's bounds


def collapsed(text: str) -> str:
    """The text with one space for each run of white space. Spaces at which no line may end stay."""
    return re.sub(r"[ \t\r\n\f\v]+", " ", text).strip(" ")


def with_breaks(text: str) -> str:
    """The text with `BREAK` in the place of each space at which a line may end. French puts spaces
    before ?, !, :, ; and », and behind «: no line may end there."""
    return _BREAKABLE.sub(BREAK, text)


def wrapped(
    text: str,
    width: int,
    first: str = "",
    later: str = "",
    escape: Callable[[str], str] | None = None,
) -> list[str]:
    """The text in lines of at most `width` characters; a longer word has a line of its own.

    The text has `BREAK` where a line may end. The first line begins with `first`, the others with
    `later`. No line begins with a word that Markdown reads as the mark of a list, but for such a
    mark as `escape` writes it.
    """
    lines: list[str] = []
    line, empty = first, True
    for word in text.split(BREAK):
        fits = len(line) + len(word.partition("\n")[0]) + (not empty) <= width
        if not (empty or fits) and escape and _MARK.fullmatch(word):
            word = escape(word)
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
    """Text on as few lines as this width needs, of lengths as equal as words allow. There are at
    most `lines` lines; if they are too few for the width, they are longer."""
    text = collapsed(text)
    words = with_breaks(text).split(BREAK)
    needed = min(-(-len(text) // max(width, 1)), max(lines, 1))
    if needed < 2 or len(words) < 2:
        return text
    best, best_longest = text, len(text)
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
    """The width that the lines of a paragraph were broken at; None for lines that were ended on
    purpose, such as those of a poem or a list of names."""
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
