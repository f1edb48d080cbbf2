"""A text as the parts that a model sees at once, and their translations as one text again."""

import heapq
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.links import AnyArray, pharaoh
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.text.clean import clean
from allyouneed.text.dressing import Dresser
from allyouneed.text.normaliser import AS_TYPED, Normaliser, Plain
from allyouneed.text.protocol import AnyTokenizer, Coded
from allyouneed.text.sentences import split_long
from allyouneed.translation.result import Translation

_WORD = re.compile(r"\S+")

CUT_OFF = "stopped at the length limit before the end of a sentence"


@dataclass(slots=True)
class Segment:
    """A part of a text that the model sees at once, with the white space around it.

    A blank part has no `text` and is not translated. `plain` is the text as the model reads it,
    where it is not the text as it was typed. `code` is what the model is told before the
    text, where an earlier part says it. `hypotheses` and `alignment` are found later; the alignment
    is of the first hypothesis, Pharaoh pairs that count words from 0 in each part.
    """

    before: str
    text: str
    after: str
    plain: Plain | None = None
    code: str = ""
    hypotheses: Sequence[Hypothesis] = ()
    alignment: str | None = None

    @classmethod
    def of(cls, part: str, normaliser: Normaliser = AS_TYPED) -> "Segment":
        """The part, its white space set apart; one of which the model reads nothing is blank."""
        text = part.strip()
        plain = normaliser.plain(text)
        if not plain.text:
            return cls(part, "", "")
        begin = part.find(text)
        return cls(
            part[:begin],
            text,
            part[begin + len(text) :],
            plain=None if plain.places is None else plain,
        )

    @property
    def seen(self) -> str:
        """The text as the model reads it."""
        return self.text if self.plain is None else self.plain.text

    def typed_words(self, seen: Sequence[int]) -> Sequence[int]:
        """Numbers of words of `seen` as those of the words of `text` that they stand in; -1, no
        word, stays."""
        if self.plain is None:
            return seen
        spans = (self.plain.typed(*word.span()) for word in _WORD.finditer(self.plain.text))
        typed = dict(enumerate(words_at(self.text, spans)))
        return [typed.get(word, -1) for word in seen]

    def align(self, attention_TS: AnyArray, source: Sequence[int], tokenizer: AnyTokenizer) -> None:
        """Sets the alignment by the attention of the first hypothesis to the `source` ids."""
        told = len(self.code.split())  # words that are not of the text
        seen = [max(word - told, -1) for word in word_numbers(tokenizer, source)]
        target = word_numbers(tokenizer.target, self.hypotheses[0].ids)
        self.alignment = pharaoh(attention_TS, self.typed_words(seen), target)


class Segmenter:
    """Cuts texts where their lines end, and lines that are longer than the model knows where
    their sentences end.

    A line of more than `known_length` tokens, the end token among them, is cut into sentences,
    and a sentence that is still longer at clause marks or spaces: a model translates a clause
    better than a sentence of a length that it has never seen.
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        known_length: int,
        normaliser: Normaliser = AS_TYPED,
        language: str = "",
    ) -> None:
        """`language` is that of translations, by code or name; empty where unknown."""
        self.tokenizer = tokenizer
        self.known_length = known_length
        self.normaliser = normaliser
        self.language = language

    def dresser(self, source: str, prefix: str = "", language: str = "") -> Dresser:
        """What gives a translation of `source` the marks of its language, the model's own where
        none is named; `prefix` stays as it is."""
        return self.normaliser.dresser(source, language or self.language, prefix)

    def cut(self, text: str) -> tuple[list[Segment], list[str]]:
        """The parts, which joined are the (clean) text, and notes about what was done to it."""
        text, notes = clean(text)
        segments: list[Segment] = []
        parts_of_long_lines = 0
        for line, end in self.normaliser.lines(text):
            whole = Segment.of(line)
            parts = [
                Segment.of(part, self.normaliser)
                for part in split_long(whole.text, self._fits) or [""]
            ]
            if len(parts) > 1:
                parts_of_long_lines += len(parts)
                self._tell_all(parts)
            parts[0].before = whole.before + parts[0].before
            parts[-1].after += whole.after + end
            segments += parts
        if parts_of_long_lines:
            notes.append(
                f"longer than the {self.known_length} tokens that the model knows: "
                f"translated in {parts_of_long_lines} parts"
            )
        return segments, notes

    def _tell_all(self, parts: Sequence[Segment]) -> None:
        """What the first part says at its beginning, such as the language, holds for all."""
        if isinstance(self.tokenizer, Coded):
            for part in parts[1:]:
                part.code = self.tokenizer.code(parts[0].seen)

    def _fits(self, part: str) -> bool:
        part = self.normaliser.plain(part).text
        if len(part.encode()) + 2 <= self.known_length:  # a token a byte, the space before, the end
            return True
        return len(self.tokenizer.encode_ids([part])[0]) <= self.known_length


def put_together(
    source: str,
    segments: Sequence[Segment],
    notes: Sequence[str],
    segmenter: Segmenter,
    options: BeamOptions | SamplingOptions,
    prefix: str = "",
    language: str = "",
) -> Translation:
    """The translation of the whole text, with as many alternatives as the search was asked for;
    each begins with the `prefix`. `language` is what was translated into, where it was named."""
    lists = [segment.hypotheses for segment in segments if segment.text]
    if isinstance(options, BeamOptions):
        wanted, ways = options.n_best, best_combinations(lists, options.n_best)
    else:  # sample n of the text is sample n of each of its parts
        wanted, ways = options.samples, list(zip(*lists, strict=True)) or [()]
    tokenizer = segmenter.tokenizer

    def one_way(way: Sequence[Hypothesis]) -> Translation:
        dresser = segmenter.dresser(source, prefix, language)
        return _one_way(source, segments, way, notes, tokenizer, dresser, options.given)

    found = [one_way(way) for way in ways]
    aligned = [segment for segment in segments if segment.alignment is not None]
    return replace(
        found[0],
        alternatives=tuple(found) if wanted > 1 else (),
        alignment=joined_alignment(segments, tokenizer) if aligned else None,
    )


def _one_way(
    source: str,
    segments: Sequence[Segment],
    way: Sequence[Hypothesis],
    notes: Sequence[str],
    tokenizer: AnyTokenizer,
    dresser: Dresser,
    given: int,
) -> Translation:
    """The translation that takes these hypotheses, one for each part that is not blank, without the
    `given` tokens that each begins with."""
    hypotheses = iter(way)
    texts: list[str] = []
    for segment in segments:
        text = ""
        if segment.text:
            text = dresser.whole(tokenizer.target.decode(next(hypotheses).ids[given:]).strip())
        texts += (segment.before, text, segment.after)
    cut_off = [] if all(hypothesis.finished for hypothesis in way) else [CUT_OFF]
    return Translation(
        source=source,
        text="".join(texts),
        tokens=tuple(
            tokenizer.target.piece(id) for hypothesis in way for id in hypothesis.ids[given:]
        ),
        token_log_probabilities=tuple(
            log_p for hypothesis in way for log_p in hypothesis.token_log_probabilities[given:]
        ),
        notes=(*notes, *cut_off),
    )


def best_combinations(
    lists: Sequence[Sequence[Hypothesis]], count: int
) -> list[tuple[Hypothesis, ...]]:
    """One hypothesis from each list: the `count` ways with the highest sum of scores, best first.

    The lists are sorted by score, so the first way takes the first of each.
    """
    best: list[tuple[float, tuple[Hypothesis, ...]]] = [(0.0, ())]
    for hypotheses in lists:
        longer = ((score + h.score, way, h) for score, way in best for h in hypotheses)
        ways = heapq.nlargest(count, longer, key=itemgetter(0))
        best = [(score, (*way, h)) for score, way, h in ways]
    return [way for _, way in best]


def joined_alignment(segments: Sequence[Segment], tokenizer: AnyTokenizer) -> str:
    """The parts' alignments as one, for the first hypothesis of each; words counted through."""
    source, target = WordCounter(), WordCounter()
    links: list[str] = []
    for segment in segments:
        source.add(segment.before)
        target.add(segment.before)
        for link in (segment.alignment or "").split():
            i, j = map(int, link.split("-"))
            links.append(f"{source.next + i}-{target.next + j}")
        source.add(segment.text)
        if segment.hypotheses:
            target.add(tokenizer.target.decode(segment.hypotheses[0].ids).strip())
        source.add(segment.after)
        target.add(segment.after)
    return " ".join(links)


class WordCounter:
    """Counts the words of a text that comes in pieces; a word may be cut by the pieces' ends."""

    def __init__(self) -> None:
        self.words = 0
        self.inside_word = False

    @property
    def next(self) -> int:
        """The number, from 0, of the word that a letter added now would belong to."""
        return self.words - self.inside_word

    def add(self, piece: str) -> None:
        """Goes on with the next piece."""
        if piece:
            goes_on = self.inside_word and not piece[0].isspace()
            self.words += len(piece.split()) - goes_on
            self.inside_word = not piece[-1].isspace()


def word_numbers(tokenizer: AnyTokenizer, ids: Sequence[int]) -> list[int]:
    """For each token the number of its word, words being what white space separates; -1 for white
    space itself and for tokens without text, such as the end."""
    return words_at(tokenizer.decode(ids), tokenizer.spans(ids))


def words_at(text: str, spans: Iterable[tuple[int, int]]) -> list[int]:
    """The same for places (begin, end) of a text."""
    return [
        len(text[:end].split()) - 1 if text[begin:end] and not text[end - 1].isspace() else -1
        for begin, end in spans
    ]
