"""Translates texts without tags; addresses, placeholders and code in them stay as they are.

A line with such a literal goes through `carrying.py`: the model sees another word in its place. So
does a line with emphasis ("*very* important"): the model sees it without the stars. A
line with direct speech goes through `speech.py`: the model sees it in pieces. A line that opens or
closes a letter comes from the table of `text/letters.py`, and a set phrase from that of
`text/set_phrases.py`. All other text goes to the model as it is. If the translation of a line or a
piece lacks a number or a name, it is translated again with its numbers, amounts and times, or with
its names protected.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import UsageError
from allyouneed.text.clean import clean
from allyouneed.text.clock import in_24_hours
from allyouneed.text.letters import Formula, letter_formulas
from allyouneed.text.normaliser import Normaliser
from allyouneed.text.set_phrases import set_phrase
from allyouneed.translation.joining import joined
from allyouneed.translation.markup.carried_line import alignment_of, line_of
from allyouneed.translation.markup.carrying import Carrier, Translate
from allyouneed.translation.markup.emphasis import has_emphasis, nodes_of
from allyouneed.translation.markup.lost_names import has_name, lost_names, name_patterns
from allyouneed.translation.markup.lost_numbers import has_number, lost_numbers
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.markup.rewriting import Rewriting
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.speech import SpokenLine, has_speech
from allyouneed.translation.terms.use import uses

ALWAYS = Protection(numbers="free")
"""The default protection: literals, but no numbers."""
WITH_PREFIX = "where a prefix is given, nothing is protected; check the translation"


def protection_of(protect: bool | str | Sequence[str]) -> Protection | None:
    """The protection for the argument `protect` of a call.

    False protects nothing, and True the literals of every text. Regular expressions also protect
    the text that they match.

    Raises:
        UsageError: an expression is not a regular expression.
    """
    if isinstance(protect, bool):
        return ALWAYS if protect else None
    patterns = [protect] if isinstance(protect, str) else protect
    if not isinstance(patterns, Iterable) or not all(isinstance(one, str) for one in patterns):
        raise UsageError(
            f"protect={protect!r} must be True, False or a list of regular expressions"
        )
    return Protection(patterns, numbers="free") if patterns else ALWAYS


@dataclass(frozen=True, slots=True)
class _Part:
    """A text to translate. A `literal` part contains literals or emphasis."""

    text: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a text, or a whole text, with its line end. `parts` are what is translated: the
    line itself, or the pieces of a line with direct speech, which is then `spoken`. A line that
    opens or closes a letter has none, but a `formula`."""

    text: str
    end: str
    parts: tuple[_Part, ...]
    spoken: SpokenLine | None = None
    formula: Formula | None = None


@dataclass(frozen=True, slots=True)
class Sifted:
    """Texts, divided into lines with literals and text that goes to the model as it is.

    `notes` say, for each text, how it was cleaned.
    """

    texts: Sequence[str]
    lines: Sequence[Sequence[_Line]]
    notes: Sequence[Sequence[str]]
    request: TranslationRequest
    normaliser: Normaliser

    @classmethod
    def of(
        cls, texts: Sequence[str], request: TranslationRequest, normaliser: Normaliser
    ) -> "Sifted":
        """The texts, divided. A text without literals and numbers stays whole.

        With a prefix every text stays whole, because it has to begin the model's own output.
        """
        protection = None if request.prefix.strip() else request.protection
        lines: list[list[_Line]] = []
        notes: list[list[str]] = []
        for text in texts:
            found, said = [_Line(text, "", (_Part(text),))], list[str]()
            if protection is not None and (
                protection.is_needed(text)
                or has_number(text)
                or has_name(text, request.languages_of(text)[0])
                or has_emphasis(text, request.languages_of(text)[0])
                or has_speech(text)
                or any(_formulas(normaliser.lines(text), request, normaliser))
            ):
                cleaned, said = clean(text)
                ended = normaliser.lines(cleaned)
                found = [
                    _line(line, end, formula, protection, request, normaliser)
                    for (line, end), formula in zip(
                        ended, _formulas(ended, request, normaliser), strict=True
                    )
                ]
            lines.append(found)
            notes.append(said)
        return cls(texts, lines, notes, request, normaliser)

    @property
    def plain(self) -> list[str]:
        """The text that goes to the model as it is, in order."""
        return [part.text for part in self._parts if not part.literal]

    @property
    def _parts(self) -> list[_Part]:
        """What is translated, in order."""
        return [part for some in self.lines for line in some for part in line.parts]

    @property
    def is_parted(self) -> bool:
        """Whether the texts have lines that are translated apart from each other."""
        return any(not grows or end for _, end, grows in self.growing_lines())

    def _languages_of(self, text: str) -> tuple[str, str]:
        return self.request.languages_of(text)

    def _source_of(self, text: str) -> str:
        return self._languages_of(text)[0]

    def growing_lines(self) -> Iterator[tuple[str, str, bool]]:
        """Each line, its line end, and whether its translation can be shown while it grows. A line
        with a literal, a number or a name cannot, because its translation is verified at the end,
        and neither can one with direct speech, whose pieces are joined."""
        protected = self.request.protection is not None and not self.request.prefix.strip()
        for one in (one for some in self.lines for one in some):
            literal = one.spoken or one.formula or any(part.literal for part in one.parts)
            copied = has_number(one.text) or has_name(one.text, self._source_of(one.text))
            yield one.text, one.end, not (protected and (literal or copied))

    def translations(self, plain: Sequence[Translation], translate: Translate) -> list[Translation]:
        """The translations of the texts. `plain` are the translations of `self.plain`; `translate`
        translates the other lines."""
        protection = self.request.protection
        if protection is None:
            return list(plain)
        if self.request.prefix.strip():
            return [_with_missing_told(one, protection) for one in plain]
        found = iter(self._verified(self._parts, plain, protection, translate))
        made = [
            self._spoken(line, [next(found) for _ in line.parts], translate)
            for some in self.lines
            for line in some
        ]
        parts = iter(made)
        return [
            self._joined(text, lines, [next(parts) for _ in lines], notes)
            for text, lines, notes in zip(self.texts, self.lines, self.notes, strict=True)
        ]

    def _verified(
        self,
        parts: Sequence[_Part],
        plain: Sequence[Translation],
        protection: Protection,
        translate: Translate,
    ) -> list[Translation]:
        """The translations of parts, each with its literals and numbers as far as possible. `plain`
        are those of the parts without literals."""
        literal = self._carried(translate, protection, [one.text for one in parts if one.literal])
        waiting, ready = iter(literal), iter(plain)
        found = [next(waiting if one.literal else ready) for one in parts]
        languages = [self._languages_of(one.source) for one in found]
        lost = [_Lost.of(one, pair) for one, pair in zip(found, languages, strict=True)]
        for numbers, names in ((True, False), (False, True), (True, True)):
            again = [
                n
                for n, one in enumerate(lost)
                if (bool(one.numbers), bool(one.names)) == (numbers, names)
            ]
            if not again:
                continue
            known = [
                one
                for n in again
                if names
                for one in (*name_patterns(languages[n][0]), *map(re.escape, lost[n].names))
            ]
            patterns = (*protection.patterns, *dict.fromkeys(known))
            stricter = Protection(patterns, numbers="all" if numbers else "free")
            made = self._carried(translate, stricter, [found[n].source for n in again])
            for n, one in zip(again, made, strict=True):
                if (still := _Lost.of(one, languages[n])) < lost[n]:
                    found[n], lost[n] = one, still
        return [one.told(made) for one, made in zip(lost, found, strict=True)]

    def _spoken(
        self, line: _Line, found: Sequence[Translation], translate: Translate
    ) -> Translation:
        """The translation of a line from those of its parts. A line whose speech cannot be put into
        the translation of its report, with any stand-in, is translated as it is."""
        if line.formula is not None:
            return _from_table(line.text, line.formula, self.request)
        if line.spoken is None:
            return found[0]
        protection, source = self.request.protection, self._source_of(line.text)
        assert protection is not None  # only then lines have several parts
        for number in range(line.spoken.tries):
            if number:
                parts = [_part(one, protection, source) for one in line.spoken.pieces(number)]
                found = self._translated(parts, translate, protection)
            ways = [[one, *one.alternatives[1:]] for one in found]
            ranks = range(max(map(len, ways)))
            made = [
                line.spoken.joined([way[min(rank, len(way) - 1)] for way in ways], number)
                for rank in ranks
            ]
            if made[0] is not None:
                return _ranked([self._with_terms(one) for one in made if one is not None])
        [whole] = self._translated([_part(line.text, protection, source)], translate, protection)
        return whole

    def _translated(
        self, parts: Sequence[_Part], translate: Translate, protection: Protection
    ) -> list[Translation]:
        """The translations of parts that were not translated yet."""
        texts = [one.text for one in parts if not one.literal]
        plain = translate(texts, self.request.alignments) if texts else []
        return self._verified(parts, plain, protection, translate)

    def _carried(
        self, translate: Translate, protection: Protection, lines: Sequence[str]
    ) -> list[Translation]:
        """The translations of lines, with their literals."""
        if not lines:
            return []
        passages = [nodes_of(line, self._source_of(line)) for line in lines]
        aligned = self.request.alignments
        found = Carrier(translate, protection).carry(passages, aligned=aligned)
        results = []
        for line, best in zip(lines, found, strict=True):
            first, *others = (
                self._with_terms(line_of(line, one, protection, self._languages_of(line)))
                for one in (best, *best.alternatives)
            )
            if self.request.alignments:
                first = replace(first, alignment=alignment_of(best, first.text))
            results.append(_ranked([first, *others]))
        return results

    def _with_terms(self, given: Translation) -> Translation:
        """The translation of a line, with the use of the terms outside of its literals."""
        if self.request.terms is None or self.request.protection is None:
            return given
        plain = self.normaliser.plain(given.source)
        carried = list(self.request.protection.spans(given.source))
        found = [
            (one, plain.typed(one.begin, one.end))
            for one in self.request.terms.find(plain.text, self.normaliser)
        ]
        free = [
            (one, span)
            for one, span in found
            if not any(begin < span[1] and span[0] < end for begin, end in carried)
        ]
        terms = uses(
            [one for one, _ in free], [span for _, span in free], given.text, self.normaliser
        )
        return replace(given, terms=tuple(terms))

    def _joined(
        self,
        text: str,
        lines: Sequence[_Line],
        parts: Sequence[Translation],
        notes: Sequence[str],
    ) -> Translation:
        """Joins the translations of a text's lines into the translation of the text."""
        if len(lines) == 1 and not notes:
            return parts[0]
        ways = [(one, *one.alternatives[1:]) for one in parts]
        ranks = range(max(map(len, ways)))
        ends = [line.end for line in lines]
        return _ranked(
            [
                joined(text, [way[min(rank, len(way) - 1)] for way in ways], ends, notes)
                for rank in ranks
            ]
        )


def _line(
    text: str,
    end: str,
    formula: Formula | None,
    protection: Protection,
    request: TranslationRequest,
    normaliser: Normaliser,
) -> _Line:
    """A line of a text, in parts if it has direct speech, and in none if it is a formula."""
    if formula is not None:
        return _Line(text, end, (), formula=formula)
    languages = request.languages_of(text)
    spoken = SpokenLine.of(text, languages, normaliser)
    texts = spoken.pieces() if spoken else [text]
    return _Line(text, end, tuple(_part(one, protection, languages[0]) for one in texts), spoken)


def _formulas(
    lines: Sequence[tuple[str, str]], request: TranslationRequest, normaliser: Normaliser
) -> list[Formula | None]:
    """The translation of each line that opens, closes or signs a letter, and of set phrases if the
    model's folder asks for it. There is none for a line with one of the user's terms, if the user
    asked for several translations, or if the model reads texts as they are typed."""
    options = request.searched
    several = not isinstance(options, BeamOptions) or options.n_best > 1
    if not normaliser.name or several:
        return [None] * len(lines)
    languages = request.languages_of(" ".join(line for line, _ in lines))
    bare = [line for line, _ in lines]
    found = letter_formulas(bare, languages)
    if request.set_phrases:
        found = [one or set_phrase(line, languages) for one, line in zip(found, bare, strict=True)]
    if request.terms is None:
        return found
    return [
        None if one and request.terms.find(normaliser.plain(line).text, normaliser) else one
        for one, line in zip(found, bare, strict=True)
    ]


def _from_table(line: str, formula: Formula, request: TranslationRequest) -> Translation:
    """The translation of a line that is a formula. Its words are tied in order."""
    told = f"{formula.name!r} is taken for a name, because it opens a letter: check it"
    tied = min(len(line.split()), len(formula.text.split()))
    return Translation(
        source=line,
        text=formula.text,
        tokens=(),
        token_log_probabilities=(),
        alignment=tuple((n, n) for n in range(tied)) if request.alignments else None,
        confidence=1.0 if request.set_phrases and formula.is_sure else None,
        notes=() if formula.is_sure else (told,),
    )


def _part(text: str, protection: Protection, language: str) -> _Part:
    return _Part(text, protection.is_needed(text) or has_emphasis(text, language))


@dataclass(frozen=True, slots=True)
class _Lost:
    """The numbers and the names of a line that its translation lacks."""

    numbers: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, given: Translation, languages: tuple[str, str]) -> "_Lost":
        """What a translation lacks. `languages` are the codes of source and target."""
        text = given.text
        source = Rewriting(given.source, in_24_hours(given.source, languages)).text
        return cls(
            tuple(lost_numbers(source, text) if has_number(source) else ()),
            tuple(lost_names(source, text, languages)),
        )

    def __lt__(self, other: "_Lost") -> bool:
        return len(self.numbers) + len(self.names) < len(other.numbers) + len(other.names)

    def told(self, given: Translation) -> Translation:
        """The translation, with a note for each lost name."""
        notes = [f"the translation lacks the name {one!r}: check it" for one in self.names]
        return replace(given, notes=(*given.notes, *notes)) if notes else given


def _with_missing_told(given: Translation, protection: Protection) -> Translation:
    """The translation, with a note for each literal that it lacks."""
    if not protection.is_needed(given.source):
        return given
    spans = dict.fromkeys(given.source[slice(*span)] for span in protection.spans(given.source))
    missing = [
        f"{one!r} was not carried over: {WITH_PREFIX}" for one in spans if one not in given.text
    ]
    return replace(given, notes=(*given.notes, *missing))


def _ranked(ways: Sequence[Translation]) -> Translation:
    """The first of several translations, with all of them as its alternatives; a single translation
    as it is."""
    return replace(ways[0], alternatives=tuple(ways)) if len(ways) > 1 else ways[0]
