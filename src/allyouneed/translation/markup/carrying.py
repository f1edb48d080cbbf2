"""Passages through a translator: their sentences, translated, with literals in place."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from allyouneed.text.sentences import split_sentences
from allyouneed.translation.markup import stand_ins
from allyouneed.translation.markup.links import Link, diagonal, links_of_words
from allyouneed.translation.markup.nodes import Around, Kept, Nodes, Void, leaves, plain
from allyouneed.translation.markup.placement import Literal, Range, Transfer
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.markup.rewriting import Rewriting
from allyouneed.translation.result import Translation

Translate = Callable[[list[str], bool], Sequence[Translation]]
"""translate(texts, alignments): the translations, with word alignments where they are wanted."""

Recall = Callable[[str], str | None]
"""recall(sentence): a translation that is known already, or None."""

SHOWN = 40  # characters of a literal in a note


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and its translation, as a reader sees them.

    `translation` is what the model gave; None for a sentence without words, and for one that was
    `recalled`, which means known already.
    """

    source: str
    target: str
    recalled: bool = False
    translation: Translation | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """A passage on the other side: `nodes` with literals set apart, their translation, the pairs of
    sentences, and what a user should know about it."""

    nodes: Nodes
    transfer: Transfer
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


@dataclass(slots=True, eq=False)
class _Sentence:
    """A sentence of a passage, with the literals in it, and its best translation so far."""

    text: str
    begin: int
    literals: list[tuple[Literal, Range]]
    linked: bool
    target: str = ""
    links: tuple[Link, ...] = ()
    places: dict[Literal, Range] = field(default_factory=dict)
    translation: Translation | None = None
    recalled: bool = False
    done: bool = False

    @property
    def missing(self) -> list[Literal]:
        """The literals that are not in the translation."""
        return [literal for literal, _ in self.literals if literal not in self.places]


class Carrier:
    """Carries passages through a translator. Sentences that are alike are translated once."""

    def __init__(
        self,
        translate: Translate,
        protection: Protection | None = None,
        recall: Recall | None = None,
    ) -> None:
        self.translate = translate
        self.protection = protection or Protection()
        self.recall = recall

    def carry(self, passages: Sequence[Nodes]) -> list[Carried]:
        """The passages' translations, in order."""
        kept = [self.protection.keep(nodes) for nodes in passages]
        cut = [_sentences(nodes) for nodes in kept]
        sentences = [sentence for some in cut for sentence in some]
        for sentence in sentences:
            self._without_model(sentence)
        for number in range(len(stand_ins.TRIES)):
            self._try(number, [sentence for sentence in sentences if not sentence.done])
        return [_carried(nodes, some) for nodes, some in zip(kept, cut, strict=True)]

    def _without_model(self, sentence: _Sentence) -> None:
        """What needs no model: a sentence without words, or one that is remembered."""
        words = Rewriting(sentence.text, [(*span, "") for _, span in sentence.literals]).text
        if not any(sign.isalpha() for sign in words):
            sentence.target, sentence.done = sentence.text, True
            sentence.links = (Link((0, len(sentence.text)), (0, len(sentence.text))),)
            sentence.places = dict(sentence.literals)
        elif self.recall is not None and (known := self.recall(sentence.text)) is not None:
            sentence.target, sentence.done, sentence.recalled = known, True, True
            sentence.links = tuple(diagonal(sentence.text, known))
            words_there = [sentence.text[slice(*span)] for _, span in sentence.literals]
            places = stand_ins.places_of(words_there, known)
            sentence.places = {
                literal: place
                for (literal, _), place in zip(sentence.literals, places, strict=True)
                if place is not None
            }

    def _try(self, number: int, sentences: Sequence[_Sentence]) -> None:
        """Translates sentences, with other words for their literals each time."""
        asked = [
            stand_ins.asked(one.text, [span for _, span in one.literals], _words(one, number))
            for one in sentences
        ]
        wanted: dict[tuple[str, bool], Translation] = {
            (ask.text, sentence.linked): None  # type: ignore[misc]
            for ask, sentence in zip(asked, sentences, strict=True)
        }
        for linked in (False, True):
            texts = [text for text, with_links in wanted if with_links == linked]
            if texts:
                found = self.translate(texts, linked)
                wanted |= zip([(text, linked) for text in texts], found, strict=True)
        last = number + 1 == len(stand_ins.TRIES)
        for ask, sentence in zip(asked, sentences, strict=True):
            _take(sentence, ask, wanted[ask.text, sentence.linked])
            sentence.done = last or not sentence.missing


def _words(sentence: _Sentence, number: int) -> Sequence[str]:
    """What stands for the literals of a sentence in a try; amounts are tried as they are first."""
    amounts = all(
        isinstance(literal, Kept) and literal.text[:1].isdigit() for literal, _ in sentence.literals
    )
    return stand_ins.TRIES[number - 1 if amounts else number]


def _take(sentence: _Sentence, asked: stand_ins.Asked, translation: Translation) -> None:
    """Gives a sentence the translation if it holds more literals than the one before; where they
    were not replaced, only if it holds all, as what is left of the others would stay in it."""
    text = translation.text
    places = stand_ins.found(asked, text)
    survived = sum(place is not None for place in places)
    as_they_are = [sentence.text[slice(*span)] for _, span in sentence.literals]
    if survived < len(places) and list(asked.words) == as_they_are:
        return
    if sentence.translation is not None and survived <= len(sentence.places):
        return
    restored = Rewriting(
        text,
        sorted(
            (*place, sentence.text[slice(*span)])
            for place, (_, span) in zip(places, sentence.literals, strict=True)
            if place is not None
        ),
    )
    sentence.target = restored.text
    sentence.translation = translation
    sentence.places = {
        literal: restored.new_span(*place)
        for place, (literal, _) in zip(places, sentence.literals, strict=True)
        if place is not None
    }
    sentence.links = tuple(
        Link(asked.rewriting.old_span(*link.source), restored.new_span(*link.target))
        for link in links_of_words(asked.text, text, translation.alignment or ())
    )


def _sentences(nodes: Nodes) -> list[_Sentence]:
    """The sentences of a passage; what stands between them is white space."""
    text = plain(nodes)
    literals: list[tuple[Literal, int, int]] = [
        (node, begin, end)
        for node, begin, end in leaves(nodes)
        if not isinstance(node, str) and not text[begin:end].isspace() and begin < end
    ]
    masked = re.sub(r"\s", " ", Rewriting(text, _masks(literals)).text)
    ends = [0]
    for part in split_sentences(masked):
        ends.append(ends[-1] + len(part))
    linked = _needs_links(nodes)
    found = []
    for begin, end in pairwise(ends):
        part = text[begin:end]
        stripped = part.strip()
        if stripped:
            start = begin + part.index(stripped)
            inside = [
                (node, (b - start, e - start))
                for node, b, e in literals
                if start <= b and e <= start + len(stripped)
            ]
            found.append(_Sentence(stripped, start, inside, linked))
    return found


def _masks(literals: Sequence[tuple[Literal, int, int]]) -> Iterator[tuple[int, int, str]]:
    """Letters in place of literals: a stop within one ends no sentence."""
    return ((begin, end, "X" * (end - begin)) for _, begin, end in literals)


def _needs_links(nodes: Nodes) -> bool:
    """Whether alignment has to say where anything goes; not for tags around all of the text."""
    inner = [node for node in nodes if not isinstance(node, str) or node.strip()]
    while inner and isinstance(inner[0], Void) and not inner[0].seen:
        inner.pop(0)
    while inner and isinstance(inner[-1], Void) and not inner[-1].seen:
        inner.pop()
    if len(inner) == 1 and isinstance(inner[0], Around):
        return _needs_links(inner[0].inside)
    return not all(isinstance(node, str) for node in inner)


def _carried(nodes: Nodes, sentences: Sequence[_Sentence]) -> Carried:
    """A passage's translation, its sentences put together."""
    text = plain(nodes)
    changes = [(one.begin, one.begin + len(one.text), one.target) for one in sentences]
    whole = Rewriting(text, changes)
    links: list[Link] = []
    places: dict[Literal, Range] = {}
    notes: dict[str, None] = {}
    for one in sentences:
        begin = whole.new_span(one.begin, one.begin + len(one.text))[0]
        links += (link.moved(one.begin, begin) for link in one.links)
        places |= {node: (b + begin, e + begin) for node, (b, e) in one.places.items()}
        notes |= dict.fromkeys(one.translation.notes if one.translation else ())
        notes |= dict.fromkeys(_told(literal) for literal in one.missing)
    pairs = tuple(Pair(one.text, one.target, one.recalled, one.translation) for one in sentences)
    return Carried(nodes, Transfer(whole.text, tuple(links), places), pairs, tuple(notes))


def _told(literal: Literal) -> str:
    text = literal.text if isinstance(literal, Kept) else literal.seen
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return f"the model did not carry {shown!r} over: it was put in by alignment; check its place"
