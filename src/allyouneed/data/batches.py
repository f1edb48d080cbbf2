"""Batches by token budget: pairs of like length together, in an order that (seed, epoch) fixes."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from allyouneed.data.store import TokenStore
from allyouneed.errors import DataError, UsageError

Indices = NDArray[np.int64]

# Target lengths share a bucket until it fills this many batches: then the spread of targets in
# a bucket costs about as much padding as the spread of sources in one of its batches.
BATCHES_PER_BUCKET = 3


class BatchSampler:
    """Section 5.1: pairs batched together by approximate length, about `batch_tokens` a side.

    A batch of B pairs holds B × (its longest source) source positions and B × (its longest
    target) target positions, padding and end tokens counted; each is at most `batch_tokens`.
    `weights[c]` is how often an epoch sees the pairs of corpus c: 1 is every pair once, 0.5 a
    random half of them, 2.5 every pair twice and a random half a third time (in whole pairs,
    at least one).

    Pairs of equal lengths fall into batches by chance, anew in every epoch.

    Raises DataError at once when a pair alone is over the budget.
    """

    def __init__(
        self,
        store: TokenStore,
        batch_tokens: int,
        seed: int,
        weights: Sequence[float] | None = None,
    ) -> None:
        self._bounds = store.corpus_bounds
        self._weights = [1.0] * store.corpora if weights is None else list(weights)
        if len(self._weights) != store.corpora or not all(0 < w < math.inf for w in self._weights):
            raise UsageError(
                f"weights={self._weights}: needs {store.corpora} numbers above 0, one per corpus"
            )
        self._source, self._target = store.lengths()
        self._longest = np.maximum(self._source, self._target)
        self._budget = batch_tokens
        self._seed = seed
        worst = int(self._longest.argmax())
        if self._longest[worst] > batch_tokens:
            name, line = store.line_of(worst)
            raise DataError(
                f"{name}:{line}: a pair of {self._source[worst]} and {self._target[worst]} tokens "
                f"does not fit batch_tokens={batch_tokens}; raise batch_tokens to "
                f"{self._longest[worst]} or lower the filter max_tokens to {batch_tokens}"
            )

    def epoch_batches(self, epoch: int) -> list[Indices]:
        """The batches of one epoch: arrays of pair numbers. The same for the same (seed, epoch)."""
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self._seed, epoch])))
        batches = self._cut(self._by_length(rng.permutation(self._drawn(rng))))
        return [batches[n] for n in rng.permutation(len(batches))]

    def padding(self, batches: Sequence[Indices]) -> float:
        """The share of positions, both sides together, that hold padding."""
        used = sum(int(self._source[b].sum() + self._target[b].sum()) for b in batches)
        held = sum(
            len(b) * (int(self._source[b].max()) + int(self._target[b].max())) for b in batches
        )
        return 1 - used / held

    def _drawn(self, rng: np.random.Generator) -> Indices:
        """The pairs that this epoch sees, each as often as it is seen."""
        drawn = []
        for corpus, weight in enumerate(self._weights):
            first, end = self._bounds[corpus : corpus + 2]
            count = int(end - first)
            if count == 0:
                continue
            times, rest = divmod(max(1, round(weight * count)), count)
            drawn += [np.arange(first, end)] * times
            drawn.append(first + rng.permutation(count)[:rest])
        return np.concatenate(drawn)

    def _by_length(self, shuffled: Indices) -> Indices:
        """Bucket after bucket of like target lengths; inside, sorted by source length, up and down
        in turn so that neighbours stay alike across buckets. The sort is stable: chance breaks
        ties."""
        source, target = self._source[shuffled], self._target[shuffled]
        tokens = np.bincount(target, weights=np.maximum(source, target))
        bucket_of = np.zeros(len(tokens), dtype=np.int64)
        bucket, held = 0, 0.0
        for length, more in enumerate(tokens):
            bucket_of[length] = bucket
            held += more
            if held >= BATCHES_PER_BUCKET * self._budget:
                bucket, held = bucket + 1, 0.0
        bucket_of_pair = bucket_of[target]
        return shuffled[np.lexsort((np.where(bucket_of_pair % 2, source, -source), bucket_of_pair))]

    def _cut(self, order: Indices) -> list[Indices]:
        """As many pairs to each batch as the budget allows, in this order."""
        batches = []
        start = 0
        while start < len(order):
            most = self._budget // int(self._longest[order[start]])  # no later pair makes it more
            longest = np.maximum.accumulate(self._longest[order[start : start + most]])
            fits = longest * np.arange(1, len(longest) + 1) <= self._budget
            rows = int(fits.sum())  # `fits` is True, then False: both factors only grow
            batches.append(order[start : start + rows])
            start += rows
        return batches
