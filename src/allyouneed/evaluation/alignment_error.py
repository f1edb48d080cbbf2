"""The alignment error rate (AER): how much word alignments differ from alignments by people."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from allyouneed.errors import DataError

Link = tuple[int, int]
"""Index of a source word and of a target word, both from 0."""

_LINK = re.compile(r"(\d+)([-?p])(\d+)")


@dataclass(frozen=True, slots=True)
class GoldAlignment:
    """The links that people drew for one sentence pair. `possible` includes the `sure` links."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    @classmethod
    def of(cls, line: str, place: str = "the gold alignment") -> Self:
        """The alignment of a line in Pharaoh format: "0-0" is a sure link of source word and target
        word, "1?2" or "1p2" a possible link. Errors name the line `place`.

        Raises:
            DataError: a part of the line is not a link.
        """
        links: dict[str, set[Link]] = {"-": set(), "?": set()}
        for written in line.split():
            found = _LINK.fullmatch(written)
            if not found:
                raise DataError(
                    f'{place}: {written!r} is not a link; write a sure link as "0-0" (source word, '
                    'target word, both from 0) and a possible link as "0?0"'
                )
            source, kind, target = found.groups()
            links["-" if kind == "-" else "?"].add((int(source), int(target)))
        return cls(frozenset(links["-"]), frozenset(links["-"] | links["?"]))

    def check(self, source_words: int, target_words: int, place: str) -> None:
        """Raises DataError for a link to a word beyond the end of the sentence."""
        for source, target in sorted(self.possible):
            if source >= source_words or target >= target_words:
                raise DataError(
                    f"{place}: link {source}-{target}, but there are {source_words} source and "
                    f"{target_words} target words (words are counted from 0 and separated by white "
                    "space)"
                )


def alignment_error_rate(found: Iterable[Iterable[Link]], gold: Sequence[GoldAlignment]) -> float:
    """AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|) over all sentences (Och & Ney 2003).

    0 is perfect agreement with the people's links, 1 is no agreement. `found` holds the links A of
    each sentence of `gold`; S are its sure links, P its possible links.

    Raises:
        DataError: there are neither links in `found` nor sure links in `gold`.
    """
    agreed = counted = 0
    for alignment, wanted in zip(found, gold, strict=True):
        links = frozenset(alignment)
        agreed += len(links & wanted.sure) + len(links & wanted.possible)
        counted += len(links) + len(wanted.sure)
    if not counted:
        raise DataError("no links were found, and the gold alignments hold no sure ones")
    return 1 - agreed / counted
