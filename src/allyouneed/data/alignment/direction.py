"""Which source word each target word comes from, learnt by expectation maximisation.

B pairs · S source words · T target words
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allyouneed.data.alignment.blocks import Block, Numbers, Words, blocks
from allyouneed.data.alignment.jumps import Floats, JumpCounts, Jumps, posteriors

WORDS_ALONE = 5  # passes of IBM model 1 (Brown et al. 1993): any order of words
WITH_ORDER = 4  # passes of the hidden Markov model after that
SPARSE = 0.01  # prior count of each translation: few of them are meant to be likely
UNSEEN = 1e-7  # chance of a translation that was never seen
SAME = 0.05  # chance of one that was never seen, but is the same word

_NO_KEYS = np.empty(0, dtype=np.int64)

Told = Callable[[int, int], None]
"""Called with the passes done and the passes in all."""


@dataclass(frozen=True, slots=True, eq=False)
class DirectionChances:
    """Chances of target words, given source words: those that occurred together have a key, sorted,
    with a chance each; `null` is the chance of each target word where it comes from none."""

    source_numbers: dict[str, int]
    target_numbers: dict[str, int]
    keys: NDArray[np.int64]
    chances: Floats
    null: Floats
    jumps: Jumps

    @classmethod
    def learn(
        cls, sources: Sequence[Words], targets: Sequence[Words], told: Told = lambda done, all: None
    ) -> "DirectionChances":
        """From pairs of sentences in words: IBM model 1 by variational Bayes (Riley & Gildea 2012),
        then the hidden Markov model (Vogel et al. 1996). The same pairs give the same result.
        """
        source_numbers, target_numbers = _numbered(sources), _numbered(targets)
        some = list(blocks(_encoded(sources, source_numbers), _encoded(targets, target_numbers)))
        wanted = [_keys(block, len(target_numbers)) for block in some]
        keys, cells = np.unique(np.concatenate([_NO_KEYS, *wanted]), return_inverse=True)
        cells = cells.astype(np.int32)
        del wanted
        chances: Floats = np.ones(len(keys), dtype=np.float32)
        null: Floats = np.ones(len(target_numbers) + 1, dtype=np.float32)
        found = np.empty(len(cells), dtype=np.float32)
        jumps: Jumps | None = None
        for done in range(passes := WORDS_ALONE + WITH_ORDER):
            told(done, passes)
            if done == WORDS_ALONE:
                jumps = Jumps.at_first()
            jump_counts, null_counts = JumpCounts(), np.zeros(len(null))
            first = 0
            for block in some:
                here = slice(first, first := first + int(np.prod(block.cells)))
                lexical_BTS = chances[cells[here]].reshape(block.cells)
                found_BTS = _posteriors(block, lexical_BTS, null, jumps, jump_counts)
                found[here] = found_BTS.ravel()
                rest_BT = np.maximum(0.0, 1 - found_BTS.sum(axis=2))[block.there_BT]
                words_P = block.target_BT[block.there_BT]
                null_counts += np.bincount(words_P, rest_BT, minlength=len(null))
            counts = np.bincount(cells, found, minlength=len(keys)).astype(np.float64)
            chances = _chances(counts, keys // len(null), len(source_numbers) + 1)
            null = (null_counts + SPARSE) / (null_counts.sum() + SPARSE * len(null))
            null = null.astype(np.float32)
            jumps = jumps and jump_counts.jumps()
        told(passes, passes)
        return cls(source_numbers, target_numbers, keys, chances, null, jumps or Jumps.at_first())

    def align(self, sources: Sequence[Words], targets: Sequence[Words]) -> list[list[int]]:
        """For each target word of each pair the number of the source word that it most likely comes
        from, or -1 if it comes from none. A pair with more words than `LONGEST` gets -1 for every
        word."""
        found = [[-1] * len(target) for target in targets]
        source_ids = _encoded(sources, self.source_numbers)
        target_ids = _encoded(targets, self.target_numbers)
        every = _numbered([*sources, *targets])  # one number for a word on both sides
        alike = blocks(_encoded(sources, every), _encoded(targets, every))
        for block, same in zip(blocks(source_ids, target_ids), alike, strict=True):
            best_BT = self._best(block, same.source_BS[:, None] == same.target_BT[..., None])
            for pair, best in zip(block.pairs.tolist(), best_BT.tolist(), strict=True):
                found[pair] = best[: len(targets[pair])]
        return found

    def _best(self, block: Block, same_BTS: NDArray[np.bool_]) -> NDArray[np.int64]:
        wanted = _keys(block, len(self.target_numbers))
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        unseen = np.where(same_BTS.ravel(), np.float32(SAME), np.float32(UNSEEN))
        seen = np.where(self.keys[at] == wanted, self.chances[at], np.float32(0))
        lexical_BTS = np.maximum(seen, unseen).reshape(block.cells)
        found_BTS = _posteriors(block, lexical_BTS, self.null, self.jumps, None)
        best_BT: NDArray[np.int64] = found_BTS.argmax(axis=2)
        best_BT[found_BTS.max(axis=2) <= 1 - found_BTS.sum(axis=2)] = -1
        return best_BT


def _posteriors(
    block: Block, lexical_BTS: Floats, null: Floats, jumps: Jumps | None, counts: JumpCounts | None
) -> Floats:
    """The probability BTS that each target word comes from each source word. Without `jumps` the
    order of words does not count, as in IBM model 1."""
    null_BT = null[block.target_BT]
    if jumps is not None:
        return posteriors(lexical_BTS, null_BT, block.there_BT.sum(axis=1), jumps, counts)
    found_BTS: Floats = lexical_BTS / (lexical_BTS.sum(axis=2) + null_BT)[..., None]
    found_BTS *= block.there_BT[..., None]
    return found_BTS


def _chances(counts: NDArray[np.float64], sources: NDArray[np.int64], words: int) -> Floats:
    """The expected chances of translations that were counted so often, by variational Bayes."""
    totals = np.bincount(sources, counts + SPARSE, minlength=words)
    chances = _exp_digamma(counts + SPARSE) / _exp_digamma(np.maximum(totals, SPARSE))[sources]
    return np.maximum(chances, UNSEEN).astype(np.float32)


def _exp_digamma(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp of the derivative of log Γ at x > 0, to five digits."""
    far = x + 3
    series = np.log(far) - 1 / (2 * far) - 1 / (12 * far**2)
    result: NDArray[np.float64] = np.exp(series - 1 / x - 1 / (x + 1) - 1 / (x + 2))
    return result


def _numbered(sentences: Iterable[Words]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for words in sentences:
        for word in words:
            numbers.setdefault(word, len(numbers))
    return numbers


def _encoded(sentences: Sequence[Words], numbers: dict[str, int]) -> list[Numbers]:
    """Sentences in numbers; words that are not there have the one behind the last."""
    unknown = len(numbers)
    return [np.array([numbers.get(word, unknown) for word in s], dtype=np.int32) for s in sentences]


def _keys(block: Block, target_words: int) -> NDArray[np.int64]:
    """One number for each pair of a source and a target word, as a flat array. Padding gets the
    number of an unknown target word."""
    target_BT = np.where(block.there_BT, block.target_BT, target_words)
    keys_BTS = block.source_BS.astype(np.int64)[:, None] * (target_words + 1)
    keys: NDArray[np.int64] = (keys_BTS + target_BT[:, :, None]).ravel()
    return keys
