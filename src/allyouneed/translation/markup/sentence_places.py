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
_CLOSING = " \"'”’»)]"
_MARKS = (*".!?:;…",)
_ITEM = re.compile(r"\d|[-–•*+] ")
_BEHIND = f" {SYMBOLS}·"
_MARK = re.compile(r"\[(?:[ xX]|\^\S+|!\w+)\]:?|:{3,}.*")  # of a task, a footnote, a box


def sentence_places(
    text: str, literals: Iterable[Span], breaks: Iterable[int] = ()
) -> Iterator[Span]:
    """The places (begin, end) of the sentences of a text, in order.

    White space, symbols such as "©" and "♪", and marks of tasks and footnotes around a sentence do
    not belong to it. A bar or a dot between spaces parts two sentences. `literals` are the places
    of literals; no sentence begins or ends within one. `breaks` are the places where a new line
    begins: a sentence ends there if the next line looks like another one, as in an address.
    """
    masks = list(_masks(text, literals))
    masked = re.sub(r"\s", " ", Rewriting(text, masks).text)
    ends = [place for place in breaks if _ends_line(text, place)]
    end = 0
    for part in split_sentences(masked):
        begin, end = end, end + len(part)
        cuts = [match.start() for match in _BETWEEN.finditer(masked, begin, end)]
        cuts = sorted([begin, *cuts, *(place for place in ends if begin < place < end), end])
        for low, high in pairwise(cuts):
            first = _LEADING.match(masked, low, high).end()  # type: ignore[union-attr]
            last = first + len(masked[first:high].rstrip(_BEHIND))
            if first < last:
                yield first, last


def _ends_line(text: str, place: int) -> bool:
    """Whether the line that ends at a place is a sentence or a row of its own: it ends with a mark
    of sentences, or the next line begins with a capital, a digit or the mark of an item."""
    before, after = text[:place].rstrip(_CLOSING), text[place:].lstrip()
    return before.endswith(_MARKS) or after[:1].isupper() or _ITEM.match(after) is not None


def _masks(text: str, literals: Iterable[Span]) -> Iterator[tuple[int, int, str]]:
    """Letters in place of literals, so that a full stop in a literal ends no sentence; spaces in
    place of marks at the begin of the text; symbols stay."""
    for begin, end in literals:
        literal = text[begin:end]
        if not text[:begin].strip() and _MARK.fullmatch(literal):
            yield begin, end, " " * (end - begin)
        elif _LEADING.fullmatch(literal) is None:
            yield begin, end, "X" * (end - begin)
