"""Terms that a translation must use, and which of them a hypothesis has used so far.

A term has several forms, each a sequence of ids. The places of terms in the source and their forms
are determined before the search; this module handles tokens only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.prefixes import Prefixes

JOINS, LETTER_LAST = 1, 2  # flags of `WantedTerms.edges`
LEAST_LOOK = 0.01  # smaller shares of attention count as this share
ENOUGH_LOOK = 0.15  # a term may begin where its source gets at least this share of attention
MOST_TERMS = 60  # per sentence, so that the set of used terms fits into 64 bits


@dataclass(frozen=True, slots=True)
class WantedTerm:
    """One term that a translation must use, in one of its `forms`.

    `source` are the indices of the source tokens that the term translates.
    """

    forms: tuple[tuple[int, ...], ...]
    source: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WantedTerms:
    """The terms of several sentences.

    `edges` has flags for each id of the target vocabulary: `JOINS` if the piece continues the word
    before it, `LETTER_LAST` if the piece ends in a letter or digit. A form must end at the end of a
    word. A term is best placed where the `heads` attend to its source.
    """

    sentences: Sequence[Sequence[WantedTerm]]
    edges: bytes
    heads: AlignmentHeads = field(default_factory=AlignmentHeads)

    def of(self, numbers: Sequence[int]) -> "WantedTerms":
        """The terms of these sentences, in this order."""
        return replace(self, sentences=[self.sentences[n] for n in numbers])


def with_terms(prefixes: Prefixes | None, terms: WantedTerms | None) -> Prefixes | None:
    """All ids that each sentence needs for its prefix and its terms; None without both."""
    if terms is None:
        return prefixes
    forced = prefixes or [()] * len(terms.sentences)
    return [
        [*prefix, *(id for term in own for form in term.forms for id in form)]
        for prefix, own in zip(forced, terms.sentences, strict=True)
    ]


class Progress(NamedTuple):
    """The terms that a hypothesis has used so far, and how well their places fit the attention.

    Bit k of `used` is set if term k has been used. `node` is the place in the trie of forms (0
    outside of all forms), and `depth` the number of tokens that lead there. `newest` is the term
    that the last token has completed, or -1; it counts only if the word ends there. `in_word` says
    whether the last token ends in a letter or digit.

    `place` is the sum, over the used terms, of the logarithm of the attention to their source where
    they begin. `newest_place` is this logarithm for the newest term or the term in progress.
    `looked[k]` is the largest attention to the source of term k while other tokens were chosen.
    `evidence` combines these into one number, which is lower if a term was passed over.
    """

    used: int = 0
    node: int = 0
    depth: int = 0
    newest: int = -1
    in_word: bool = False
    place: float = 0.0
    newest_place: float = 0.0
    looked: tuple[float, ...] = ()
    evidence: float = 0.0

    @property
    def in_term(self) -> bool:
        """Whether the hypothesis is in the middle of a term."""
        return self.node != 0 and self.newest < 0


@dataclass(slots=True)
class _Node:
    """A node of the trie: the next nodes by id, the terms complete here, and (as bits) the terms
    that begin with the tokens so far."""

    next: dict[int, int] = field(default_factory=dict)
    complete: list[int] = field(default_factory=list)
    below: int = 0


class TermTrie:
    """The forms of one sentence's terms, token by token."""

    def __init__(self, terms: Sequence[WantedTerm], edges: bytes) -> None:
        self.terms = terms
        self.all_used = (1 << len(terms)) - 1
        self._edges = edges
        self._nodes = [_Node()]
        for number, term in enumerate(terms):
            for form in term.forms:
                self._add(number, form)

    def _add(self, number: int, form: Sequence[int]) -> None:
        node = self._nodes[0]
        node.below |= 1 << number
        for id in form:
            if id not in node.next:
                node.next[id] = len(self._nodes)
                self._nodes.append(_Node())
            node = self._nodes[node.next[id]]
            node.below |= 1 << number
        node.complete.append(number)

    def begin(self) -> Progress:
        """The progress of a hypothesis without tokens."""
        return Progress(looked=(0.0,) * len(self.terms))

    def after(self, progress: Progress, id: int, looks: Sequence[float] | None) -> Progress:
        """The progress of a hypothesis after the token `id`.

        `looks` is the attention to the source of each term at this step; None if unknown. If `id`
        does not continue the form in progress, a new form may begin with `id`.
        """
        edges = self._edges[id]
        joins = bool(edges & JOINS)
        used, place, newest_place = progress.used, progress.place, progress.newest_place
        if progress.newest >= 0 and joins:  # "Rad" was the beginning of "Radweg"
            used &= ~(1 << progress.newest)
        elif progress.newest >= 0:
            place += newest_place
        depth = progress.depth + 1
        number = self._nodes[progress.node].next.get(id, 0) if progress.node else 0
        if not number:
            depth, newest_place = 1, 0.0
            number = 0 if joins and progress.in_word else self._nodes[0].next.get(id, 0)
            unused = self._nodes[number].below & ~used
            if unused and looks is not None:
                newest_place = max(_log(look) for k, look in enumerate(looks) if unused >> k & 1)
        node = self._nodes[number]
        newest = next((one for one in node.complete if not used >> one & 1), -1)
        if newest >= 0:
            used |= 1 << newest
        if not node.next or (newest < 0 and not node.below & ~used):
            number = depth = 0
        if newest < 0 and not number:
            newest_place = 0.0
        present = used | (node.below if number else 0)
        looked = progress.looked
        if looks is not None:
            looked = tuple(
                most if present >> k & 1 else max(most, look)
                for k, (most, look) in enumerate(zip(looked, looks, strict=True))
            )
        missed = sum(_log(1.0 - most) for k, most in enumerate(looked) if not present >> k & 1)
        evidence = place + newest_place + missed
        in_word = bool(edges & LETTER_LAST)
        return Progress(used, number, depth, newest, in_word, place, newest_place, looked, evidence)

    def wanted(self, progress: Progress, looks: Sequence[float] | None) -> list[int]:
        """The ids that continue or begin a term that the hypothesis has not used yet.

        A term begins only where its source gets attention, if `looks` is known.
        """
        wanted: list[int] = []
        if progress.node:
            wanted += self._next(progress.node, ~progress.used, True)
        if not progress.in_term:
            here = ~progress.used
            if looks is not None:
                here &= sum(1 << k for k, look in enumerate(looks) if look >= ENOUGH_LOOK)
            wanted += (id for id in self._next(0, here, not progress.in_word) if id not in wanted)
        return wanted

    def _next(self, place: int, terms: int, may_join: bool) -> list[int]:
        """The ids that lead from the node `place` to one of the terms (bits)."""
        return [
            id
            for id, after in self._nodes[place].next.items()
            if self._nodes[after].below & terms and (may_join or not self._edges[id] & JOINS)
        ]

    def looks(self, look_S: Sequence[float]) -> list[float]:
        """The attention to the source of each term, from the attention to each source token."""
        return [sum(look_S[s] for s in term.source) for term in self.terms]


def _log(share: float) -> float:
    return math.log(max(share, LEAST_LOOK))
