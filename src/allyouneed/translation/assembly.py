"""Puts the translations of a text's segments together as the translation of the text."""

import heapq
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.links import Alignment
from allyouneed.decoding.options import BeamOptions
from allyouneed.translation.confidence import confidence_of, doubts, words_of
from allyouneed.translation.faults import told
from allyouneed.translation.found import Found
from allyouneed.translation.lost import told_lost
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.segments import Cut, Segmenter
from allyouneed.translation.terms.use import unused_note
from allyouneed.translation.translated_segment import TranslatedSegment
from allyouneed.translation.words import WordCounter, same_words

CUT_OFF = "stopped at the length limit before the end of a sentence"


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
    parts = _parts(source, cut, found, way, segmenter, request)
    text = "".join(part.whole for part in parts)
    sentences = [part.sentence for part in parts if part.sentence]
    faults = ((part.segment.text, fault) for part in parts for fault in part.faults)
    terms = tuple(use for part in parts for use in part.terms)
    unused = (
        unused_note(use, inflected=segmenter.term_mark is not None) for use in terms if not use.used
    )
    given, piece = request.searched.given, segmenter.tokenizer.target.piece
    return Translation(
        source=source,
        text=text,
        tokens=tuple(piece(id) for hypothesis in way for id in hypothesis.ids[given:]),
        token_log_probabilities=tuple(
            log_p for hypothesis in way for log_p in hypothesis.token_log_probabilities[given:]
        ),
        notes=(
            *notes,
            *([] if all(hypothesis.finished for hypothesis in way) else [CUT_OFF]),
            *([*told(source, text), *told_lost(faults)] if request.judged else []),
            *doubts(sentences),
            *dict.fromkeys(unused),
        ),
        confidence=confidence_of(sentences),
        sentence_confidences=tuple(sentences),
        word_confidences=words_of((part.words for part in parts), text),
        terms=terms,
        character_links=tuple(link for part in parts for link in part.links),
    )


def _parts(
    source: str,
    cut: Cut,
    found: Sequence[Found],
    way: Sequence[Hypothesis],
    segmenter: Segmenter,
    request: TranslationRequest,
) -> list[TranslatedSegment]:
    """The segments of `source` with their translations by the hypotheses in `way`."""
    dresser = segmenter.dresser(source, request.prefix.lstrip(), request.direction.target)
    languages = request.languages_of(source)
    waiting = iter(zip(found, way, strict=True))
    parts: list[TranslatedSegment] = []
    begin, length = 0, 0  # of the segment in the source, and of the translation so far
    for segment in cut.segments:
        part = TranslatedSegment(segment)
        if segment.text:
            one, hypothesis = next(waiting)
            part = TranslatedSegment.of(
                segment, one, hypothesis, segmenter, request, dresser, languages
            )
        parts.append(part.moved(begin, length))
        begin += len(segment.before) + len(segment.text) + len(segment.after)
        length += len(part.whole)
    return parts


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
