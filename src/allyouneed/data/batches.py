"""Batches of pairs of similar length within a token budget, in an order that (seed, epoch) fixes.

A corpus of n pairs takes 8 n bytes while training and 12 n while an epoch is planned (16-bit
lengths, 32-bit numbers). All other work is done chunk by chunk.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from allyouneed.errors import DataError, UsageError

Indices = NDArray[np.unsignedinteger[Any]]

# Target lengths share a bucket until it fills this many batches: then the spread of targets in
# a bucket costs about as much padding as the spread of sources in one of its batches.
BATCHES_PER_BUCKET = 3
CHUNK = 1 << 15  # pairs read together
SORTED = 1 << 18  # pairs of a bucket that are sorted together; sorting takes 10 bytes per pair


class Lengths(Protocol):
    """The part of a `TokenStore` that a sampler uses: the lengths of its pairs, and their
    origin."""

    corpus_bounds: NDArray[np.int64]

    @property
    def corpora(self) -> int: ...
    def __len__(self) -> int: ...
    def lengths(
        self, first: int = 0, end: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def line_of(self, index: int) -> tuple[str, int]: ...


class Batches(Sequence[Indices]):
    """The batches of an epoch: arrays of pair numbers, cut out of one array on demand.

    Batch n is `order[bounds[n] : bounds[n + 1]]`. `turns` holds the numbers of the batches in the
    order of the epoch.
    """

    def __init__(self, order: Indices, bounds: NDArray[np.int64], turns: NDArray[np.int64]) -> None:
        self._order, self._bounds, self._turns = order, bounds, turns

    def __len__(self) -> int:
        return len(self._turns)

    @overload
    def __getitem__(self, which: int) -> Indices: ...
    @overload
    def __getitem__(self, which: slice) -> list[Indices]: ...
    def __getitem__(self, which: int | slice) -> Indices | list[Indices]:
        if isinstance(which, slice):
            return [self[n] for n in range(*which.indices(len(self)))]
        batch = self._turns[which]
        return self._order[self._bounds[batch] : self._bounds[batch + 1]]


class BatchSampler:
    """Batches pairs of similar length (section 5.1), with at most `batch_tokens` tokens per side.

    A batch of B pairs has B × (its longest source) source positions and B × (its longest target)
    target positions, including padding and end tokens. Each product is at most `batch_tokens`.

    `weights[c]` says how often an epoch sees the pairs of corpus c: 1 means every pair once, 0.5 a
    random half of the pairs, 2.5 every pair twice and a random half a third time. An epoch sees at
    least one pair of each corpus. Pairs of equal lengths are shuffled in every epoch.

    Raises:
        DataError: a single pair exceeds the budget.
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
                f"weights={self._weights} must be {store.corpora} numbers above 0, one per corpus"
            )
        self._source, self._target = _lengths(store)
        self._budget = batch_tokens
        self._seed = seed
        worst, tokens = self._longest_pair()
        if tokens > batch_tokens:
            name, line = store.line_of(worst)
            raise DataError(
                f"{name}:{line}: a pair of {self._source[worst]} and {self._target[worst]} tokens "
                f"does not fit into batch_tokens={batch_tokens}; raise batch_tokens to {tokens}, "
                "or leave out longer examples (for pairs, with data.filters.max_tokens)"
            )

    def epoch_batches(self, epoch: int) -> Batches:
        """The batches of one epoch. The same (seed, epoch) gives the same batches."""
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self._seed, epoch])))
        order = self._by_length(self._drawn(rng), rng)
        bounds = self._cut(order)
        return Batches(order, bounds, rng.permutation(len(bounds) - 1))

    def _longest_pair(self) -> tuple[int, int]:
        """The number of the longest pair, and the number of tokens on its longer side. If several
        pairs are equally long, it is the first of them."""
        worst, most = 0, 0
        for first in range(0, len(self._source), CHUNK):
            chunk = slice(first, first + CHUNK)
            longest = np.maximum(self._source[chunk], self._target[chunk])
            if longest.max() > most:
                worst, most = first + int(longest.argmax()), int(longest.max())
        return worst, most

    def _drawn(self, rng: np.random.Generator) -> Indices:
        """The pairs of this epoch; a pair that is seen n times occurs n times."""
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

    def _by_length(self, drawn: Indices, rng: np.random.Generator) -> Indices:
        """The pairs in buckets of similar target length, one after the other. Within a bucket they
        are sorted by source length, alternately ascending and descending, so that neighbours are
        similar. Pairs of equal lengths are in random order."""
        order, sizes = self._by_bucket(drawn)
        falls = False
        for bucket in np.split(order, np.cumsum(sizes)[:-1]):
            rng.shuffle(bucket)
            for first in range(0, len(bucket), SORTED):
                part = bucket[first : first + SORTED]
                rising = np.argsort(self._source[part], kind="stable")  # a radix sort in 16 bits
                part[:] = part[rising[::-1] if falls else rising]
                falls = not falls
        return order

    def _by_bucket(self, drawn: Indices) -> tuple[Indices, NDArray[np.int64]]:
        """(the pairs, bucket after bucket; the size of each bucket), by a counting sort."""
        bucket_of, sizes = self._buckets(drawn)
        order = np.empty_like(drawn)
        place = np.cumsum(sizes) - sizes  # where the next pair of each bucket belongs
        for chunk in _chunks(drawn):
            buckets = bucket_of[self._target[chunk]]
            rising = np.argsort(buckets, kind="stable")
            here = np.bincount(buckets, minlength=len(place))
            shift = place - (np.cumsum(here) - here)
            order[shift[buckets[rising]] + np.arange(len(chunk))] = chunk[rising]
            place += here
        return order, sizes

    def _buckets(self, drawn: Indices) -> tuple[Indices, NDArray[np.int64]]:
        """(the bucket of each target length, the number of pairs in each bucket)."""
        pairs = np.zeros(int(self._target.max()) + 1, dtype=np.int64)
        tokens = np.zeros(len(pairs))
        for chunk in _chunks(drawn):
            source, target = self._source[chunk], self._target[chunk]
            pairs += np.bincount(target, minlength=len(pairs))
            tokens += np.bincount(target, np.maximum(source, target), minlength=len(pairs))
        bucket_of = np.zeros(len(pairs), dtype=np.min_scalar_type(len(pairs)))
        bucket, held = 0, 0.0
        for length, more in enumerate(tokens.tolist()):
            bucket_of[length] = bucket
            held += more
            if held >= BATCHES_PER_BUCKET * self._budget:
                bucket, held = bucket + 1, 0.0
        return bucket_of, np.bincount(bucket_of, pairs).astype(np.int64)

    def _cut(self, order: Indices) -> NDArray[np.int64]:
        """Cuts the order into batches as large as the budget allows. Returns the start of each
        batch, and the end of the last one."""
        bounds = [0]
        rows = longest = 0  # of the present batch
        for chunk in _chunks(order):
            for side, count in _runs(np.maximum(self._source[chunk], self._target[chunk])):
                longest = max(longest, side)
                fit = min(count, max(0, self._budget // longest - rows))
                rows, left = rows + fit, count - fit
                if left:  # the batch is full; the rest of the run gives full batches and a last one
                    end, size = bounds[-1] + rows, self._budget // side
                    full = (left - 1) // size
                    bounds.extend(range(end, end + full * size + 1, size))
                    rows, longest = left - full * size, side
        return np.array([*bounds, len(order)])


def _lengths(store: Lengths) -> tuple[Indices, Indices]:
    """(source, target) lengths of all pairs, as 16-bit numbers if they fit."""
    sides: list[Indices] = [np.empty(len(store), dtype=np.uint16) for _ in range(2)]
    for first in range(0, len(store), CHUNK):
        for n, lengths in enumerate(store.lengths(first, first + CHUNK)):
            if lengths.max() > np.iinfo(sides[n].dtype).max:
                sides[n] = sides[n].astype(np.uint32)
            sides[n][first : first + CHUNK] = lengths
    return sides[0], sides[1]


def _fill(numbers: Indices, first: int) -> None:
    """Writes first, first + 1, ... to the array."""
    for start in range(0, len(numbers), CHUNK):
        part = numbers[start : start + CHUNK]
        part[:] = np.arange(first + start, first + start + len(part))


def _chunks(order: Indices) -> Iterator[Indices]:
    return (order[first : first + CHUNK] for first in range(0, len(order), CHUNK))


def _runs(numbers: Indices) -> Iterator[tuple[int, int]]:
    """(number, times that it is repeated) for each run of equal numbers."""
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] ^ 1))
    counts = np.diff(starts, append=len(numbers))
    return zip(numbers[starts].tolist(), counts.tolist(), strict=True)
