"""Sentence pairs of one source length as arrays, so that NumPy works on many at a time.

B pairs · S source words · T target words
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = Sequence[str]
Numbers = NDArray[np.int32]

CELLS = 1 << 19  # B × T × S of a block, about
LONGEST = 256  # words of a side; the time for a pair grows with the product of both sides
GAP = -1  # stands behind the last target word


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Pairs with S source words each, and at most T target words; `pairs` are their numbers."""

    pairs: NDArray[Any]
    source_BS: Numbers
    target_BT: Numbers

    @property
    def there_BT(self) -> NDArray[np.bool_]:
        """Where there is a target word."""
        there_BT: NDArray[np.bool_] = self.target_BT != GAP
        return there_BT

    @property
    def cells(self) -> tuple[int, int, int]:
        """B, T, S."""
        return len(self.pairs), self.target_BT.shape[1], self.source_BS.shape[1]


def blocks(sources: Sequence[Numbers], targets: Sequence[Numbers]) -> Iterator[Block]:
    """All pairs in which both sides have words, and neither more than `LONGEST`."""
    lengths = np.array([(len(s), len(t)) for s, t in zip(sources, targets, strict=True)])
    lengths = lengths.reshape(-1, 2)
    fit = np.flatnonzero((lengths.min(axis=1) > 0) & (lengths.max(axis=1) <= LONGEST))
    order = fit[np.lexsort((lengths[fit, 1], lengths[fit, 0]))]
    first = 0
    while first < len(order):
        width = int(lengths[order[first], 0])
        last, longest = first, 0
        while last < len(order) and lengths[order[last], 0] == width:
            longest = int(lengths[order[last], 1])  # they rise
            if last > first and (last - first + 1) * longest * width > CELLS:
                longest = int(lengths[order[last - 1], 1])
                break
            last += 1
        pairs = order[first:last]
        target_BT = np.full((len(pairs), longest), GAP, dtype=np.int32)
        for row, pair in zip(target_BT, pairs, strict=True):
            row[: len(targets[pair])] = targets[pair]
        yield Block(pairs, np.stack([sources[pair] for pair in pairs]), target_BT)
        first = last
