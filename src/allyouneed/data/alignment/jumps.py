"""How an alignment moves through the source: the hidden Markov model of Vogel et al. 1996.

B pairs · S source words · T target words · J source positions of the next target word
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

FARTHEST = 12  # positions; longer jumps count as this one
NULL = 0.2  # chance that a target word comes from no source word
EVEN = 0.1  # how much of a jump is left to chance


@dataclass(frozen=True, slots=True, eq=False)
class Jumps:
    """The probabilities of jumps in the source, from the source word of one target word to the
    source word of the next (distances -FARTHEST to FARTHEST), and the probability of each source
    position for the first target word."""

    steps: NDArray[np.float64]
    starts: NDArray[np.float64]

    @classmethod
    def at_first(cls) -> "Jumps":
        """Before anything is learnt: short jumps forward are likely."""
        distances = np.arange(-FARTHEST, FARTHEST + 1)
        return cls(np.exp(-abs(distances - 1) / 2.0), np.exp(-np.arange(FARTHEST + 1) / 2.0))

    def matrix(self, width: int) -> Floats:
        """The probability SJ of a jump from each of `width` source words to each other; a row sums
        to 1."""
        rows_SJ: NDArray[np.float64] = self.steps[distances(width)]
        rows_SJ /= rows_SJ.sum(axis=1, keepdims=True)
        mixed_SJ: Floats = ((1 - EVEN) * rows_SJ + EVEN / width).astype(np.float32)
        return mixed_SJ

    def first(self, width: int) -> Floats:
        """Where the first target word may come from, S."""
        row_S: NDArray[np.float64] = self.starts[np.minimum(np.arange(width), FARTHEST)]
        row_S = row_S / row_S.sum()
        mixed_S: Floats = ((1 - EVEN) * row_S + EVEN / width).astype(np.float32)
        return mixed_S


class JumpCounts:
    """How often each jump is made; adds up to new `Jumps`."""

    def __init__(self) -> None:
        self._steps = np.full(2 * FARTHEST + 1, 1e-3)
        self._starts = np.full(FARTHEST + 1, 1e-3)

    def add(self, steps_SJ: NDArray[np.float64], starts_S: NDArray[np.float64]) -> None:
        """Expected numbers of jumps within sentences, and of their first positions."""
        width = len(starts_S)
        self._steps += np.bincount(
            distances(width).ravel(), steps_SJ.ravel(), minlength=len(self._steps)
        )
        places = np.minimum(np.arange(width), FARTHEST)
        self._starts += np.bincount(places, starts_S, minlength=len(self._starts))

    def jumps(self) -> Jumps:
        """The counts as probabilities."""
        return Jumps(self._steps / self._steps.sum(), self._starts / self._starts.sum())


def distances(width: int) -> NDArray[np.int64]:
    """For each pair of source positions, the index of their distance in `Jumps.steps`."""
    places = np.arange(width)
    ahead: NDArray[np.int64] = np.clip(places - places[:, None], -FARTHEST, FARTHEST) + FARTHEST
    return ahead


def posteriors(
    lexical_BTS: Floats,
    null_BT: Floats,
    lengths_B: NDArray[np.int64],
    jumps: Jumps,
    counts: JumpCounts | None = None,
) -> Floats:
    """The probability BTS that each target word comes from each source word, by the
    forward-backward algorithm (Rabiner 1989). The rest up to 1 is the probability that it comes
    from none.

    `lexical_BTS` and `null_BT` are the chances of a target word, given a source word or none.
    Words that come from none leave the place in the source where it is (Och & Ney 2003). Rows
    behind a sentence's length are zeros. `counts` gets the expected jumps.
    """
    pairs, longest, width = lexical_BTS.shape
    move_SJ, first_S = jumps.matrix(width), jumps.first(width)
    there_BT = np.arange(longest) < lengths_B[:, None]
    lexical_BTS = np.where(there_BT[..., None], lexical_BTS, 1.0) * np.float32(1 - NULL)
    null_BT1 = (np.where(there_BT, null_BT, 1.0) * np.float32(NULL))[..., None]
    word_BTS = np.empty_like(lexical_BTS)  # forward, the target word being of this source word
    stay_BTS = np.empty_like(lexical_BTS)  # forward, it being of none
    scale_BT1 = np.empty((pairs, longest, 1), dtype=np.float32)
    before_BS = moved_BS = np.broadcast_to(first_S, (pairs, width))
    for t in range(longest):
        if t:
            before_BS = word_BTS[:, t - 1] + stay_BTS[:, t - 1]
            moved_BS = before_BS @ move_SJ
        word_BS = np.multiply(moved_BS, lexical_BTS[:, t], out=word_BTS[:, t])
        stay_BS = np.multiply(before_BS, null_BT1[:, t], out=stay_BTS[:, t])
        total_B1 = (word_BS.sum(axis=1) + stay_BS.sum(axis=1))[:, None]
        scale_BT1[:, t] = np.maximum(total_B1, np.float32(1e-37))
        word_BS /= scale_BT1[:, t]
        stay_BS /= scale_BT1[:, t]
    after_BS = np.ones((pairs, width), dtype=np.float32)
    steps_SJ = np.zeros((width, width))
    for t in reversed(range(longest)):
        word_BTS[:, t] *= after_BS
        stay_BTS[:, t] *= after_BS
        if t:
            reached_BS = lexical_BTS[:, t] * after_BS / scale_BT1[:, t]
            if counts is not None:
                counted_BS = reached_BS * there_BT[:, t, None]
                # the forward chances of the word before are not yet multiplied by what comes after
                steps_SJ += (word_BTS[:, t - 1] + stay_BTS[:, t - 1]).T @ counted_BS
            after_BS = reached_BS @ move_SJ.T + null_BT1[:, t] * after_BS / scale_BT1[:, t]
    if counts is not None:
        counts.add(steps_SJ * move_SJ, word_BTS[:, 0].sum(axis=0, dtype=np.float64))
    total_BT1 = word_BTS.sum(axis=2, keepdims=True) + stay_BTS.sum(axis=2, keepdims=True)
    word_BTS /= np.maximum(total_BT1, np.float32(1e-37))
    word_BTS *= there_BT[..., None]
    return word_BTS
