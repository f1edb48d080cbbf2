"""Batches by token budget: pairs of like length together, in an order that (seed, epoch) fixes.

Memory for a corpus of n pairs, in 16-bit lengths and 32-bit numbers: 8 n bytes while training,
12 n while an epoch is planned; everything else goes chunk by chunk.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allyouneed.errors import DataError, UsageError

Indices = NDArray[np.unsignedinteger[Any]]

# Target lengths share a bucket until it fills this many batches: then the spread of targets in
# a bucket costs about as much padding as the spread of sources in one of its batches.
BATCHES_PER_BUCKET = 3
CHUNK = 1 << 15  # pairs looked at together


class Lengths(Protocol):
    """What a sampler asks of a `TokenStore`: how long its pairs are, and where they came from."""

    corpus_bounds: NDArray[np.int64]

    @property
    def corpora(self) -> int: ...
    def __len__(self) -> int: ...
    def lengths(
        self, first: int = 0, end: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def line_of(self, index: int) -> tuple[str, int]: ...


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
        store: Lengths,
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
        self._source, self._target = _lengths(store)
        self._budget = batch_tokens
        self._seed = seed
        worst, tokens = self._longest_pair()
        if tokens > batch_tokens:
            name, line = store.line_of(worst)
            raise DataError(
                f"{name}:{line}: a pair of {self._source[worst]} and {self._target[worst]} tokens "
                f"does not fit batch_tokens={batch_tokens}; raise batch_tokens to "
                f"{tokens} or lower the filter max_tokens to {batch_tokens}"
            )

    def epoch_batches(self, epoch: int) -> list[Indices]:
        """The batches of one epoch: arrays of pair numbers. The same for the same (seed, epoch)."""
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self._seed, epoch])))
        order = self._drawn(rng)
        self._shuffle_by_length(order, rng)
        batches = self._cut(order)
        return [batches[n] for n in rng.permutation(len(batches))]

    def padding(self, batches: Sequence[Indices]) -> float:
        """The share of positions, both sides together, that hold padding."""
        used = sum(int(self._source[b].sum() + self._target[b].sum()) for b in batches)
        held = sum(
            len(b) * (int(self._source[b].max()) + int(self._target[b].max())) for b in batches
        )
        return 1 - used / held

    def _longest_pair(self) -> tuple[int, int]:
        """(number, tokens of its longer side) of the first pair that none is longer than."""
        worst, most = 0, 0
        for first in range(0, len(self._source), CHUNK):
            chunk = slice(first, first + CHUNK)
            longest = np.maximum(self._source[chunk], self._target[chunk])
            if longest.max() > most:
                worst, most = first + int(longest.argmax()), int(longest.max())
        return worst, most

    def _drawn(self, rng: np.random.Generator) -> Indices:
        """The pairs that this epoch sees, each as often as it is seen."""
        counts = np.diff(self._bounds).tolist()
        seen = [
            max(1, round(weight * count)) if count else 0
            for weight, count in zip(self._weights, counts, strict=True)
        ]
        drawn = np.empty(sum(seen), dtype=np.min_scalar_type(len(self._source)))
        done = 0
        for first, count, wanted in zip(self._bounds.tolist(), counts, seen, strict=False):
            whole, rest = divmod(wanted, max(count, 1))
            for _ in range(whole):
                _fill(drawn[done : done + count], first)
                done += count
            if rest:
                every = np.empty(count, dtype=drawn.dtype)
                _fill(every, first)
                rng.shuffle(every)
                drawn[done : done + rest] = every[:rest]
                done += rest
        return drawn

    def _shuffle_by_length(self, order: Indices, rng: np.random.Generator) -> None:
        """Bucket after bucket of like target lengths; inside, sorted by source length, up and down
        in turn so that neighbours stay alike across buckets. The order is shuffled before, and the
        sort is stable: chance breaks ties."""
        bucket_of = self._buckets(order)
        falls = bucket_of % 2 == 0
        longest = self._source.max()

        def bucket(chunk: Indices) -> Indices:
            return bucket_of[self._target[chunk]]

        def place_in_bucket(chunk: Indices) -> Indices:
            source = self._source[chunk]
            return np.where(falls[self._target[chunk]], longest - source, source)

        # counted before the shuffle: memory is read from front to back, which is much faster
        places, buckets = _counts(order, place_in_bucket), _counts(order, bucket)
        rng.shuffle(order)
        halfway = np.empty_like(order)
        _sort(order, place_in_bucket, places, halfway)
        _sort(halfway, bucket, buckets, order)

    def _buckets(self, drawn: Indices) -> Indices:
        """The bucket of each target length."""
        tokens = np.zeros(int(self._target.max()) + 1)
        for chunk in _chunks(drawn):
            source, target = self._source[chunk], self._target[chunk]
            tokens += np.bincount(target, np.maximum(source, target), minlength=len(tokens))
        bucket_of = np.zeros(len(tokens), dtype=np.min_scalar_type(len(tokens)))
        bucket, held = 0, 0.0
        for length, more in enumerate(tokens):
            bucket_of[length] = bucket
            held += more
            if held >= BATCHES_PER_BUCKET * self._budget:
                bucket, held = bucket + 1, 0.0
        return bucket_of

    def _cut(self, order: Indices) -> list[Indices]:
        """As many pairs to each batch as the budget allows, in this order."""
        batches = []
        start = known = 0
        longer = np.empty(0, dtype=np.int64)  # side of each of the pairs start … known - 1
        while start < len(order):
            while known < len(order) and (known == start or len(longer) < self._most(longer)):
                more = order[known : known + CHUNK]
                known += len(more)
                sides = np.maximum(self._source[more], self._target[more])
                longer = np.concatenate([longer, sides.astype(np.int64)])
            held = np.maximum.accumulate(longer[: self._most(longer)])
            held *= np.arange(1, len(held) + 1)
            rows = int(held.searchsorted(self._budget, side="right"))  # both factors only grow
            batches.append(order[start : start + rows])
            longer = longer[rows:]
            start += rows
        return batches

    def _most(self, longer: NDArray[np.int64]) -> int:
        """Pairs that a batch may hold which begins with the first of these; later ones add none."""
        return self._budget // int(longer[0])


def _lengths(store: Lengths) -> tuple[Indices, Indices]:
    """(source, target) lengths of all pairs, in 16 bits where they fit."""
    sides: list[Indices] = [np.empty(len(store), dtype=np.uint16) for _ in range(2)]
    for first in range(0, len(store), CHUNK):
        for n, lengths in enumerate(store.lengths(first, first + CHUNK)):
            if lengths.max() > np.iinfo(sides[n].dtype).max:
                sides[n] = sides[n].astype(np.uint32)
            sides[n][first : first + CHUNK] = lengths
    return sides[0], sides[1]


def _fill(numbers: Indices, first: int) -> None:
    """first, first + 1, ..."""
    for start in range(0, len(numbers), CHUNK):
        part = numbers[start : start + CHUNK]
        part[:] = np.arange(first + start, first + start + len(part))


def _chunks(order: Indices) -> Iterator[Indices]:
    return (order[first : first + CHUNK] for first in range(0, len(order), CHUNK))


def _counts(drawn: Indices, key: Callable[[Indices], Indices]) -> NDArray[np.int64]:
    """How often each key occurs."""
    counts = np.zeros(1, dtype=np.int64)
    for chunk in _chunks(drawn):
        more = np.bincount(key(chunk), minlength=len(counts))
        more[: len(counts)] += counts
        counts = more
    return counts


def _sort(
    order: Indices,
    key: Callable[[Indices], Indices],
    counts: NDArray[np.int64],
    into: Indices,
) -> None:
    """A stable counting sort by small whole numbers."""
    place = np.cumsum(counts) - counts  # where the next of each key belongs
    for chunk in _chunks(order):
        keys = key(chunk)
        rising = np.argsort(keys, kind="stable")  # in 16 bits and less, a radix sort
        here = np.bincount(keys, minlength=len(place))
        shift = place - (np.cumsum(here) - here)
        into[shift[keys[rising]] + np.arange(len(chunk))] = chunk[rising]
        place += here
