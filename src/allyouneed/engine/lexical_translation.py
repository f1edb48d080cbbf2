"""Probabilities that a source token is translated by a target token: IBM Model 1, learned from
pairs of token sequences.

P pairs · L links (a target position and one source position of its pair) · K distinct links ·
V vocabulary
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allyouneed.errors import DataError

Ids = NDArray[np.int64]
TokenPair = tuple[Sequence[int], Sequence[int]]
Progress = Callable[[int, int], None]

ROUNDS = 5
MOST_LINKS = 100_000_000  # all rounds keep 4 bytes in memory for each link
LINKS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class LexicalTranslation:
    """The probabilities t(target | source), sorted by source id and then by falling probability.

    The source id `vocabulary` is the null word, the source of target words that translate nothing.
    `counts_K` is the expected number of times that the source token produced the target token; the
    counts of one target token add up to its number of occurrences. `pairs` is the number of pairs
    learned from.
    """

    vocabulary: int
    sources_K: Ids
    targets_K: Ids
    probabilities_K: NDArray[np.float64]
    counts_K: NDArray[np.float64]
    pairs: int

    @property
    def ranks_K(self) -> Ids:
        """For each entry, the number of more probable targets that its source has."""
        firsts_K = np.searchsorted(self.sources_K, self.sources_K)
        return np.arange(len(firsts_K)) - firsts_K


def learn_lexical_translation(
    pairs: Iterable[TokenPair],
    vocabulary: int,
    rounds: int = ROUNDS,
    progress: Progress = lambda done, total: None,
) -> LexicalTranslation:
    """Translation probabilities by expectation maximisation, which starts from equal probabilities
    (Brown et al. 1993, Model 1).

    The model assumes that each target token comes from one of the source tokens or from the null
    word, all equally likely beforehand. Pairs contain ids below `vocabulary`, without end tokens;
    pairs with an empty target are skipped. If all pairs together have more than 100 million links,
    only a part of them, evenly spread, is used. `progress(done, total)` is called after each round.

    Raises:
        DataError: there are no pairs.
    """
    sources, targets = _flat(pairs)
    if not len(targets.ids):
        raise DataError("there are no pairs with a translation to learn from; give other files")
    chosen_P = _affordable(sources.lengths, targets.lengths)
    links = _Links(sources, targets, chosen_P, vocabulary)
    probabilities_K = counts_K = np.ones(len(links.keys_K))
    sources_K, targets_K = np.divmod(links.keys_K, vocabulary)
    for done in range(rounds):
        counts_K = links.expected_counts(probabilities_K.astype(np.float32))
        totals = np.bincount(sources_K, weights=counts_K, minlength=vocabulary + 1)
        probabilities_K = counts_K / totals[sources_K]
        progress(done + 1, rounds)
    order_K = np.lexsort((targets_K, -probabilities_K, sources_K))
    return LexicalTranslation(
        vocabulary,
        sources_K[order_K],
        targets_K[order_K],
        probabilities_K[order_K],
        counts_K[order_K],
        len(chosen_P),
    )


@dataclass(frozen=True, eq=False)
class _Sentences:
    """The ids of many sentences in one array: sentence p is `ids[starts[p] : starts[p] +
    lengths[p]]`."""

    ids: NDArray[np.int32]
    lengths: Ids

    @property
    def starts(self) -> Ids:
        return _firsts(self.lengths)


class _Links:
    """Every link of every pair, stored as the index of its (source, target) among the distinct
    ones."""

    def __init__(
        self, sources: _Sentences, targets: _Sentences, chosen_P: Ids, vocabulary: int
    ) -> None:
        numbers: list[NDArray[np.int32]] = []
        distinct: list[Ids] = []
        self.widths: list[Ids] = []  # links of each target position, chunk by chunk
        for keys_L, widths in _chunks(sources, targets, chosen_P, vocabulary):
            keys_K, numbers_L = np.unique(keys_L, return_inverse=True)
            distinct.append(keys_K)
            numbers.append(numbers_L.astype(np.int32))
            self.widths.append(widths)
        self.keys_K: Ids = np.unique(np.concatenate(distinct))
        self.numbers = [
            np.searchsorted(self.keys_K, keys_K).astype(np.int32)[numbers_L]
            for keys_K, numbers_L in zip(distinct, numbers, strict=True)
        ]

    def expected_counts(self, probabilities_K: NDArray[np.float32]) -> NDArray[np.float64]:
        """The expected number of times K that each distinct link produced its target token."""
        counts_K = np.zeros(len(self.keys_K))
        for numbers_L, widths in zip(self.numbers, self.widths, strict=True):
            shares_L = probabilities_K[numbers_L]
            sums = np.add.reduceat(shares_L, _firsts(widths))
            shares_L /= np.repeat(sums, widths)
            counts_K += np.bincount(numbers_L, weights=shares_L, minlength=len(counts_K))
        return counts_K


def _chunks(
    sources: _Sentences, targets: _Sentences, chosen_P: Ids, vocabulary: int
) -> Iterator[tuple[Ids, Ids]]:
    """For some pairs at a time: source · vocabulary + target for each link, and the number of links
    of each target position."""
    links_P = np.cumsum(targets.lengths[chosen_P] * (sources.lengths[chosen_P] + 1))
    cuts = np.searchsorted(links_P, np.arange(LINKS_AT_ONCE, links_P[-1], LINKS_AT_ONCE))
    source_starts, target_starts = sources.starts, targets.starts
    with_null = np.append(sources.ids, vocabulary).astype(np.int64)
    for some_P in np.split(chosen_P, cuts):
        if not len(some_P):
            continue
        pairs_T = np.repeat(some_P, targets.lengths[some_P])
        targets_T = targets.ids[_ranges(target_starts[some_P], targets.lengths[some_P])]
        widths_T = sources.lengths[pairs_T] + 1
        places_L = _ranges(source_starts[pairs_T], widths_T)
        places_L[np.cumsum(widths_T) - 1] = len(sources.ids)  # the null word is the last of each
        yield with_null[places_L] * vocabulary + np.repeat(targets_T, widths_T), widths_T


def _ranges(starts: Ids, lengths: Ids) -> Ids:
    """The ranges start, start + 1, …, of `length` numbers each, one after the other."""
    return np.arange(lengths.sum()) + np.repeat(starts - _firsts(lengths), lengths)


def _firsts(lengths: Ids) -> Ids:
    """The start of each of these pieces when they are laid end to end."""
    firsts: Ids = np.cumsum(lengths) - lengths
    return firsts


def _flat(pairs: Iterable[TokenPair]) -> tuple[_Sentences, _Sentences]:
    """Both sides of all pairs that have a target."""
    ids, lengths = (array("i"), array("i")), (array("q"), array("q"))
    for pair in pairs:
        if len(pair[1]):
            for side, sentence in enumerate(pair):
                ids[side].extend(sentence)
                lengths[side].append(len(sentence))
    source, target = (
        _Sentences(np.array(ids[side], np.int32), np.array(lengths[side], np.int64))
        for side in (0, 1)
    )
    return source, target


def _affordable(source_lengths: Ids, target_lengths: Ids) -> Ids:
    """The indices of all pairs, or of as many evenly spread pairs as have at most 100 million
    links."""
    links = int((target_lengths * (source_lengths + 1)).sum())
    every = -(-links // MOST_LINKS)
    return np.arange(0, len(source_lengths), max(every, 1))
