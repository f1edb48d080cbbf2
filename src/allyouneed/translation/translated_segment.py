"""A segment of a text with its translation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.links import CharacterLinks
from allyouneed.text.dressing import Dresser
from allyouneed.translation.confidence import (
    MOST_WITH_FAULT,
    SentenceConfidence,
    doubtful_words,
)
from allyouneed.translation.faults import told
from allyouneed.translation.found import Found
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.segments import Segment, Segmenter
from allyouneed.translation.terms.use import TermUse
from allyouneed.translation.words import spread


@dataclass(frozen=True, slots=True)
class TranslatedSegment:
    """A segment and `text`, its translation by one hypothesis. A blank segment has no text.

    `links` and `terms` count characters from the segment's begin (`moved` changes that). `faults`
    are what the translation lost. `sentence` is the confidence in it and `words` are those in its
    words, where the request asks for confidences and the model has a calibration.
    """

    segment: Segment
    text: str = ""
    links: CharacterLinks = ()
    terms: tuple[TermUse, ...] = ()
    faults: tuple[str, ...] = ()
    sentence: SentenceConfidence | None = None
    words: Sequence[float] = ()

    @classmethod
    def of(
        cls,
        segment: Segment,
        found: Found,
        hypothesis: Hypothesis,
        segmenter: Segmenter,
        request: TranslationRequest,
        dresser: Dresser,
        languages: tuple[str, str],
    ) -> "TranslatedSegment":
        """The segment with its translation by `hypothesis`, one of those that were `found`."""
        tokenizer, given = segmenter.tokenizer, request.searched.given
        bare = found.text(hypothesis, tokenizer, given)
        written = segmenter.written(segment, bare, languages)
        text = segment.finished(written, dresser)
        faults: tuple[str, ...] = ()
        links: CharacterLinks = ()
        if hypothesis is found.hypotheses[0]:
            faults = found.faults
            if found.alignment:
                links = _moved(found.alignment.characters, 0, max(text.find(written), 0))
        sentence: SentenceConfidence | None = None
        words: Sequence[float] = ()
        if request.judged and (
            sure := found.sureness(
                hypothesis,
                tokenizer,
                given,
                segment.seen,
                written,
                _demanded(segment, written, segmenter),
            )
        ):
            confidence, of_words = sure
            if faults or told(segment.text, text):
                confidence = min(confidence, MOST_WITH_FAULT)
            count, doubtful = len(hypothesis.ids) - given, doubtful_words(of_words, written)
            sentence = SentenceConfidence(segment.text, text, confidence, count, doubtful)
            words = spread(of_words, written, text)
        uses = segment.term_uses(text, segmenter.normaliser) if segment.terms else ()
        return cls(segment, text, links, tuple(uses), faults, sentence, words)

    @property
    def whole(self) -> str:
        """The translation with the white space around it."""
        return f"{self.segment.before}{self.text}{self.segment.after}"

    def moved(self, source: int, target: int) -> "TranslatedSegment":
        """The same, where characters are counted from the begin of texts in which `source` and
        `target` characters stand before the segment and its white space."""
        if not self.links and not self.terms:
            return self
        before = len(self.segment.before)
        places = source + before, target + before
        return replace(
            self,
            links=_moved(self.links, *places),
            terms=tuple(use.moved(*places) for use in self.terms),
        )


def _demanded(segment: Segment, written: str, segmenter: Segmenter) -> set[int]:
    """The words of the translation `written` that the glossary demands, by their numbers."""
    uses = segment.term_uses(written, segmenter.normaliser) if segment.terms else ()
    spans = [use.target for use in uses if use.target]
    words = enumerate(match.span() for match in re.finditer(r"\S+", written))
    return {n for n, (b, e) in words if any(b < end and begin < e for begin, end in spans)}


def _moved(links: CharacterLinks, source: int, target: int) -> CharacterLinks:
    """The links, where `source` and `target` more characters stand before them."""
    return tuple(
        ((b + source, e + source), (begin + target, end + target)) for (b, e), (begin, end) in links
    )
