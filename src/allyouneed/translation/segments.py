"""Cuts a text into the parts that a model sees at once."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

from allyouneed.decoding.links import Aligned, AnyArray, word_alignment
from allyouneed.text.amounts import amounts_written
from allyouneed.text.atoms import has_unspaced
from allyouneed.text.clean import clean
from allyouneed.text.clock import TWELVE_HOURS, in_12_hours, in_24_hours
from allyouneed.text.dressing import Dresser
from allyouneed.text.language_check import misfit
from allyouneed.text.normaliser import AS_TYPED, Normaliser, Plain
from allyouneed.text.protocol import AnyTokenizer, Coded
from allyouneed.text.sentences import split_fitting, split_long
from allyouneed.text.short_forms import in_full
from allyouneed.translation.lost import lost
from allyouneed.translation.terms.annotation import annotated, without_terms
from allyouneed.translation.terms.glossary import FoundTerm, Glossary
from allyouneed.translation.terms.use import TermUse, uses
from allyouneed.translation.words import units_at, word_numbers, words_at

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a text that the model sees at once, with the white space around it.

    A blank part has no `text` and is not translated. `plain` is the text as the model reads it, if
    that differs from the typed text. `code` is put before the text for the model, for example a
    mark of the language that only the first part of the text contains. `small` is the text in small
    letters, if the text is in capitals. `terms` are the terms of the glossary in `seen`. `opening`
    and `closing` are quotes or brackets around the whole text, which the model does not read.
    `term_mark` is the mark of a model that reads its terms in the source.
    """

    before: str
    text: str
    after: str
    plain: Plain | None = None
    code: str = ""
    small: str | None = None
    terms: tuple[FoundTerm, ...] = ()
    opening: str = ""
    closing: str = ""
    term_mark: int | None = None

    @classmethod
    def of(
        cls, part: str, normaliser: Normaliser = AS_TYPED, *, with_edges: bool = False
    ) -> "Segment":
        """The segment of a part of a text. A part in which the model reads nothing is blank.

        A list mark and symbols at the end belong to the space around the text, unless the model is
        to read the part `with_edges`.
        """
        text = part.strip()
        plain = normaliser.plain(text)
        if not plain.text:
            return cls(part, "", "")
        edges = AS_TYPED.edges(plain.text) if with_edges else normaliser.edges(plain.text)
        if edges is None:
            return cls(part, "", "")
        begin = plain.typed(edges.begin, edges.end)[0] if edges.begin else 0
        end = plain.typed(0, edges.end)[1] if edges.end < len(plain.text) else len(text)
        typed = normaliser.plain(text[begin:end])
        inner = (edges.inner_begin - edges.begin, edges.inner_end - edges.begin)
        if inner != (0, len(typed.text)):
            typed = typed.part(*inner)
        begin += part.find(text)
        end += part.find(text)
        return cls(
            part[:begin],
            part[begin:end],
            part[end:],
            plain=None if typed.places is None else typed,
            small=normaliser.small(typed.text),
            opening=edges.opening,
            closing=edges.closing,
        )

    def spelt_out(
        self, languages: tuple[str, str], normaliser: Normaliser, glossary: Glossary | None = None
    ) -> "Segment":
        """The segment, in which the model reads "19:30" for a time such as "7:30 pm" or "19h30",
        and the words of short forms such as "e.g.", unless it reads texts as they are typed. Terms
        of the glossary stay as they are. `languages` are the codes of source and target."""
        plain = self.plain or Plain(self.text)
        for changes_of in (in_24_hours, in_full) if normaliser.name else ():
            changes = list(changes_of(plain.text, languages))
            if changes and glossary:
                terms = glossary.find(plain.text, normaliser)
                changes = [one for one in changes if not any(_meets(one, term) for term in terms)]
            if changes:
                plain = plain.changed(changes)
        if plain.text == self.seen:
            return self
        return replace(self, plain=plain, small=normaliser.small(plain.text))

    @property
    def seen(self) -> str:
        """The text as the model reads it."""
        return self.text if self.plain is None else self.plain.text

    def finished(self, translation: str, dresser: Dresser) -> str:
        """The translation of `seen` as the translation of `text`: with the marks around it, the end
        marks and the typographic marks."""
        ended = dresser.ended(translation, self.seen)
        return dresser.whole(f"{self.opening}{ended}{self.closing}")

    def typed(self, begin: int, end: int) -> tuple[int, int]:
        """The characters of `text` that seen[begin:end] stands for."""
        return (begin, end) if self.plain is None else self.plain.typed(begin, end)

    def term_uses(self, translation: str, normaliser: Normaliser) -> list[TermUse]:
        """The use of each term in a translation, with places in `text` and in the translation."""
        spans = [self.typed(one.begin, one.end) for one in self.terms]
        return uses(self.terms, spans, translation, normaliser)

    def typed_words(self, seen: Sequence[int]) -> Sequence[int]:
        """The numbers of the words of `text` that contain the words of `seen` with these numbers.
        -1, which means no word, stays -1."""
        if self.plain is None:
            return seen
        spans = (self.plain.typed(*word.span()) for word in _WORD.finditer(self.plain.text))
        typed = dict(enumerate(words_at(self.text, spans)))
        return [typed.get(word, -1) for word in seen]

    def in_small_letters(self) -> "Segment":
        """The segment, with its terms as they are written in `small`."""
        terms = tuple(one.within(self.small or self.seen) for one in self.terms)
        return replace(self, terms=terms)

    def aligned(
        self,
        attention_TS: AnyArray,
        source: Sequence[int],
        target: Sequence[int],
        tokenizer: AnyTokenizer,
    ) -> Aligned:
        """The links of words, and of characters if they are needed, from the attention of the
        `target` ids to the `source` ids."""
        told = len(self.code.split())  # words that are not of the text
        text, places = without_terms(source, -1 if self.term_mark is None else self.term_mark)
        numbers = [max(word - told, -1) for word in word_numbers(tokenizer, text)]
        seen = [numbers[place] for place in places]
        words = word_numbers(tokenizer.target, target)
        links = word_alignment(attention_TS, self.typed_words(seen), words)
        said = tokenizer.target.decode(target)
        if not (has_unspaced(self.seen) or has_unspaced(said)):
            return Aligned(links)
        before = len(tokenizer.decode(text)) - len(self.seen)
        spans = [(begin - before, end - before) for begin, end in tokenizer.spans(text)]
        own, units = units_at(self.seen, spans)
        theirs, others = units_at(said, tokenizer.target.spans(target))
        pairs = word_alignment(attention_TS, [own[place] for place in places], theirs)
        return Aligned(links, tuple((self.typed(*units[s]), others[t]) for s, t in pairs))


def _meets(change: tuple[int, int, str], term: FoundTerm) -> bool:
    """Whether a change (begin, end, new text) touches the characters of a term."""
    begin, end, _ = change
    return begin < term.end and term.begin < end


@dataclass(frozen=True, slots=True)
class Cut:
    """A text in parts, which joined are the cleaned text. `notes` say what the cleaning changed."""

    segments: tuple[Segment, ...]
    notes: tuple[str, ...]

    def with_terms(self, glossary: Glossary, segmenter: "Segmenter") -> "Cut":
        """The cut, each segment with the terms of the glossary that it contains."""
        normaliser, mark = segmenter.normaliser, segmenter.term_mark
        found = [glossary.find(one.seen, normaliser) if one.text else () for one in self.segments]
        segments = [
            replace(one, terms=terms, term_mark=mark)
            for one, terms in zip(self.segments, found, strict=True)
        ]
        return replace(self, segments=tuple(segments))

    def spelt_out(
        self, languages: tuple[str, str], normaliser: Normaliser, glossary: Glossary | None
    ) -> "Cut":
        """The cut, with each of its segments as `Segment.spelt_out` has it."""
        segments = (one.spelt_out(languages, normaliser, glossary) for one in self.segments)
        return replace(self, segments=tuple(segments))

    def with_language_checked(self, source: str) -> "Cut":
        """The cut with a note about segments that are hardly in the language `source`."""
        segments = list(self.with_text())
        found = [(one, why) for one in segments if (why := misfit(one.seen, source))]
        if not found:
            return self
        first, why = found[0]
        whole = len(found) == len(segments)
        which = "the text" if whole else f"{shorten(first.seen, 40, placeholder='…')!r}"
        note = f"{which} {why}; check the source language"
        return replace(self, notes=(*self.notes, note))

    def with_text(self) -> Iterator[Segment]:
        """The segments that are not blank."""
        return (segment for segment in self.segments if segment.text)


class Segmenter:
    """Cuts texts at the ends of lines and of sentences.

    A model that was trained on single sentences drops some of them if it gets several at once. A
    sentence of more than `known_length` tokens, end token included, is cut at clause marks or
    spaces, because a model translates a clause better than a sentence longer than any in training.
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        known_length: int,
        normaliser: Normaliser = AS_TYPED,
        language: str = "",
        *,
        by_sentence: bool = True,
        term_mark: int | None = None,
    ) -> None:
        """`language` is the language of translations, as a code or a name; empty if unknown.
        Without `by_sentence`, a line of several sentences stays whole if it is not too long.
        `term_mark` is the mark of a model that reads its terms in the source (`annotated`)."""
        self.tokenizer = tokenizer
        self.known_length = known_length
        self.normaliser = normaliser
        self.language = language
        self.by_sentence = by_sentence
        self.term_mark = term_mark

    def dresser(self, source: str, prefix: str = "", language: str = "") -> Dresser:
        """A `Dresser` for translations of `source`. It writes the marks of `language`, by default
        of the model's language, and does not change `prefix`."""
        return self.normaliser.dresser(source, language or self.language, prefix)

    def seen(self, text: str, languages: tuple[str, str]) -> str:
        """A whole text as the model reads it. `languages` are the codes of source and target."""
        typed = clean(text)[0].strip()
        plain = self.normaliser.plain(typed)
        return Segment("", typed, "", plain).spelt_out(languages, self.normaliser).seen

    def lost(self, segment: Segment, written: str, languages: tuple[str, str]) -> tuple[str, ...]:
        """What the translation `written` of a segment has lost, from the source language into the
        target language. Nothing is told of models that read texts as they are typed."""
        return lost(segment.seen, written, languages) if self.normaliser.name else ()

    def written(self, segment: Segment, said: str, languages: tuple[str, str]) -> str:
        """What the model said for a segment, with numbers and times as the target language writes
        them. Models that read texts as they are typed get nothing changed."""
        if not self.normaliser.name:
            return said
        if languages[1] in TWELVE_HOURS:
            said = in_12_hours(said)
        return amounts_written(segment.seen, said, languages)

    def ids(self, segments: Sequence[Segment], texts: Sequence[str]) -> list[list[int]]:
        """The ids of texts in which the segments have their terms. A model that reads terms in the
        source gets them there."""
        every = self.tokenizer.encode_ids(texts)
        if self.term_mark is None:
            return every
        longest = 2 * self.known_length
        return [
            annotated(ids, text, s.terms, s.term_mark, self.tokenizer, self.normaliser, longest)
            if s.terms and s.term_mark is not None
            else ids
            for s, text, ids in zip(segments, texts, every, strict=True)
        ]

    def cut(self, text: str, *, with_edges: bool = False) -> Cut:
        """The parts of a text. `with_edges` is for `Segment.of`."""
        text, notes = clean(text)
        segments: list[Segment] = []
        parts_of_long_lines = 0
        for line, end in self.normaliser.lines(text):
            parts = self._parts(line, end, with_edges)
            if len(parts) > 1 and not self._fits(line):
                parts_of_long_lines += len(parts)
            segments += parts
        if parts_of_long_lines:
            notes.append(
                f"longer than the {self.known_length} tokens that the model knows: "
                f"translated in {parts_of_long_lines} parts"
            )
        return Cut(tuple(segments), tuple(notes))

    def _parts(self, line: str, end: str, with_edges: bool) -> list[Segment]:
        """A line in parts. `end` is the line end, which belongs to the last part."""
        split = split_fitting if self.by_sentence else split_long
        text = line.strip()
        begin = len(line) - len(line.lstrip())
        before, after = line[:begin], line[begin + len(text) :] + end
        texts = split(text, self._fits) or [""]
        parts = [Segment.of(text, self.normaliser, with_edges=with_edges) for text in texts]
        if len(parts) > 1 and isinstance(self.tokenizer, Coded):
            code = self.tokenizer.code(parts[0].seen)
            parts[1:] = [replace(part, code=code) for part in parts[1:]]
        if before:
            parts[0] = replace(parts[0], before=before + parts[0].before)
        if after:
            parts[-1] = replace(parts[-1], after=parts[-1].after + after)
        return parts

    def _fits(self, part: str) -> bool:
        part = self.normaliser.plain(part).text
        if len(part.encode()) + 2 <= self.known_length:  # a token a byte, the space before, the end
            return True
        return len(self.tokenizer.encode_ids([part])[0]) <= self.known_length
