"""A translation in pieces, each of which is returned as soon as the model has written it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from allyouneed.engine.engine import Engine
from allyouneed.translation.assembly import CUT_OFF
from allyouneed.translation.found import Found
from allyouneed.translation.job import Job
from allyouneed.translation.result import Translation
from allyouneed.translation.segments import Segmenter


class Stream(Iterator[str]):
    """Iterates over the pieces of one translation. A piece never ends within a character.

    `notes` are the notes of a `Translation`. They are complete after the last piece.
    """

    def __init__(self, notes: Sequence[str] = ()) -> None:
        self.notes: tuple[str, ...] = tuple(notes)
        self._pieces: Iterator[str] = iter(())

    @classmethod
    def of_job(
        cls,
        job: Job,
        engine: Engine,
        segmenter: Segmenter,
        search: Callable[[Job], Sequence[Found]],
        notes: Sequence[str] = (),
    ) -> "Stream":
        """The stream of a job with one text. `search` translates the segments that cannot grow."""
        [cut] = job.cuts
        stream = cls((*cut.notes, *notes))
        stream._pieces = stream._grow(job, engine, segmenter, search)
        return stream

    @classmethod
    def of_lines(
        cls,
        lines: Iterable[tuple[str, str, bool]],
        whole: Callable[[str], Translation],
        growing: "Callable[[str], Stream]",
        notes: Sequence[str] = (),
    ) -> "Stream":
        """The stream of some lines, each given as (text, line end, whether it can grow). `growing`
        translates lines that can grow, and `whole` translates the others."""
        stream = cls(notes)
        stream._pieces = stream._join(lines, whole, growing)
        return stream

    def __next__(self) -> str:
        return next(self._pieces)

    def _join(
        self,
        lines: Iterable[tuple[str, str, bool]],
        whole: Callable[[str], Translation],
        growing: "Callable[[str], Stream]",
    ) -> Iterator[str]:
        for line, end, can_grow in lines:
            if can_grow:
                pieces = growing(line)
                yield from pieces
                notes = pieces.notes
            else:
                found = whole(line)
                yield found.text
                notes = found.notes
            yield end
            self.notes = tuple(dict.fromkeys([*self.notes, *notes]))

    def _grow(
        self,
        job: Job,
        engine: Engine,
        segmenter: Segmenter,
        search: Callable[[Job], Sequence[Found]],
    ) -> Iterator[str]:
        [text], [cut] = job.texts, job.cuts
        request, options = job.request, job.request.searched
        dresser = segmenter.dresser(text, request.prefix.lstrip(), request.direction.target)
        prefixes = job.prefixes or [[]] * len(job.ids)
        sentences = zip(job.ids, prefixes, job.numbers(), strict=True)
        finished = True
        for segment in cut.segments:
            yield segment.before
            if segment.small is not None:  # the better reading is known at the end only
                ids, prefix, _ = next(sentences)
                alone = replace(job, segments=[segment], ids=[ids], prefixes=[prefix])
                [one] = search(alone)
                best = one.hypotheses[0]
                yield segment.finished(one.text(best, segmenter.tokenizer, options.given), dresser)
                finished = finished and best.finished
            elif segment.text:
                ids, prefix, number = next(sentences)
                growing, newest = segmenter.tokenizer.target.growing(), -1
                found = engine.stream(ids, options, prefix, number)
                yield dresser.add(segment.opening)
                waiting = ""  # the end, whose marks depend on the source
                for newest in islice(found, options.given, None):
                    waiting += growing.add(newest)
                    certain = dresser.certain(waiting, segment.seen)
                    yield dresser.add(waiting[:certain])
                    waiting = waiting[certain:]
                waiting = (waiting + growing.end()).rstrip()
                yield dresser.add(dresser.ended(waiting, segment.seen) + segment.closing)
                yield dresser.end()
                finished = finished and newest == engine.config.end
            yield segment.after
        if not finished:
            self.notes = (*self.notes, CUT_OFF)
