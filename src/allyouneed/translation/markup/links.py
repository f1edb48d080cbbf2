"""Which characters of a text come from which characters of another, and what tags can hold."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from allyouneed.decoding.links import Alignment

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_ATOM = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|[^\w\s]")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Link:
    """Characters `target` (begin, end) of a translation come from `source` (begin, end)."""

    source: tuple[int, int]
    target: tuple[int, int]

    def moved(self, source: int, target: int) -> "Link":
        """The same link in texts with so many more characters before it."""
        return Link(
            (self.source[0] + source, self.source[1] + source),
            (self.target[0] + target, self.target[1] + target),
        )


@dataclass(frozen=True, slots=True)
class Atom:
    """The least that a tag can hold: a run of letters and digits, or one other sign; of a script
    that is written without spaces, one character."""

    begin: int
    end: int
    text: str

    @property
    def is_word(self) -> bool:
        """Whether it has letters or digits."""
        return self.text[0].isalnum() or self.text[0] == "_"


def atoms(text: str, cuts: Iterable[int] = ()) -> list[Atom]:
    """The atoms of a text, in order; white space is between them. None goes across one of the
    places `cuts`."""
    edges = sorted({0, *cuts, len(text)})
    return [
        Atom(*match.span(), match[0])
        for begin, end in pairwise(edges)
        for match in _ATOM.finditer(text, begin, end)
    ]


def links_of_words(source: str, target: str, alignment: Alignment) -> list[Link]:
    """The links of an alignment, as places in both texts."""
    sources = [match.span() for match in _WORD.finditer(source)]
    targets = [match.span() for match in _WORD.finditer(target)]
    return [
        Link(sources[i], targets[j]) for i, j in alignment if i < len(sources) and j < len(targets)
    ]


def diagonal(source: str, target: str) -> list[Link]:
    """Links for a translation of which nothing is known: the same words, and the rest by place."""
    sources = [match.span() for match in _WORD.finditer(source)]
    targets = [match.span() for match in _WORD.finditer(target)]
    if not sources:
        return []
    return [
        Link(sources[min(n * len(sources) // len(targets), len(sources) - 1)], span)
        for n, span in enumerate(targets)
    ]


def origins(source: Sequence[Atom], target: Sequence[Atom], links: Iterable[Link]) -> list[int]:
    """For each atom of the target the number of the source's atom that it comes from; -1: unknown.

    Within linked words an atom comes from one with the same text where there is one. Other signs
    come from nowhere; other words share out the words of the source evenly, in order.
    """
    found = [-1] * len(target)
    for link in links:
        here = range(*atoms_within(target, link.target))
        there = range(*atoms_within(source, link.source))
        same = {source[n].text.casefold(): n for n in reversed(there)}
        words = [n for n in there if source[n].is_word]
        own_words = sum(target[n].is_word for n in here)
        passed = 0
        for n in here:
            equal = same.get(target[n].text.casefold())
            if equal is not None:
                found[n] = equal
            elif target[n].is_word and words:
                found[n] = words[passed * len(words) // own_words]
            passed += target[n].is_word
    return found


def atoms_within(found: Sequence[Atom], span: tuple[int, int]) -> tuple[int, int]:
    """The numbers (begin, end) of the atoms that lie in the characters `span`."""
    first = bisect_left(found, span[0], key=attrgetter("begin"))
    return first, max(bisect_right(found, span[1], key=attrgetter("end")), first)
