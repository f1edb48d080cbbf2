"""A tokenised text, and where its pieces lie in the text."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Encoding:
    """A tokenised text: three lists of equal length, whose last entry is the end of the sentence.

    `pieces` are readable; the first piece usually begins with the added space.
    `spans` are character offsets into the text: piece i touches `text[spans[i][0]:spans[i][1]]`.
    A character that is split between two pieces is in both spans. The added space and the end have
    empty spans.
    """

    ids: list[int]
    pieces: list[str]
    spans: list[tuple[int, int]]


def spans(text: str, lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The span of each piece in the text. `lengths` count the bytes of the pieces, which begin with
    the added space."""
    ends = list(itertools.accumulate(lengths))
    starts = [0, *ends[:-1]]
    character = _characters(text)
    for start, end in zip(starts, ends, strict=True):
        first = character[max(start - 1, 0)]
        last = first if end <= max(start, 1) else character[end - 2] + 1
        yield first, last


def _characters(text: str) -> Sequence[int]:
    """For each byte of the text in UTF-8, and for its end, the index of the byte's character."""
    if text.isascii():
        return range(len(text) + 1)
    widths = (len(character.encode()) for character in text)
    numbers = [n for n, width in enumerate(widths) for _ in range(width)]
    return [*numbers, len(text)]
