"""Each constraint alone, then in searches."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.constraints import (
    LoopGuard,
    MinLength,
    NeverProduced,
    NoRepeatNgram,
    constraints_for,
)
from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.options import BeamOptions, SearchOptions
from allyouneed.errors import UsageError

VOCABULARY = 12
PLAIN = torch.tensor([[3, 4, 5, 2]])  # a source that repeats nothing
words = st.lists(st.integers(3, 5), max_size=24)


def banned(constraint, tokens: Sequence[int], log_p_BNV: Tensor | None = None) -> set[int]:
    """The ids that a constraint bans after these tokens."""
    if log_p_BNV is None:
        log_p_BNV = torch.zeros(1, 1, VOCABULARY)
    tokens_BNT = torch.tensor(tokens, dtype=torch.long).view(1, 1, -1)
    constraint(log_p_BNV, tokens_BNT, torch.tensor([0]))
    return set((log_p_BNV[0, 0] == float("-inf")).nonzero().flatten().tolist()) - {0}


def test_pad_and_start_are_never_produced() -> None:
    log_p_BNV = torch.zeros(1, 1, 6)
    NeverProduced(TransformerConfig(vocabulary=6))(log_p_BNV, torch.empty(1, 1, 0), None)
    assert (log_p_BNV[0, 0] == float("-inf")).tolist() == [True, True, *[False] * 4]


def test_a_start_that_is_also_the_end_can_be_produced() -> None:
    part = NeverProduced(TransformerConfig(vocabulary=6, pad=1, start=2, end=2))
    assert part.ids == [1]


def test_no_end_before_the_minimum_length() -> None:
    assert banned(MinLength(2, 2), []) == {2}
    assert banned(MinLength(2, 2), [3]) == {2}
    assert banned(MinLength(2, 2), [3, 3]) == set()


def test_the_end_comes_early_if_nothing_else_is_left() -> None:
    log_p_BNV = torch.full((1, 1, VOCABULARY), float("-inf"))
    log_p_BNV[0, 0, 2] = -1.5
    MinLength(5, 2)(log_p_BNV, torch.empty(1, 1, 0), torch.tensor([0]))
    assert log_p_BNV[0, 0, 2] == -1.5


@given(tokens=words, n=st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_no_ngram_is_repeated(tokens: list[int], n: int) -> None:
    seen = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    would_repeat = {i for i in range(VOCABULARY) if tuple([*tokens, i][-n:]) in seen}
    assert banned(NoRepeatNgram(n, 0), tokens) == would_repeat


@pytest.mark.parametrize(
    "loop", [[3], [3, 4], [3, 3, 4], [3, 4, 5, 6], [3, 4, 5, 6, 7], [3, 4, 5, 6, 7, 8, 9, 10]]
)
def test_the_guard_ends_a_loop(loop: list[int]) -> None:
    guard = LoopGuard(PLAIN, 0)
    assert banned(guard, [11, *loop * 5][:-1]) == set()
    assert banned(guard, [11, *loop * 5]) == {loop[0]}
    assert banned(guard, loop * 5) == {loop[0]}
    assert banned(guard, [11, *loop * 5, 11]) == set()  # it has been left


@pytest.mark.parametrize("said", [[3] * 3, [3, 4] * 3, [5, *[3] * 4, 5], [3, 4, 5] * 3])
def test_people_may_repeat_themselves(said: list[int]) -> None:
    """ "ha ha ha", "nein, nein, nein"; at no point does the guard stop them."""
    guard = LoopGuard(PLAIN, 0)
    assert all(banned(guard, said[:t]) == set() for t in range(len(said) + 1))


def repeats(tokens: list[int], period: int, times: int) -> bool:
    return len(tokens) >= period * times and tokens[-period * times :] == tokens[-period:] * times


@given(
    tokens=st.lists(st.sampled_from([3, 4]), max_size=5).flatmap(
        lambda loop: st.integers(0, 12).map(lambda n: [5, 3, *loop * n, *loop[:1]])
    )
)
@settings(max_examples=200, deadline=None)
def test_the_guard_is_its_definition(tokens: list[int]) -> None:
    periods = range(1, 9)
    expected = {tokens[-n] for n in periods if repeats(tokens, n, 5)}
    assert banned(LoopGuard(PLAIN, 0), tokens) == expected


@pytest.mark.parametrize(
    ("source", "copies"),
    [
        ([3, 4, 5, 2], 1),
        ([2], 1),
        ([3, 3, 3, 2], 3),
        ([5, 3, 4, 3, 4, 3, 4, 3, 2], 3),
        ([3, 4, 5, 6, 7, 8, 9, 10] * 2, 2),
        ([3, 3, 4, 4, 4, 4, 4, 5, 3, 3], 5),
        ([3, 3, 0, 0, 0, 0, 0, 0, 0, 0], 2),
    ],
)
def test_repetitions_of_the_source_are_counted(source: list[int], copies: int) -> None:
    assert LoopGuard.repetitions(torch.tensor([source]), 0).tolist() == [copies]


def test_a_source_that_repeats_allows_it_twice_as_often() -> None:
    guard = LoopGuard(torch.tensor([[*[7] * 9, 2]]), 0)
    assert banned(guard, [3] * 17) == set()
    assert banned(guard, [3] * 18) == {3}
    assert banned(guard, [3, 4] * 18) == {3}


def test_each_sentence_has_its_own_allowance() -> None:
    guard = LoopGuard(torch.tensor([[*[7] * 9, 2], [*range(3, 12), 2]]), 0)
    log_p_BNV = torch.zeros(2, 1, VOCABULARY)
    guard(log_p_BNV, torch.full((2, 1, 6), 3), torch.tensor([1, 0]))
    assert (log_p_BNV[:, 0, 3] == float("-inf")).tolist() == [True, False]


SEARCHES = [
    lambda model, source, prefixes=None, **o: greedy_search(
        model, source, SearchOptions(**o), prefixes
    ),
    lambda model, source, prefixes=None, **o: beam_search(
        model, source, BeamOptions(beam=3, n_best=3, **o), prefixes
    ),
]
searches = pytest.mark.parametrize("search", SEARCHES, ids=["greedy", "beam"])


@searches
def test_an_endless_loop_ends(search, kit, batch) -> None:
    model = kit.model(kit.table(6, {(): {3: 0.9, 2: 0.06, 4: 0.04}}))
    guarded = search(model, batch([[5, 2]]))[0][0]
    assert guarded.finished
    assert "333333" not in "".join(map(str, guarded.ids))
    endless = greedy_search(model, batch([[5, 2]]), SearchOptions(loop_guard=False))[0][0]
    assert endless.ids == (3,) * 51


@searches
@pytest.mark.parametrize("minimum", [0, 1, 4])
def test_minimum_length(search, minimum: int, kit, batch) -> None:
    model = kit.model(kit.noise(6, end=4.0))
    found = search(model, batch([[n, 2] for n in range(3, 30)]), min_length=minimum)
    lengths = [len(h.ids) - 1 for hypotheses in found for h in hypotheses]
    assert min(lengths) == minimum


@searches
@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_repeated_ngrams_in_a_search(search, n: int, kit, batch) -> None:
    model = kit.model(kit.noise(5, end=-2.0))
    source_BS = batch([[3, 2], [4, 2], [4, 3, 2]])

    def repeating(found) -> int:
        ids = [h.ids for hypotheses in found for h in hypotheses]
        grams = [[i[t : t + n] for t in range(len(i) - n + 1)] for i in ids]
        return sum(len(g) > len(set(g)) for g in grams)

    assert repeating(search(model, source_BS, max_length=10))
    assert not repeating(search(model, source_BS, max_length=10, no_repeat_ngram=n))


@searches
def test_prefixes_of_different_lengths_are_forced(search, kit, batch) -> None:
    """Also when sentences before them have left the batch."""
    model = kit.model(kit.noise(9, end=3.0))
    prefixes = [(), (5, 5, 5), (8,), (4, 3, 4, 5, 6, 7, 8, 8, 3, 8), (4, 4, 6, 6, 7, 7, 3, 3, 5)]
    found = search(
        model, batch([[k, 2] for k in range(3, 8)]), prefixes=prefixes, no_repeat_ngram=2
    )
    assert len(found[0][-1].ids) < 8
    for prefix, hypotheses in zip(prefixes, found, strict=True):
        assert all(h.ids[: len(prefix)] == prefix for h in hypotheses)
        assert all(len(h.ids) > len(prefix) for h in hypotheses)


@searches
def test_a_forced_token_counts_with_its_true_log_probability(search, kit, batch) -> None:
    rule = kit.noise(9)
    for h in search(kit.model(rule), batch([[3, 2]]), prefixes=[(5, 7)])[0]:
        true = [rule((3, 2), h.ids[:t]).log_softmax(-1)[i].item() for t, i in enumerate(h.ids)]
        assert h.token_log_probabilities == pytest.approx(true, abs=1e-5)


def test_an_empty_prefix_changes_nothing(kit, batch) -> None:
    model, source_BS = kit.model(kit.noise(9)), batch([[3, 2], [4, 5, 2]])
    assert beam_search(model, source_BS) == beam_search(model, source_BS, prefixes=[(), ()])


@pytest.mark.parametrize("id_", [0, 1, 2, 9, -1])
def test_an_id_that_is_no_word_cannot_be_forced(id_: int, kit, batch) -> None:
    with pytest.raises(UsageError, match=f"prefix of sentence 1: id {id_} cannot be forced"):
        greedy_search(kit.model(kit.noise(9)), batch([[3, 2], [4, 2]]), prefixes=[(3,), (3, id_)])


def test_a_prefix_for_each_sentence(kit, batch) -> None:
    with pytest.raises(UsageError, match="1 prefixes for 2 sentences"):
        greedy_search(kit.model(kit.noise(9)), batch([[3, 2], [4, 2]]), prefixes=[(3,)])


def test_a_prefix_leaves_room(kit, batch) -> None:
    with pytest.raises(UsageError, match="a prefix of 4 tokens leaves no room below the limit"):
        greedy_search(
            kit.model(kit.noise(9)), batch([[3, 2]]), SearchOptions(max_length=4), [(3, 4, 5, 6)]
        )


def test_parts_not_in_use_are_not_there() -> None:
    config = TransformerConfig(vocabulary=9)
    bare = constraints_for(SearchOptions(min_length=0, loop_guard=False), config, PLAIN)
    assert [type(part) for part in bare] == [NeverProduced]
    usual = constraints_for(SearchOptions(), config, PLAIN)
    assert [type(part) for part in usual] == [NeverProduced, LoopGuard, MinLength]
