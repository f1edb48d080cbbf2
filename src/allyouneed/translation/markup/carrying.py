"""Passages through a translator: their sentences, translated, with literals in place."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    sentences, and what a user should know about it.

    `alternatives` are the other translations, where more than one was asked for: the n-th has the
    n-th of each sentence.
    """

    nodes: Nodes
    transfer: Transfer
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    alternatives: "tuple[Carried, ...]" = ()


@dataclass(frozen=True, slots=True)
class _Rendering:
    """One translation of a sentence with its literals in it; those without a place are missing."""

    text: str
    links: tuple[Link, ...] = ()
    places: Mapping[Literal, Range] = field(default_factory=dict)
    translation: Translation | None = None
    recalled: bool = False


@dataclass(slots=True, eq=False)
class _Sentence:
    """A sentence of a passage, with the literals in it, and its translations so far, best first."""

    text: str
    begin: int
    literals: list[tuple[Literal, Range]]
    linked: bool
    renderings: list[_Rendering] = field(default_factory=list)
    done: bool = False

    @property
    def words(self) -> list[str]:
        """The literals as they stand in the sentence."""
        return [self.text[slice(*span)] for _, span in self.literals]

    def missing(self, rendering: _Rendering) -> list[Literal]:
        """The literals that are not in a translation."""
        return [literal for literal, _ in self.literals if literal not in rendering.places]


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
        for number in range(stand_ins.TRIES):
            self._try(number, [sentence for sentence in sentences if not sentence.done])
        return [_carried(nodes, some) for nodes, some in zip(kept, cut, strict=True)]

    def _without_model(self, sentence: _Sentence) -> None:
        """What needs no model: a sentence without words, or one that is remembered."""
        words = Rewriting(sentence.text, [(*span, "") for _, span in sentence.literals]).text
        if not any(sign.isalpha() for sign in words):
            whole = (0, len(sentence.text))
            places = dict(sentence.literals)
            sentence.renderings = [_Rendering(sentence.text, (Link(whole, whole),), places)]
            sentence.done = True
        elif self.recall is not None and (known := self.recall(sentence.text)) is not None:
            found = stand_ins.places_of(sentence.words, known)
            places = {
                literal: place
                for (literal, _), place in zip(sentence.literals, found, strict=True)
                if place is not None
            }
            links = tuple(diagonal(sentence.text, known))
            sentence.renderings = [_Rendering(known, links, places, recalled=True)]
            sentence.done = True

    def _try(self, number: int, sentences: Sequence[_Sentence]) -> None:
        """Translates sentences, with other words for their literals each time."""
        asked = [
            stand_ins.asked(
                one.text,
                [span for _, span in one.literals],
                stand_ins.words_for(one.words, number),
            )
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
        last = number + 1 == stand_ins.TRIES
        for ask, sentence in zip(asked, sentences, strict=True):
            _take(sentence, ask, wanted[ask.text, sentence.linked], last)
            so_far = sentence.renderings
            sentence.done = last or (bool(so_far) and not sentence.missing(so_far[0]))


def _take(
    sentence: _Sentence, asked: stand_ins.Asked, translation: Translation, last: bool
) -> None:
    """Gives a sentence the translation if it holds more literals than the one before; where they
    were not replaced, only if it holds all, as what is left of the others would stay in it. The
    last try gives one that has none yet its translation in any case."""
    found = _rendering(sentence, asked, translation)
    as_it_is = list(asked.words) == sentence.words
    if as_it_is and sentence.missing(found) and (sentence.renderings or not last):
        return
    if sentence.renderings and len(found.places) <= len(sentence.renderings[0].places):
        return
    others = (_rendering(sentence, asked, one) for one in translation.alternatives[1:])
    sentence.renderings = [found, *others]


def _rendering(sentence: _Sentence, asked: stand_ins.Asked, translation: Translation) -> _Rendering:
    """The translation of the sentence as the model was asked, with the literals put back."""
    found = stand_ins.found(asked, translation.text)
    restored = Rewriting(
        translation.text,
        sorted(
            (*place, word)
            for place, word in zip(found, sentence.words, strict=True)
            if place is not None
        ),
    )
    places = {
        literal: restored.new_span(*place)
        for place, (literal, _) in zip(found, sentence.literals, strict=True)
        if place is not None
    }
    links = tuple(
        Link(asked.rewriting.old_span(*link.source), restored.new_span(*link.target))
        for link in links_of_words(asked.text, translation.text, translation.alignment or ())
    )
    return _Rendering(restored.text, links, places, translation)


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
    """A passage's translations, the sentences put together."""
    most = max((len(one.renderings) for one in sentences), default=1)
    first, *others = (_one_carried(nodes, sentences, rank) for rank in range(most))
    return replace(first, alternatives=tuple(others))


def _one_carried(nodes: Nodes, sentences: Sequence[_Sentence], rank: int) -> Carried:
    """The translation of this rank, from 0; a sentence with fewer gives its last one."""
    text = plain(nodes)
    chosen = [(one, one.renderings[min(rank, len(one.renderings) - 1)]) for one in sentences]
    changes = [(one.begin, one.begin + len(one.text), said.text) for one, said in chosen]
    whole = Rewriting(text, changes)
    links: list[Link] = []
    places: dict[Literal, Range] = {}
    notes: dict[str, None] = {}
    for one, said in chosen:
        begin = whole.new_span(one.begin, one.begin + len(one.text))[0]
        links += (link.moved(one.begin, begin) for link in said.links)
        places |= {node: (b + begin, e + begin) for node, (b, e) in said.places.items()}
        notes |= dict.fromkeys(said.translation.notes if said.translation else ())
        notes |= dict.fromkeys(_told(literal) for literal in one.missing(said))
    pairs = tuple(
        Pair(one.text, said.text, said.recalled, said.translation) for one, said in chosen
    )
    return Carried(nodes, Transfer(whole.text, tuple(links), places), pairs, tuple(notes))


def _told(literal: Literal) -> str:
    text = literal.text if isinstance(literal, Kept) else literal.seen
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return f"the model did not carry {shown!r} over: it was put in by alignment; check its place"
