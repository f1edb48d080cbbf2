"""Texts on their way through the translator: cut and tokenised, searched, put together."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.text.clean import clean
from allyouneed.text.languages import UNNAMED, Direction
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.result import Translation
from allyouneed.translation.segments import Segment, Segmenter, put_together

Options = BeamOptions | SamplingOptions


@dataclass(frozen=True, slots=True)
class Wishes:
    """How to translate: the search, what every text begins with, whether words are aligned, from
    which language into which. `options` are as asked for; `searched` count the target's mark."""

    options: Options
    prefix: str = ""
    alignments: bool = False
    direction: Direction = UNNAMED

    @property
    def searched(self) -> Options:
        """The options of the search itself, in which the mark of the target's language is given."""
        return self.options.after(len(self.direction.target_mark))


def ids_of_prefix(tokenizer: AnyTokenizer, prefix: str) -> list[int]:
    """What a translation has to begin with, as ids without an end; a blank prefix has none."""
    return tokenizer.target.encode(prefix.lstrip()).ids[:-1] if prefix.strip() else []


@dataclass(slots=True)
class Job:
    """Some texts, the segments of each with notes, and of those that are not blank the `ids`, and
    the `prefixes` that their translations have to begin with (None: no text has one)."""

    wishes: Wishes
    texts: Sequence[str]
    cut: list[tuple[list[Segment], list[str]]]
    to_do: list[Segment] = field(default_factory=list)
    ids: list[list[int]] = field(default_factory=list)
    prefixes: list[list[int]] | None = None

    @classmethod
    def of(cls, texts: Sequence[str], wishes: Wishes, segmenter: Segmenter) -> "Job":
        """Texts, cut and tokenised."""
        job = cls(wishes, texts, [segmenter.cut(text) for text in texts])
        tokenizer = segmenter.tokenizer
        prefix, said = clean(wishes.prefix)
        prefix_ids = ids_of_prefix(tokenizer, prefix)
        mark = wishes.direction.target_mark
        prefixes: list[list[int]] = []
        for segments, notes in job.cut:
            notes += [f"in the prefix, {one}" for one in said]
            for segment in segments:
                segment.alignment = "" if wishes.alignments else None
            not_blank = [segment for segment in segments if segment.text]
            job.to_do += not_blank
            prefixes += [[*mark, *([] if n else prefix_ids)] for n in range(len(not_blank))]
        job.prefixes = prefixes if prefix_ids or mark else None
        ids = tokenizer.encode_ids([segment.code + segment.seen for segment in job.to_do])
        job.ids = [[*wishes.direction.source_mark, *one] for one in ids]
        return job

    def numbers(self) -> list[int]:
        """For each segment to do, what its random numbers follow from beside the seed."""
        return [zlib.crc32(segment.text.encode()) for segment in self.to_do]

    def translations(self, segmenter: Segmenter) -> list[Translation]:
        """The texts' translations, when the hypotheses of all segments are found."""
        return [
            put_together(
                text,
                segments,
                notes,
                segmenter,
                self.wishes.searched,
                self.wishes.prefix.lstrip(),
                self.wishes.direction.target,
            )
            for text, (segments, notes) in zip(self.texts, self.cut, strict=True)
        ]
