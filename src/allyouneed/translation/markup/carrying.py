"""Translates passages sentence by sentence, with their literals carried over."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from allyouneed.translation.confidence import SentenceConfidence, doubts, without_doubts
from allyouneed.translation.lost import renamed
from allyouneed.translation.markup import stand_ins
from allyouneed.translation.markup.foreign import with_foreign_bound
from allyouneed.translation.markup.hard_spaces import has_hard_space, with_hard_spaces
from allyouneed.translation.markup.links import Link, diagonal, links_in, links_of_ends
from allyouneed.translation.markup.nodes import (
    LINE_BREAK,
    Around,
    Bound,
    Kept,
    Nodes,
    Void,
    apart,
    leaves,
    plain,
)
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.markup.rewriting import Rewriting
from allyouneed.translation.markup.scripts import bound
from allyouneed.translation.markup.sentence_places import sentence_places
from allyouneed.translation.markup.transfer import Literal, Range, Transfer
from allyouneed.translation.result import Translation

Translate = Callable[[list[str], bool], Sequence[Translation]]
"""translate(texts, alignments): the translations, with word alignments if `alignments` is true."""

Recall = Callable[[str], str | None]
"""recall(sentence): the translation from a translation memory, or None."""

SHOWN = 40  # a note shows at most so many characters of a literal


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and its translation, as a reader sees them.

    `translation` is the model's translation. It is None for a sentence without words, and for one
    that was `recalled` from a translation memory.
    """

    source: str
    target: str
    recalled: bool = False
    translation: Translation | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """A translated passage.

    `nodes` are the nodes of the source, with its literals as nodes of their own. `transfer` is the
    translation. `pairs` are the sentences with their translations. `notes` are for the user.
    `alternatives` are the other translations, if several were asked for: the n-th consists of the
    n-th translation of each sentence.
    """

    nodes: Nodes
    transfer: Transfer
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    alternatives: "tuple[Carried, ...]" = ()

    @property
    def sentences(self) -> tuple[SentenceConfidence, ...]:
        """The confidence of each sentence that the model translated."""
        return sentences_of(self.pairs)


def sentences_of(pairs: Iterable[Pair]) -> tuple[SentenceConfidence, ...]:
    """The confidence of each sentence of some pairs that the model translated."""
    return tuple(
        SentenceConfidence(
            one.source, one.target, made.confidence, len(made.tokens), _doubtful(made, one.target)
        )
        for one in pairs
        if (made := one.translation) is not None and made.confidence is not None
    )


def _doubtful(made: Translation, target: str) -> tuple[str, ...]:
    """The words of little confidence of a model's translation that a reader sees in `target`."""
    words = (word for one in made.sentence_confidences for word in one.doubtful)
    return tuple(word for word in words if word in target)


@dataclass(frozen=True, slots=True)
class _Rendering:
    """One translation of a sentence, with its literals.

    `places` has the place of each literal in the text. A literal without a place is put in by
    alignment later.
    """

    text: str
    links: tuple[Link, ...] = ()
    places: Mapping[Literal, Range] = field(default_factory=dict)
    translation: Translation | None = None
    recalled: bool = False


@dataclass(slots=True, eq=False)
class _Sentence:
    """A sentence of a passage, with the literals in it, and its translations, best first."""

    text: str
    begin: int
    literals: list[tuple[Literal, Range]]
    linked: bool
    renderings: list[_Rendering] = field(default_factory=list)

    def runs(self) -> list[Range]:
        """The places of the literals; literals that touch each other are one run."""
        found: list[Range] = []
        for _, (begin, end) in self.literals:
            if found and found[-1][1] == begin:
                begin = found.pop()[0]
            found.append((begin, end))
        return found

    def places(self, runs: Sequence[Range]) -> dict[Literal, Range]:
        """The places of the literals in a text that contains the runs at the places `runs`."""
        found: dict[Literal, Range] = {}
        waiting = zip(self.runs(), runs, strict=True)
        old, new = (0, 0), (0, 0)
        for literal, (begin, end) in self.literals:
            if begin >= old[1]:
                old, new = next(waiting)
            found[literal] = (begin - old[0] + new[0], end - old[0] + new[0])
        return found

    def missing(self, rendering: _Rendering) -> list[Literal]:
        """The literals that are not in a translation."""
        return [literal for literal, _ in self.literals if literal not in rendering.places]


class Carrier:
    """Translates passages and carries their literals over. Equal sentences are translated once.

    The model sees another word in the place of a literal. A translation is taken only if each of
    these words stands in it once and nothing else is left of them. Where no try gives such a
    translation, the sentence is translated without its literals, and they are put in by alignment.
    """

    def __init__(
        self,
        translate: Translate,
        protection: Protection | None = None,
        recall: Recall | None = None,
        languages: tuple[str, str] = ("", ""),
    ) -> None:
        """`languages` are the codes of source and target, "" where they are not known."""
        self.translate = translate
        self.protection = protection or Protection()
        self.recall = recall
        self.languages = languages

    def carry(self, passages: Sequence[Nodes], *, aligned: bool = False) -> list[Carried]:
        """The passages' translations, in order. If `aligned`, they have links, even where nothing
        has to be placed by them."""
        own = [with_foreign_bound(nodes, self.languages[0]) for nodes in passages]
        kept = [self.protection.keep(bound(apart(nodes))) for nodes in own]
        cut = [_sentences(nodes, linked=aligned or _needs_links(nodes)) for nodes in kept]
        sentences = [sentence for some in cut for sentence in some]
        for sentence in sentences:
            self._without_model(sentence)
        for number in range(stand_ins.TRIES):
            self._try(number, [one for one in sentences if not one.renderings])
        self._try_without([one for one in sentences if not one.renderings])
        return [
            _carried(nodes, some, self.languages) for nodes, some in zip(kept, cut, strict=True)
        ]

    def _without_model(self, sentence: _Sentence) -> None:
        """Gives a rendering to a sentence that needs no model: a sentence without words, or one in
        the translation memory."""
        words = Rewriting(sentence.text, [(*span, "") for _, span in sentence.literals]).text
        if not any(sign.isalpha() for sign in words):
            whole = (0, len(sentence.text))
            places = dict(sentence.literals)
            sentence.renderings = [_Rendering(sentence.text, (Link(whole, whole),), places)]
        elif self.recall is not None and (known := self.recall(sentence.text)) is not None:
            literals = [sentence.text[slice(*span)] for _, span in sentence.literals]
            places = {
                literal: place
                for (literal, _), place in zip(
                    sentence.literals, stand_ins.places_of(literals, known), strict=True
                )
                if place is not None
            }
            links = tuple(diagonal(sentence.text, known))
            sentence.renderings = [_Rendering(known, links, places, recalled=True)]

    def _try(self, number: int, sentences: Sequence[_Sentence]) -> None:
        """Translates sentences with stand-ins for their literals. Each try has other stand-ins."""
        asked = []
        for one in sentences:
            runs = one.runs()
            words = stand_ins.words_for([one.text[slice(*run)] for run in runs], number)
            asked.append(stand_ins.asked(one.text, runs, words))
        wanted = [(ask.text, one.linked) for ask, one in zip(asked, sentences, strict=True)]
        found = self._translations(wanted)
        for ask, sentence in zip(asked, sentences, strict=True):
            best = found[ask.text, sentence.linked]
            ways = (_rendering(sentence, ask, way) for way in (best, *best.alternatives[1:]))
            sentence.renderings = [way for way in ways if way is not None]

    def _try_without(self, sentences: Sequence[_Sentence]) -> None:
        """Translates sentences without their literals, which are put in by alignment later."""
        asked = [stand_ins.without(one.text, one.runs()) for one in sentences]
        wanted = [(ask.text, one.linked) for ask, one in zip(asked, sentences, strict=True)]
        found = self._translations(wanted)
        for ask, sentence in zip(asked, sentences, strict=True):
            best = found[ask.text, sentence.linked]
            for way in (best, *best.alternatives[1:]):
                links = tuple(
                    Link(ask.old_span(*link.source), link.target)
                    for link in links_in(ask.text, way)
                )
                sentence.renderings.append(_Rendering(way.text, links, {}, way))

    def _translations(
        self, wanted: Sequence[tuple[str, bool]]
    ) -> dict[tuple[str, bool], Translation]:
        """The translation of each (text, whether to align its words)."""
        found: dict[tuple[str, bool], Translation] = {}
        for linked in (False, True):
            texts = list(dict.fromkeys(text for text, aligned in wanted if aligned == linked))
            if texts:
                made = self.translate(texts, linked)
                found |= zip([(text, linked) for text in texts], made, strict=True)
        return found


def _rendering(
    sentence: _Sentence, asked: stand_ins.Asked, translation: Translation
) -> _Rendering | None:
    """The translation of the sentence, with the literals put back. None if a word that stands for a
    literal is missing from it."""
    found = asked.found(translation.text)
    if found is None:
        return None
    words = [sentence.text[slice(*run)] for run in sentence.runs()]
    changes = sorted((*place, word) for place, word in zip(found, words, strict=True))
    restored = Rewriting(translation.text, changes)
    links = tuple(
        Link(asked.rewriting.old_span(*link.source), restored.new_span(*link.target))
        for link in links_in(asked.text, translation)
    )
    places = sentence.places([restored.new_span(*place) for place in found])
    told = replace(translation, notes=tuple(map(asked.as_typed(words), translation.notes)))
    return _Rendering(restored.text, links, places, told)


def _sentences(nodes: Nodes, *, linked: bool) -> list[_Sentence]:
    """The sentences of a passage."""
    text = plain(nodes)
    literals = list(_literals(nodes, text))
    found = []
    breaks = [
        begin
        for node, begin, _ in leaves(nodes)
        if isinstance(node, Void) and node.seen == LINE_BREAK
    ]
    for begin, end in sentence_places(text, [span for _, span in literals], breaks):
        inside = [
            (node, (b - begin, e - begin)) for node, (b, e) in literals if begin <= b and e <= end
        ]
        found.append(_Sentence(text[begin:end], begin, inside, linked))
    return found


def _literals(nodes: Nodes, text: str) -> Iterator[tuple[Literal, Range]]:
    """The literals of a passage that are not white space, with their places in its text."""
    for node, begin, end in leaves(nodes):
        if not isinstance(node, str) and begin < end and not text[begin:end].isspace():
            yield node, (begin, end)


def _needs_links(nodes: Nodes) -> bool:
    """Whether anything has to be placed by alignment. Tags around the whole text need none."""
    if has_hard_space(nodes):
        return True
    inner = [node for node in nodes if not isinstance(node, str) or node.strip()]
    while inner and isinstance(inner[0], (Void, Bound)) and not inner[0].seen:
        inner.pop(0)
    while inner and isinstance(inner[-1], (Void, Bound)) and not inner[-1].seen:
        inner.pop()
    if len(inner) == 1 and isinstance(inner[0], Around):
        return _needs_links(inner[0].inside)
    return not all(isinstance(node, str) for node in inner)


def _carried(nodes: Nodes, sentences: Sequence[_Sentence], languages: tuple[str, str]) -> Carried:
    """The translations of a passage, put together from its sentences."""
    most = max((len(one.renderings) for one in sentences), default=1)
    first, *others = (_one_carried(nodes, sentences, rank, languages) for rank in range(most))
    return replace(first, alternatives=tuple(others))


def _one_carried(
    nodes: Nodes, sentences: Sequence[_Sentence], rank: int, languages: tuple[str, str]
) -> Carried:
    """The translation of this rank, counted from 0. A sentence with fewer translations gives its
    last one."""
    text = plain(nodes)
    chosen = [(one, one.renderings[min(rank, len(one.renderings) - 1)]) for one in sentences]
    changes = [(one.begin, one.begin + len(one.text), said.text) for one, said in chosen]
    whole = Rewriting(text, changes)
    links: list[Link] = []
    places = dict(_places_between(nodes, [one for one, _ in chosen], whole))
    notes: dict[str, None] = {}
    for one, said in chosen:
        begin = whole.new_span(one.begin, one.begin + len(one.text))[0]
        own_links = (*said.links, *links_of_ends(one.text, said.text))
        links += (link.moved(one.begin, begin) for link in own_links)
        places |= {node: (b + begin, e + begin) for node, (b, e) in said.places.items()}
        if made := said.translation:
            own = without_doubts(made.notes, made.sentence_confidences)
            notes |= dict.fromkeys(renamed(note, made.source, one.text) for note in own)
        notes |= dict.fromkeys(map(_told, one.missing(said)))
    pairs = tuple(
        Pair(one.text, said.text, said.recalled, said.translation) for one, said in chosen
    )
    notes |= dict.fromkeys(doubts(sentences_of(pairs)))
    transfer = Transfer(whole.text, tuple(links), places, languages)
    return Carried(nodes, with_hard_spaces(nodes, transfer), pairs, tuple(notes))


def _places_between(
    nodes: Nodes, sentences: Sequence[_Sentence], whole: Rewriting
) -> Iterator[tuple[Literal, Range]]:
    """The places in the whole translation of what stands between two sentences: literals, and
    markup such as white space or a comment."""
    begins = [one.begin for one in sentences]
    for node, begin, end in leaves(nodes):
        if not isinstance(node, str) and (begin < end or isinstance(node, Void)):
            before = bisect_right(begins, begin) - 1
            last = sentences[before].begin + len(sentences[before].text) if before >= 0 else 0
            if last <= begin:
                yield node, whole.new_span(begin, end)


def _told(literal: Literal) -> str:
    text = literal.text if isinstance(literal, Kept) else literal.seen
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return f"the model did not carry {shown!r} over: it was put in by alignment; check its place"
