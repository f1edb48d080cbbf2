"""Translates lines with direct speech: the speech as sentences of its own, apart from the sentence
that reports it.

A small model garbles sentences within sentences, and forgets quotes. Of '"I can't come," he said,
"because I'm ill."' it reads 'I can't come.', 'because I'm ill.' and '"No," he said.', in which "No"
stands in for the speech. The translations are joined with the marks of the target language.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from allyouneed.text.dressing import COMMA_OUTSIDE, Dresser
from allyouneed.text.edges import END_MARKS
from allyouneed.text.normaliser import DOUBLE_QUOTES, SINGLE_QUOTES, Normaliser, Plain
from allyouneed.text.speech import Sentence, Speech, spoken_sentences
from allyouneed.text.tongues.known import TONGUES
from allyouneed.translation.confidence import SentenceConfidence, confidence_of, without_doubts
from allyouneed.translation.joining import joined, scored_tokens
from allyouneed.translation.lost import renamed
from allyouneed.translation.markup.rewriting import Rewriting
from allyouneed.translation.result import Translation
from allyouneed.translation.words import same_words, spread, words_at

_WORD = re.compile(r"\S+")
_QUOTED = re.compile(r'"([^"]*)"')
_AFTER = re.compile(r"[\s,.-]*")  # marks between speech and the words after it
_ENGLISH_I = re.compile(r"I\b")
_MAY_SPEAK = re.compile(rf"[\"{DOUBLE_QUOTES}]|(?<!\w)['{SINGLE_QUOTES}](?=\w)")


def has_speech(text: str) -> bool:
    """Whether a text may have direct speech: it has quotes around words."""
    return _MAY_SPEAK.search(text) is not None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text for the model, and the place in the plain line of the first letter of each word."""

    text: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, begin: int, text: str, *changes: tuple[int, int, str]) -> Self:
        """A text that begins at the place `begin` of the line, with some changes."""
        new = Rewriting(text, changes)
        words = (match.start() for match in _WORD.finditer(new.text))
        return cls(new.text, tuple(begin + new.old_span(one, one + 1)[0] for one in words))


class _Sign(NamedTuple):
    """A character of a translation. `places` are those of its word's source words in the plain
    line, and `sure` is the confidence of its word; marks that no model wrote have neither."""

    text: str
    places: tuple[int, ...] = ()
    sure: float | None = None


class _Put(NamedTuple):
    """Speech takes the place of the characters `begin` to `end` in the translation of its report:
    the first `length` characters of its own translation, between the marks `before` and `after`."""

    begin: int
    end: int
    before: str
    length: int
    after: str


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A line with direct speech, in pieces for the model.

    `pieces(number)` are the texts to translate, with the stand-ins of a try, counted from 0.
    `joined` makes the translation of the line from theirs.
    """

    line: str
    plain: Plain
    sentences: Sequence[Sentence]
    source: str
    target: str
    normaliser: Normaliser

    @classmethod
    def of(cls, line: str, languages: tuple[str, str], normaliser: Normaliser) -> Self | None:
        """A line, if it has direct speech, and if stand-ins for its language are known.

        A model without a normaliser reads lines as they are typed: the result is None."""
        if not normaliser.name or not TONGUES.keys() >= set(languages):
            return None
        plain = normaliser.plain(line)
        sentences = spoken_sentences(plain.text)
        return cls(line, plain, sentences, *languages, normaliser) if sentences else None

    @property
    def tries(self) -> int:
        """The number of tries, each with other stand-ins."""
        return len(TONGUES[self.source].speech.stand_ins)

    def pieces(self, number: int = 0) -> list[str]:
        """The texts to translate in a try: of each sentence its speech, then its report."""
        return [one.text for some in self._pieces(number) for one in some]

    def joined(self, found: Sequence[Translation], number: int = 0) -> Translation | None:
        """The translation of the line, from those of `pieces(number)`; None if a report has
        lost a stand-in."""
        waiting = iter(found)
        dresser = self.normaliser.dresser(self.line, self.target)
        parts: list[Translation] = []
        ends: list[str] = []
        begin = 0
        for sentence, pieces in zip(self.sentences, self._pieces(number), strict=True):
            own = [next(waiting) for _ in pieces]
            signs = self._signs(sentence, pieces, own, number)
            if signs is None:
                return None
            last = sentence is self.sentences[-1]
            end = len(self.line) if last else self.plain.typed(sentence.begin, sentence.end)[1]
            typed = self.line[begin:end].rstrip()
            parts.append(self._translation(begin, typed, signs, own, dresser))
            ends.append(self.line[begin + len(typed) : end])
            begin = end
        return joined(self.line, parts, ends)

    def _pieces(self, number: int) -> Iterator[list[_Piece]]:
        """The pieces of each sentence."""
        for one in self.sentences:
            found = [_spoken(each) for each in one.speeches]
            if one.reports or not found:
                found.append(self._report(one, TONGUES[self.source].speech.stand_ins[number]))
            yield found

    def _report(self, sentence: Sentence, word: str) -> _Piece:
        """A sentence with a word for each speech. It ends before speech that goes on."""
        begin, text = sentence.begin, self._text(sentence)
        changes = []
        for one in sentence.speeches:
            b, e = one.begin - begin, one.end - begin
            if sentence.last_goes_on and one is sentence.speeches[-1]:
                changes.append((len(text[:b].rstrip(" ,:")), len(text), "."))
            elif not text[e:].strip(" ,.!?"):
                changes.append((b, len(text), f'"{word}."'))
            else:
                comma = f'"{word}",' if self.source in COMMA_OUTSIDE else f'"{word},"'
                changes.append((b, e + text.startswith(",", e), comma))
        return _Piece.of(begin, text, *changes)

    def _text(self, sentence: Sentence) -> str:
        return self.plain.text[sentence.begin : sentence.end].rstrip()

    def _signs(
        self,
        sentence: Sentence,
        pieces: Sequence[_Piece],
        found: Sequence[Translation],
        number: int,
    ) -> list[_Sign] | None:
        """The translation of a sentence, from those of its pieces in a try."""
        signs = [
            _signs_of(piece, _as_spoken(speech, one))
            for piece, speech, one in zip(pieces, sentence.speeches, found, strict=False)
        ]
        said = ["".join(one.text for one in some) for some in signs]
        if len(found) > len(said):
            whole, frame = _signs_of(pieces[-1], found[-1]), found[-1].text
            lost_a_quote = frame.count('"') != pieces[-1].text.count('"')
            puts = None if lost_a_quote else self._puts(sentence, frame, said, number)
        else:
            whole, begin = _marks(self._text(sentence)), sentence.begin
            puts = [
                _Put(one.begin - begin, one.end - begin, '"', len(text), '"')
                for one, text in zip(sentence.speeches, said, strict=True)
            ]
        if puts is None:
            return None
        for put, some in reversed(list(zip(puts, signs, strict=True))):
            inside = [*_marks(put.before), *some[: put.length], *_marks(put.after)]
            whole[put.begin : put.end] = inside
        if not sentence.speeches:
            return whole
        quote = self.plain.text[sentence.speeches[0].begin]  # a double or a single one
        return [one._replace(text=quote) if one.text == '"' else one for one in whole]

    def _puts(
        self, sentence: Sentence, frame: str, said: Sequence[str], number: int
    ) -> list[_Put] | None:
        """The places of speech in the translation of its report; None if they are not sure."""
        standing = said[:-1] if sentence.last_goes_on else said
        style = TONGUES[self.target].speech
        word = style.stand_ins[number]
        quoted = [one for one in _QUOTED.finditer(frame) if one[1].strip(" ,.!?¿¡") == word]
        if len(quoted) != len(standing):
            return None
        puts = []
        for place, text in zip(quoted, standing, strict=True):
            length, mark = _without_mark(text)
            begin, end = place.span()
            before = '"'
            bare = frame[:begin].rstrip(" ,:")
            if style.mark_before != "," and bare[-1:].isalnum():
                begin, before = len(bare), f'{style.mark_before} "'
            if not frame[end:].strip(END_MARKS + ", "):
                puts.append(_Put(begin, len(frame), before, length, self._end(mark)))
                continue
            after = _AFTER.match(frame, end)
            end = after.end() if after else end
            mark = "" if mark == "." else mark
            comma = f'{mark}", ' if self.target in COMMA_OUTSIDE else f'{mark or ","}" '
            puts.append(_Put(begin, end, before, length, comma))
        if sentence.last_goes_on:
            length, mark = _without_mark(said[-1])
            end = len(frame.rstrip(END_MARKS))
            puts.append(_Put(end, len(frame), ', "', length, self._end(mark)))
        return puts

    def _end(self, mark: str) -> str:
        """The end of a sentence whose last words are speech, from the end mark of the speech."""
        outside = TONGUES[self.target].speech.stop_outside and mark in ("", ".")
        return '".' if outside else f'{mark or "."}"'

    def _translation(
        self,
        begin: int,
        typed: str,
        signs: Sequence[_Sign],
        made: Sequence[Translation],
        dresser: Dresser,
    ) -> Translation:
        """The translation of a sentence, which is typed at the place `begin` of the line."""
        text = "".join(one.text for one in signs)
        words = [signs[slice(*match.span())] for match in _WORD.finditer(text)]
        bare = typed.lstrip()
        notes = [
            renamed(note, one.source, bare)
            for one in made
            for note in without_doubts(one.notes, one.sentence_confidences)
        ]
        each = [part for one in made for part in one.sentence_confidences]
        confidence, tokens = confidence_of(each), sum(one.tokens for one in each)
        doubtful = tuple(word for one in each for word in one.doubtful if word in text)
        aligned = all(one.alignment is not None for one in made)
        sure: list[list[float]] = []
        for word in words:
            own = [one.sure for one in word if one.sure is not None]
            alone = not any(one.text.isalnum() for one in word)  # a mark, as before French speech
            sure.append(sure[-1] if alone and not own and sure else own)
        dressed = dresser.whole(text)
        numbers = same_words(text, dressed)
        return Translation(
            source=typed,
            text=typed[: len(typed) - len(bare)] + dressed,
            **scored_tokens(made),
            alignment=self._alignment(begin, typed, words, numbers) if aligned else None,
            notes=tuple(notes),
            confidence=confidence,
            sentence_confidences=()
            if confidence is None
            else (SentenceConfidence(bare, text, confidence, tokens, doubtful),),
            word_confidences=spread(tuple(map(min, sure)), text, dressed) if all(sure) else (),
        )

    def _alignment(
        self,
        begin: int,
        typed: str,
        words: Sequence[Sequence[_Sign]],
        numbers: Sequence[int],
    ) -> tuple[tuple[int, int], ...]:
        """The word alignment of a sentence, which is typed at the place `begin` of the line.
        `numbers` are those of the words of its translation."""
        ties = [
            (self.plain.typed(place, place + 1), n)
            for n, word in zip(numbers, words, strict=True)
            for place in {place for sign in word for place in sign.places}
        ]
        sources = words_at(typed, [(b - begin, e - begin) for (b, e), _ in ties])
        pairs = zip(sources, (n for _, n in ties), strict=True)
        return tuple(sorted({(s, n) for s, n in pairs if s >= 0}))


def _spoken(speech: Speech) -> _Piece:
    """Speech as a sentence: it ends with a full stop, unless it has another end."""
    words, end = speech.words, len(speech.words)
    if words.endswith((".", "!", "?")):
        return _Piece.of(speech.begin + 1, words)
    return _Piece.of(speech.begin + 1, words, (end - words.endswith(","), end, "."))


def _as_spoken(speech: Speech, found: Translation) -> Translation:
    """The translation of speech that goes on in small letters, in small letters too."""
    text = found.text
    if not speech.words[0].islower() or _ENGLISH_I.match(text):
        return found
    return replace(found, text=text[:1].lower() + text[1:])


def _marks(text: str) -> list[_Sign]:
    return [_Sign(one) for one in text]


def _signs_of(piece: _Piece, found: Translation) -> list[_Sign]:
    """The characters of the translation of a piece."""
    places: dict[int, list[int]] = defaultdict(list)
    for source, target in found.alignment or ():
        places[target].append(piece.places[source])
    sure = dict(enumerate(found.word_confidences))
    signs = _marks(found.text)
    for n, word in enumerate(_WORD.finditer(found.text)):
        own = tuple(places[n]), sure.get(n)
        signs[slice(*word.span())] = [_Sign(one, *own) for one in word[0]]
    return signs


def _without_mark(text: str) -> tuple[int, str]:
    """The length of a translation without its end marks, and these."""
    length = len(text.rstrip(END_MARKS))
    return length, text[length:]
