"""Links between the characters of a text and the characters of its translation."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from allyouneed.decoding.links import Alignment
from allyouneed.text.atoms import Atom
from allyouneed.translation.result import Translation

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Link:
    """The characters `target` (begin, end) of a translation come from the characters `source`."""

    source: tuple[int, int]
    target: tuple[int, int]

    def moved(self, source: int, target: int) -> "Link":
        """The same link, where `source` and `target` more characters stand before it."""
        return Link(
            (self.source[0] + source, self.source[1] + source),
            (self.target[0] + target, self.target[1] + target),
        )


def links_in(source: str, translation: Translation) -> list[Link]:
    """The links of a translation of `source`: of characters if it has them, else of words."""
    if translation.character_links:
        return [Link(there, here) for there, here in translation.character_links]
    return links_of_words(source, translation.text, translation.alignment or ())


def links_of_words(source: str, target: str, alignment: Alignment) -> list[Link]:
    """The links of a word alignment, as places in both texts."""
    sources = [match.span() for match in _WORD.finditer(source)]
    targets = [match.span() for match in _WORD.finditer(target)]
    return [
        Link(sources[i], targets[j]) for i, j in alignment if i < len(sources) and j < len(targets)
    ]


def diagonal(source: str, target: str) -> list[Link]:
    """Links for a translation without an alignment: each word comes from the word at the same
    relative place."""
    sources = [match.span() for match in _WORD.finditer(source)]
    targets = [match.span() for match in _WORD.finditer(target)]
    if not sources:
        return []
    return [
        Link(sources[min(n * len(sources) // len(targets), len(sources) - 1)], span)
        for n, span in enumerate(targets)
    ]


def links_of_ends(source: str, target: str) -> list[Link]:
    """The link between the marks that end a sentence and its translation; none if they differ."""
    if source[-1:] != target[-1:] or source[-1:] not in (*".!?:;…",):
        return []
    return [Link((len(source) - 1, len(source)), (len(target) - 1, len(target)))]


def origins(source: Sequence[Atom], target: Sequence[Atom], links: Iterable[Link]) -> list[int]:
    """The number of the source atom from which each target atom comes; -1 if unknown.

    Within linked words, an atom comes from the source atom with the same text, if there is one. The
    other words of the target are spread evenly over the words of the source, in order. Other signs
    are unknown.
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
    """The numbers (begin, end) of the atoms within the characters `span`."""
    first = bisect_left(found, span[0], key=attrgetter("begin"))
    return first, max(bisect_right(found, span[1], key=attrgetter("end")), first)
