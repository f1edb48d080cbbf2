"""How far word alignments are from those that people made: the alignment error rate (AER)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from allyouneed.errors import DataError

Link = tuple[int, int]
"""Number of a source word and of a target word, both from 0."""

_LINK = re.compile(r"(\d+)([-?p])(\d+)")


@dataclass(frozen=True, slots=True)
class GoldAlignment:
    """One sentence pair's links by people: those that are `sure`, and those that are at least
    `possible`, the sure ones among them."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    @classmethod
    def of(cls, line: str, place: str = "the gold alignment") -> Self:
        """Reads Pharaoh format: "0-0" is a sure link of source word and target word, "1?2" or
        "1p2" a possible one. `place` is how an error names the line.

        Raises:
            DataError: something that is no link.
        """
        links: dict[str, set[Link]] = {"-": set(), "?": set()}
        for written in line.split():
            found = _LINK.fullmatch(written)
            if not found:
                raise DataError(
                    f'{place}: {written!r} is no link; a sure one is written "0-0" (source word, '
                    'target word, both from 0), a possible one "0?0"'
                )
            source, kind, target = found.groups()
            links["-" if kind == "-" else "?"].add((int(source), int(target)))
        return cls(frozenset(links["-"]), frozenset(links["-"] | links["?"]))

    def check(self, source_words: int, target_words: int, place: str) -> None:
        """Raises DataError for a link to a word that is not there."""
        for source, target in sorted(self.possible):
            if source >= source_words or target >= target_words:
                raise DataError(
                    f"{place}: link {source}-{target}, but there are {source_words} source and "
                    f"{target_words} target words; words are counted from 0, and are what white "
                    "space separates"
                )


def alignment_error_rate(found: Iterable[Iterable[Link]], gold: Sequence[GoldAlignment]) -> float:
    """AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|) over all sentences (Och & Ney 2003).

    0 is perfect agreement with people, 1 none. `found` holds the links of each sentence of `gold`.

    Raises:
        DataError: nothing to compare, neither found nor sure.
    """
    agreed = counted = 0
    for alignment, wanted in zip(found, gold, strict=True):
        links = frozenset(alignment)
        agreed += len(links & wanted.sure) + len(links & wanted.possible)
        counted += len(links) + len(wanted.sure)
    if not counted:
        raise DataError("no links were found, and the gold alignments hold no sure ones")
    return 1 - agreed / counted
