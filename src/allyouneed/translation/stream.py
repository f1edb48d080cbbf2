"""A translation that is shown while it grows."""

from collections.abc import Iterator, Sequence
from itertools import islice

from allyouneed.engine.engine import Engine
from allyouneed.translation.assembly import CUT_OFF
from allyouneed.translation.job import Job
from allyouneed.translation.segments import Segmenter


class Stream(Iterator[str]):
    """The pieces of one translation, whole characters only.

    `notes` say what was done to the text beyond translating it; they are complete at the end.
    """

    def __init__(
        self, job: Job, engine: Engine, segmenter: Segmenter, notes: Sequence[str] = ()
    ) -> None:
        """`job` holds one text."""
        [cut] = job.cuts
        self.notes: tuple[str, ...] = (*cut.notes, *notes)
        self._pieces = self._grow(job, engine, segmenter)

    def __next__(self) -> str:
        return next(self._pieces)

    def _grow(self, job: Job, engine: Engine, segmenter: Segmenter) -> Iterator[str]:
        [text], [cut] = job.texts, job.cuts
        request, options = job.request, job.request.searched
        dresser = segmenter.dresser(text, request.prefix.lstrip(), request.direction.target)
        prefixes = job.prefixes or [[]] * len(job.ids)
        sentences = zip(job.ids, prefixes, job.numbers(), strict=True)
        finished = True
        for segment in cut.segments:
            yield segment.before
            if segment.text:
                ids, prefix, number = next(sentences)
                growing, newest = segmenter.tokenizer.target.growing(), -1
                found = engine.stream(ids, options, prefix, number)
                for newest in islice(found, options.given, None):
                    yield dresser.add(growing.add(newest))
                yield dresser.add(growing.end())
                yield dresser.end()
                finished = finished and newest == engine.config.end
            yield segment.after
        if not finished:
            self.notes = (*self.notes, CUT_OFF)
