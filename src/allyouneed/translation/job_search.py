"""The search of a job: a segment may be searched several times, and one result of it is used."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.links import Aligned
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.terms import WantedTerms
from allyouneed.engine.engine import Engine
from allyouneed.translation.found import Found
from allyouneed.translation.job import Job
from allyouneed.translation.request import Options
from allyouneed.translation.rules import TextRules
from allyouneed.translation.segments import Segmenter
from allyouneed.translation.terms.spelling import TermSpeller

if TYPE_CHECKING:
    from allyouneed.core.transformer import Transformer

WIDER = 8  # the beam of the second search
NEAR = 0.5  # nats a token


class JobSearch:
    """Searches the translations of a job's segments.

    A segment in capitals is also searched in small letters; the more probable of the two
    translations is used. A translation that has lost a number, a quote, a bracket, a negation or a
    clause is searched again, in a wider beam: the first hypothesis that has lost nothing is used if
    it is finished and less than `NEAR` nats a token less probable.
    """

    def __init__(self, segmenter: Segmenter, rules: TextRules) -> None:
        self._segmenter = segmenter
        self._rules = rules
        self._speller = TermSpeller(segmenter.tokenizer.target, segmenter.normaliser)

    def found(
        self,
        job: Job,
        engine: Engine,
        notes: Sequence[str],
        model: "Callable[[], Transformer]",
    ) -> list[Found]:
        """The result for each segment. Each has the `notes`. `model` loads the core model, for an
        engine that keeps no attention."""
        both, small = job.with_small_letters(self._segmenter)
        told = [list(notes) for _ in both.segments]
        heads = self._rules.alignment_heads if job.request.alignments else None

        def hypotheses_of(some: Job, options: Options) -> list[list[Hypothesis]]:
            if isinstance(options, BeamOptions):
                options = self._rules.searching(options)
            return engine.search(
                some.ids,
                options,
                some.prefixes,
                some.numbers(),
                heads,
                note=lambda n, text: told[n].append(text) if some is both else None,
                terms=self._wanted(some),
            )

        hypotheses = hypotheses_of(both, job.request.searched)
        taken = list(range(len(job.segments)))
        for other, number in enumerate(small, len(taken)):
            if hypotheses[other][0].log_probability > hypotheses[number][0].log_probability:
                taken[number] = other
        found = [hypotheses[n] for n in taken]
        lost = [self._lost(both, number, found[n][0]) for n, number in enumerate(taken)]
        wider = _wider(job.request.searched) if any(lost) else None
        if wider:
            again = [n for n, faults in enumerate(lost) if faults]
            part = both.part([taken[n] for n in again])
            for at, (n, others) in enumerate(zip(again, hypotheses_of(part, wider), strict=True)):
                whole = [one for one in others if not self._lost(part, at, one)]
                if whole and _is_near(whole[0], found[n][0]):
                    found[n], lost[n] = whole[:1], ()
        alignments: list[Aligned | None] = [None] * len(taken)
        if heads and taken:
            searched = replace(job, ids=[both.ids[n] for n in taken])
            alignments = [*self._alignments(searched, [one[0] for one in found], heads, model)]
        return [
            Found(
                one,
                alignment,
                tuple(told[n]),
                in_capitals=n >= len(taken),
                source_ids=both.ids[n],
                calibration=self._rules.calibration,
                faults=faults,
            )
            for n, one, alignment, faults in zip(taken, found, alignments, lost, strict=True)
        ]

    def _lost(self, job: Job, number: int, best: Hypothesis) -> tuple[str, ...]:
        """What a translation of the segment `number` of a job has lost."""
        segment, given = job.segments[number], job.request.searched.given
        written = self._segmenter.tokenizer.target.decode(best.ids[given:]).strip()
        return self._segmenter.lost(segment, written, job.request.languages_of(segment.seen))

    def _wanted(self, job: Job) -> WantedTerms | None:
        """The terms that the search of a job has to use; None if there are none, or if the model
        reads them in the source."""
        terms = [segment.terms for segment in job.segments]
        if not any(terms) or self._rules.term_mark is not None:
            return None
        spans: list[list[tuple[int, int]]] = [[] for _ in terms]
        told = len(job.request.direction.source_mark)
        for n, (segment, ids) in enumerate(zip(job.segments, job.ids, strict=True)):
            if segment.terms:
                own = self._segmenter.tokenizer.spans(ids[told:])
                before = len(self._segmenter.tokenizer.decode(ids[told:])) - len(segment.seen)
                spans[n] = [(-1, -1)] * told + [(b - before, e - before) for b, e in own]
        return self._speller.wanted(terms, spans, self._rules.alignment_heads)

    def _alignments(
        self,
        job: Job,
        best: Sequence[Hypothesis],
        heads: AlignmentHeads,
        model: "Callable[[], Transformer]",
    ) -> list[Aligned]:
        """The links of each segment's best hypothesis, from the attention that the search kept,
        or from the core model's attention if the engine keeps none."""
        if any(one.attention_TS is None for one in best):
            from allyouneed.translation.teacher_forcing import align

            targets = [one.ids for one in best]
            return align(model(), self._segmenter.tokenizer, job.segments, job.ids, targets, heads)
        return [
            segment.aligned(one.attention_TS, ids, one.ids, self._segmenter.tokenizer)
            for segment, ids, one in zip(job.segments, job.ids, best, strict=True)
            if one.attention_TS is not None
        ]


def _wider(options: Options) -> Options | None:
    """The options of the second search. None if the user asked for several translations, for
    sampling or for greedy search: then there is no second search."""
    if not isinstance(options, BeamOptions) or options.beam < 2 or options.n_best > 1:
        return None
    return replace(options, beam=max(WIDER, options.beam), n_best=max(WIDER, options.beam))


def _is_near(other: Hypothesis, best: Hypothesis) -> bool:
    """Whether a hypothesis is hardly less probable, token by token, than the best one."""
    ahead = best.log_probability / len(best.ids) - other.log_probability / len(other.ids)
    return other.finished and ahead < NEAR
