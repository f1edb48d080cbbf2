import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allyouneed.data import batches as batches_module
from allyouneed.data.batches import BatchSampler
from allyouneed.errors import DataError, UsageError

LENGTHS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=60)


def pairs_of(lengths):
    return [("x" * source, "y" * target) for source, target in lengths]


def natural_lengths(count: int) -> list[tuple[int, int]]:
    """Lengths spread as those of English and German image captions in pieces of words are."""
    rng = np.random.default_rng(0)
    source = rng.lognormal(2.84, 0.31, count)
    target = source * rng.lognormal(0.07, 0.17, count)
    return list(zip(source.astype(int).tolist(), target.astype(int).tolist(), strict=True))


def padding(store, batches) -> float:
    """The share of positions, both sides together, that hold padding."""
    lengths = store.lengths()
    sides = [side[batch] for batch in batches for side in lengths]
    return 1 - sum(side.sum() for side in sides) / sum(len(side) * side.max() for side in sides)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lengths=LENGTHS, budget=st.integers(31, 200), seed=st.integers(0, 9))
def test_every_pair_once_and_every_batch_within_its_budget(store_of, lengths, budget, seed):
    store = store_of(pairs_of(lengths))
    batches = BatchSampler(store, budget, seed).epoch_batches(0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    longest = np.maximum(*store.lengths())
    assert all(len(batch) * longest[batch].max() <= budget for batch in batches)


def test_the_order_follows_from_seed_and_epoch_alone(store_of):
    store = store_of(pairs_of(natural_lengths(300)))

    def order(seed: int, epoch: int) -> list[list[int]]:
        return [b.tolist() for b in BatchSampler(store, 200, seed).epoch_batches(epoch)]

    sampler = BatchSampler(store, 200, 1)
    later = [b.tolist() for b in [sampler.epoch_batches(n) for n in range(4)][3]]
    assert later == order(1, 3)
    assert len({str(order(*state)) for state in [(1, 3), (3, 1), (1, 2), (2, 3)]}) == 4


def test_batches_and_their_order_change_with_the_epoch(store_of):
    sampler = BatchSampler(store_of(pairs_of([(5, 5)] * 100)), 60, 0)
    first, second = (
        {frozenset(batch.tolist()) for batch in sampler.epoch_batches(n)} for n in range(2)
    )
    assert len(first) == len(second) == 10
    assert first != second
    spread = BatchSampler(store_of(pairs_of([(n, n) for n in range(1, 60)])), 120, 0)
    lengths = [int(batch.max()) for batch in spread.epoch_batches(0)]
    assert abs(np.corrcoef(lengths, range(len(lengths)))[0, 1]) < 0.5


def test_little_is_padding(store_of):
    store = store_of(pairs_of(natural_lengths(29_000)))
    batches = BatchSampler(store, 4096, 0).epoch_batches(0)
    assert padding(store, batches) < 0.05
    source, target = store.lengths()
    fill = (source.sum() + target.sum()) / (2 * 4096 * len(batches))
    assert fill > 0.85  # and the budget is used
    shuffled = np.array_split(np.random.default_rng(0).permutation(len(store)), len(batches))
    assert padding(store, shuffled) > 0.4


@pytest.mark.parametrize(
    ("weight", "times"), [(0.5, {0, 1}), (1, {1}), (2.5, {2, 3}), (0.01, {0, 1}), (3, {3})]
)
def test_weights_say_how_often(store_of, weight, times):
    store = store_of(pairs_of([(3, 3)] * 40), pairs_of([(2, 2)] * 10))
    sampler = BatchSampler(store, 50, 0, [weight, 1])
    seen = np.bincount(np.concatenate(sampler.epoch_batches(0)), minlength=50)
    assert seen[:40].sum() == max(1, round(weight * 40))
    assert set(seen[:40].tolist()) == times
    assert set(seen[40:].tolist()) == {1}


def test_another_half_in_another_epoch(store_of):
    sampler = BatchSampler(store_of(pairs_of([(3, 3)] * 40)), 50, 0, [0.5])
    halves = {tuple(sorted(np.concatenate(sampler.epoch_batches(n)))) for n in range(5)}
    assert len(halves) == 5


def test_a_corpus_without_pairs_is_passed_over(store_of, tmp_path):
    sampler = BatchSampler(store_of([("a", "b")], []), 50, 0)
    assert [batch.tolist() for batch in sampler.epoch_batches(0)] == [[0]]


def test_a_pair_over_the_budget_is_named(store_of, tmp_path):
    store = store_of(pairs_of([(3, 3), (5, 60), (2, 2)]))
    with pytest.raises(DataError) as caught:
        BatchSampler(store, 60, 0)
    for word in ("0.tsv:2", "6 and 61 tokens", "batch_tokens=60", "to 61", "max_tokens"):
        assert word in str(caught.value)
    assert len(BatchSampler(store, 61, 0).epoch_batches(0)) == 2


@pytest.mark.parametrize("weights", [[1, 1], [], [0], [-1], [float("nan")], [float("inf")]])
def test_weights_that_do_not_fit(store_of, weights):
    with pytest.raises(UsageError, match="must be 1 numbers above 0"):
        BatchSampler(store_of([("a", "b")]), 50, 0, weights)


class Lengths:
    """As much of a store as the sampler asks for."""

    corpora = 1

    def __init__(self, source: list[int], target: list[int]) -> None:
        self.sides = np.array(source, dtype=np.int32), np.array(target, dtype=np.int32)
        self.corpus_bounds = np.array([0, len(source)])

    def __len__(self) -> int:
        return len(self.sides[0])

    def lengths(self, first=0, end=None):
        return self.sides[0][first:end], self.sides[1][first:end]

    def line_of(self, index: int) -> tuple[str, int]:
        return "made", index + 1


@pytest.mark.parametrize("chunk", [1, 7, 10**6])
def test_chunks_change_nothing(store_of, monkeypatch, chunk):
    store = store_of(pairs_of(natural_lengths(150)), pairs_of(natural_lengths(40)))

    def epoch() -> list[list[int]]:
        return [b.tolist() for b in BatchSampler(store, 200, 1, [1.5, 0.5]).epoch_batches(2)]

    whole = epoch()
    monkeypatch.setattr(batches_module, "CHUNK", chunk)
    assert epoch() == whole


def test_lengths_beyond_16_bits():
    store = Lengths([3, 70_000, 5, 66_000], [70_001, 2, 5, 66_001])
    sampler = BatchSampler(store, 140_002, 0)
    batches = sampler.epoch_batches(0)
    assert sorted(np.concatenate(batches).tolist()) == [0, 1, 2, 3]
    assert all(len(batch) <= 2 for batch in batches)
    with pytest.raises(DataError, match=r"made:1: a pair of 3 and 70001 tokens"):
        BatchSampler(store, 70_000, 0)


def test_a_bucket_may_be_sorted_in_parts(monkeypatch):
    store = Lengths(*np.array(natural_lengths(20_000)).T)
    monkeypatch.setattr(batches_module, "SORTED", 200)
    batches = BatchSampler(store, 1000, 0).epoch_batches(0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(20_000))
    assert padding(store, batches) < 0.06


def test_batches_are_asked_for_by_number(store_of):
    batches = BatchSampler(store_of(pairs_of([(n, n) for n in range(9)])), 20, 0).epoch_batches(0)
    every = [batch.tolist() for batch in batches]
    assert len(batches) == len(every) == 4
    assert batches[-1].tolist() == every[-1]
    assert [batch.tolist() for batch in batches[1::2]] == every[1::2]
    assert batches[len(every) :] == []
    with pytest.raises(IndexError):
        batches[len(every)]


@pytest.mark.parametrize("budget", [300, 25_000])
def test_an_epoch_is_planned_in_little_memory(monkeypatch, budget):
    monkeypatch.setattr(batches_module, "CHUNK", 1000)
    monkeypatch.setattr(batches_module, "SORTED", 1000)
    lengths = np.array(natural_lengths(100_000)).T
    store = Lengths(*lengths)
    tracemalloc.start()
    sampler = BatchSampler(store, budget, 0)
    held, _ = tracemalloc.get_traced_memory()
    batches = sampler.epoch_batches(0)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(map(len, batches)) == len(store)
    bytes_a_pair = np.array([held, after, peak]) / len(store)
    assert (bytes_a_pair < [4.5, 9.5, 14]).all(), bytes_a_pair
