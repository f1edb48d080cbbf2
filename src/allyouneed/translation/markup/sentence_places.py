"""Where the sentences of a passage stand, without the signs around them that are no words."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from allyouneed.text.sentences import split_sentences
from allyouneed.translation.markup.protected import SYMBOLS
from allyouneed.translation.markup.rewriting import Rewriting

Span = tuple[int, int]

_BETWEEN = re.compile(r"(?<=\s)[|¦•·♪♫](?=\s)")  # as in "Contact | Example"
_LEADING = re.compile(rf"[\s{re.escape(SYMBOLS)}·:;,]*")
_BEHIND = f" {SYMBOLS}·"
_MARK = re.compile(r"\[(?:[ xX]|\^\S+|!\w+)\]:?|:{3,}.*")  # of a task, a footnote, a box


def sentence_places(text: str, literals: Iterable[Span]) -> Iterator[Span]:
    """The places (begin, end) of the sentences of a text, in order.

    White space, symbols such as "©" and "♪", and marks of tasks and footnotes around a sentence do
    not belong to it. A bar or a dot between spaces parts two sentences. `literals` are the places
    of literals; no sentence begins or ends within one.
    """
    masks = list(_masks(text, literals))
    masked = re.sub(r"\s", " ", Rewriting(text, masks).text)
    end = 0
    for part in split_sentences(masked):
        begin, end = end, end + len(part)
        cuts = [begin, *(match.start() for match in _BETWEEN.finditer(masked, begin, end)), end]
        for low, high in pairwise(cuts):
            first = _LEADING.match(masked, low, high).end()  # type: ignore[union-attr]
            last = first + len(masked[first:high].rstrip(_BEHIND))
            if first < last:
                yield first, last


def _masks(text: str, literals: Iterable[Span]) -> Iterator[tuple[int, int, str]]:
    """Letters in place of literals, so that a full stop in a literal ends no sentence; spaces in
    place of marks at the begin of the text; symbols stay."""
    for begin, end in literals:
        literal = text[begin:end]
        if not text[:begin].strip() and _MARK.fullmatch(literal):
            yield begin, end, " " * (end - begin)
        elif _LEADING.fullmatch(literal) is None:
            yield begin, end, "X" * (end - begin)
