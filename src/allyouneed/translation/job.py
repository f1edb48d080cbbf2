"""Texts cut and tokenised for the search, and their translations put together again."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from allyouneed.text.capitals import is_known, with_known_capitals
from allyouneed.text.clean import clean
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.assembly import put_together
from allyouneed.translation.found import Found
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.segments import Cut, Segment, Segmenter


def ids_of_prefix(tokenizer: AnyTokenizer, prefix: str) -> list[int]:
    """The ids of a prefix, without an end token; none for a blank prefix."""
    return tokenizer.target.encode(prefix.lstrip()).ids[:-1] if prefix.strip() else []


@dataclass(frozen=True, slots=True)
class Job:
    """Some texts, ready for the search.

    `cuts` are the texts in parts. `segments` are the parts that are not blank, and `ids` are their
    tokens. `prefixes` are the tokens with which their translations begin; None means no prefix.
    """

    request: TranslationRequest
    texts: Sequence[str]
    cuts: Sequence[Cut]
    segments: Sequence[Segment]
    ids: list[list[int]]
    prefixes: list[list[int]] | None

    @classmethod
    def of(cls, texts: Sequence[str], request: TranslationRequest, segmenter: Segmenter) -> "Job":
        """The texts, cut and tokenised."""
        tokenizer = segmenter.tokenizer
        prefix, said = clean(request.prefix)
        in_prefix = tuple(f"in the prefix, {one}" for one in said)
        cuts = [segmenter.cut(text, with_edges=bool(prefix.strip())) for text in texts]
        pairs = [request.languages_of(text) for text in texts]
        cuts = [
            cut.spelt_out(pair, segmenter.normaliser, request.terms)
            for cut, pair in zip(cuts, pairs, strict=True)
        ]
        if request.judged:
            cuts = [
                cut.with_language_checked(source) if source != target else cut
                for cut, (source, target) in zip(cuts, pairs, strict=True)
            ]
        cuts = [replace(cut, notes=cut.notes + in_prefix) for cut in cuts] if said else cuts
        if request.terms:
            cuts = [cut.with_terms(request.terms, segmenter) for cut in cuts]
        segments = [segment for cut in cuts for segment in cut.with_text()]
        prefixes, mark = None, request.direction.target_mark
        first = ids_of_prefix(tokenizer, prefix)
        if first or mark:  # of each text, the first part has the prefix
            numbers = (n for cut in cuts for n, _ in enumerate(cut.with_text()))
            prefixes = [[*mark, *([] if n else first)] for n in numbers]
        ids = segmenter.ids(segments, [segment.code + segment.seen for segment in segments])
        ids = [[*request.direction.source_mark, *one] for one in ids]
        return cls(request, texts, cuts, segments, ids, prefixes)

    def with_small_letters(self, segmenter: Segmenter) -> "tuple[Job, list[int]]":
        """The job with a copy in small letters of each segment in capitals, appended at the end,
        and the numbers of the segments that were copied. A word that may be a name is not copied.

        A segment with a prefix is not copied: the prefix decides how the translation is written.
        """
        mark = len(self.request.direction.target_mark)
        prefixes = self.prefixes or [[]] * len(self.segments)
        numbers = [
            n
            for n, (segment, prefix) in enumerate(zip(self.segments, prefixes, strict=True))
            if segment.small is not None and len(prefix) <= mark
        ]
        tokenizer = segmenter.tokenizer
        numbers = [n for n in numbers if is_known(self.segments[n].small or "", tokenizer)]
        if not numbers:
            return self, []
        segments = [self.segments[n].in_small_letters() for n in numbers]
        small = [  # "ss" stays with terms: "ß" is shorter, and terms are at character positions
            with_known_capitals(one.small or "", tokenizer, eszett=not one.terms)
            for one in segments
        ]
        codes = [one.code for one in segments]
        ids = segmenter.ids(segments, list(map(str.__add__, codes, small)))
        both = replace(
            self,
            segments=[*self.segments, *segments],
            ids=[*self.ids, *([*self.request.direction.source_mark, *one] for one in ids)],
            prefixes=self.prefixes and [*self.prefixes, *(prefixes[n] for n in numbers)],
        )
        return both, numbers

    def part(self, numbers: Sequence[int]) -> "Job":
        """The job with the segments of these numbers alone."""
        return replace(
            self,
            segments=[self.segments[n] for n in numbers],
            ids=[self.ids[n] for n in numbers],
            prefixes=self.prefixes and [self.prefixes[n] for n in numbers],
        )

    def numbers(self) -> list[int]:
        """A number for each segment. With the seed it determines the segment's random choices."""
        return [zlib.crc32(segment.text.encode()) for segment in self.segments]

    def translations(self, found: Sequence[Found], segmenter: Segmenter) -> list[Translation]:
        """The translations of the texts; `found` has one entry for each of `segments`."""
        waiting = iter(found)
        translations = []
        for text, cut in zip(self.texts, self.cuts, strict=True):
            own = [next(waiting) for _ in cut.with_text()]
            translations.append(put_together(text, cut, own, segmenter, self.request))
        return translations
