"""Puts the translations of a text's segments together as the translation of the text."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.links import Aligned, Alignment, CharacterLinks, Span
from allyouneed.decoding.options import BeamOptions
from allyouneed.model_folder.confidence import Calibration
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.confidence import (
    MOST_WITH_FAULT,
    SentenceConfidence,
    confidence_of,
    doubtful_words,
    doubts,
    sureness,
    words_of,
)
from allyouneed.translation.faults import told
from allyouneed.translation.lost import told_lost
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.segments import Cut, Segmenter
from allyouneed.translation.terms.use import TermUse, unused_note
from allyouneed.translation.words import WordCounter, same_words, spread

CUT_OFF = "stopped at the length limit before the end of a sentence"


@dataclass(frozen=True, slots=True)
class Found:
    """What the search found for one segment.

    `alignment` belongs to the first hypothesis and counts words from 0 in the segment. `notes` say
    how the search ran. If `in_capitals`, the hypotheses translate the segment in small letters, and
    their text is shown in capitals. `calibration` gives the confidence in a hypothesis;
    the tokens of the source, `source_ids`, are among its signals. `faults` are what
    the first hypothesis has lost (`lost.lost`).
    """

    hypotheses: Sequence[Hypothesis]
    alignment: Aligned | None = None
    notes: tuple[str, ...] = ()
    in_capitals: bool = False
    source_ids: Sequence[int] = ()
    calibration: Calibration | None = None
    faults: tuple[str, ...] = ()

    def text(self, hypothesis: Hypothesis, tokenizer: AnyTokenizer, given: int) -> str:
        """The text of a hypothesis, without the `given` tokens at its beginning, such as the mark
        of a language."""
        text = tokenizer.target.decode(hypothesis.ids[given:]).strip()
        return text.upper() if self.in_capitals else text

    def sureness(
        self, hypothesis: Hypothesis, tokenizer: AnyTokenizer, given: int, source: str, target: str
    ) -> tuple[float, tuple[float, ...]] | None:
        """The confidence in a hypothesis, as the translation `target` of `source`, and in each of
        its words; None without a calibration."""
        ids = hypothesis.ids[given:]
        if self.calibration is None or not ids:
            return None
        return sureness(
            self.calibration,
            hypothesis.token_log_probabilities[given:],
            [tokenizer.target.piece(id) for id in ids],
            self.source_ids,
            ids,
            source,
            target,
            finished=hypothesis.finished,
        )


def put_together(
    source: str, cut: Cut, found: Sequence[Found], segmenter: Segmenter, request: TranslationRequest
) -> Translation:
    """The translation of a text, with as many alternatives as the request asks for.

    `found` has one entry for each segment of `cut` that is not blank.
    """
    options = request.searched
    lists = [one.hypotheses for one in found]
    if isinstance(options, BeamOptions):
        wanted, ways = options.n_best, best_combinations(lists, options.n_best)
    else:  # sample n of the text is sample n of each of its parts
        wanted, ways = options.samples, list(zip(*lists, strict=True)) or [()]
    notes = tuple(dict.fromkeys([*cut.notes, *(note for one in found for note in one.notes)]))
    texts = [_one_way(source, cut, found, way, notes, segmenter, request) for way in ways]
    if wanted == 1 and not request.alignments:
        return texts[0]
    return replace(
        texts[0],
        alternatives=tuple(texts) if wanted > 1 else (),
        alignment=_alignment(source, cut, found, segmenter, request)
        if request.alignments
        else None,
    )


def _one_way(
    source: str,
    cut: Cut,
    found: Sequence[Found],
    way: Sequence[Hypothesis],
    notes: Sequence[str],
    segmenter: Segmenter,
    request: TranslationRequest,
) -> Translation:
    """The translation made of the hypotheses in `way`, one for each segment that is not blank."""
    tokenizer, given = segmenter.tokenizer, request.searched.given
    waiting = iter(zip(found, way, strict=True))
    dresser = segmenter.dresser(source, request.prefix.lstrip(), request.direction.target)
    languages = request.languages_of(source)
    texts: list[str] = []
    terms: list[TermUse] = []
    unused: list[str] = []
    faults: list[tuple[str, str]] = []
    begin, length = 0, 0  # of the segment in the source, and of the translation so far
    sentences: list[SentenceConfidence] = []
    words: list[Sequence[float]] = []
    links: list[tuple[Span, Span]] = []
    for segment in cut.segments:
        text = ""
        if segment.text:
            one, hypothesis = next(waiting)
            written = segmenter.written(segment, one.text(hypothesis, tokenizer, given), languages)
            text = segment.finished(written, dresser)
            lost = one.faults if hypothesis is one.hypotheses[0] else ()
            faults += ((segment.text, fault) for fault in lost)
            if hypothesis is one.hypotheses[0]:
                inside = max(text.find(written), 0)
                places = begin + len(segment.before), length + len(segment.before) + inside
                links += _moved(one.alignment.characters if one.alignment else (), *places)
            sure = None
            if request.judged:
                sure = one.sureness(hypothesis, tokenizer, given, segment.seen, written)
            if sure is not None:
                count = len(hypothesis.ids) - given
                doubtful = doubtful_words(sure[1], written)
                whole = (
                    min(sure[0], MOST_WITH_FAULT) if lost or told(segment.text, text) else sure[0]
                )
                sentences.append(SentenceConfidence(segment.text, text, whole, count, doubtful))
                words.append(spread(sure[1], written, text))
        texts += (segment.before, text, segment.after)
        for use in segment.term_uses(text, segmenter.normaliser) if segment.terms else ():
            if not use.used:
                unused.append(unused_note(use, inflected=segmenter.term_mark is not None))
            terms.append(use.moved(begin + len(segment.before), length + len(segment.before)))
        begin += len(segment.before) + len(segment.text) + len(segment.after)
        length += len(segment.before) + len(text) + len(segment.after)
    cut_off = [] if all(hypothesis.finished for hypothesis in way) else [CUT_OFF]
    text = "".join(texts)
    piece = tokenizer.target.piece
    faulty = [*told(source, text), *told_lost(faults)] if request.judged else []
    return Translation(
        source=source,
        text=text,
        tokens=tuple(piece(id) for hypothesis in way for id in hypothesis.ids[given:]),
        token_log_probabilities=tuple(
            log_p for hypothesis in way for log_p in hypothesis.token_log_probabilities[given:]
        ),
        notes=(
            *notes,
            *cut_off,
            *faulty,
            *doubts(sentences),
            *dict.fromkeys(unused),
        ),
        confidence=confidence_of(sentences),
        sentence_confidences=tuple(sentences),
        word_confidences=words_of(words, text),
        terms=tuple(terms),
        character_links=tuple(links),
    )


def _moved(links: CharacterLinks, source: int, target: int) -> Iterator[tuple[Span, Span]]:
    """The links, where `source` and `target` more characters stand before them."""
    for (b, e), (begin, end) in links:
        yield (b + source, e + source), (begin + target, end + target)


def best_combinations(
    lists: Sequence[Sequence[Hypothesis]], count: int
) -> list[tuple[Hypothesis, ...]]:
    """The `count` best ways to take one hypothesis from each list, by the sum of their scores.

    The lists are sorted by score, so the first way takes the first hypothesis of each list.
    """
    best: list[tuple[float, tuple[Hypothesis, ...]]] = [(0.0, ())]
    for hypotheses in lists:
        longer = ((score + h.score, way, h) for score, way in best for h in hypotheses)
        ways = heapq.nlargest(count, longer, key=itemgetter(0))
        best = [(score, (*way, h)) for score, way, h in ways]
    return [way for _, way in best]


def _alignment(
    text: str,
    cut: Cut,
    found: Sequence[Found],
    segmenter: Segmenter,
    request: TranslationRequest,
) -> Alignment:
    """The alignments of the segments as one alignment, which counts words through the whole
    text."""
    source, target = WordCounter(), WordCounter()
    tokenizer, given = segmenter.tokenizer, request.searched.given
    dresser = segmenter.dresser(text, request.prefix.lstrip(), request.direction.target)
    waiting = iter(found)
    links: list[tuple[int, int]] = []
    for segment in cut.segments:
        source.add(segment.before)
        target.add(segment.before)
        if segment.text:
            one = next(waiting)
            written = one.text(one.hypotheses[0], tokenizer, given)
            finished = segment.finished(written, dresser)
            numbers = same_words(written, finished)
            words = one.alignment.words if one.alignment else ()
            links += [(source.next + i, target.next + numbers[j]) for i, j in words]
            source.add(segment.text)
            target.add(finished)
        source.add(segment.after)
        target.add(segment.after)
    return tuple(links)
