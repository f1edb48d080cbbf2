"""Greedy search: the most probable token each time, by hand."""

import pytest
import torch

from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.options import SearchOptions
from allyouneed.errors import AllYouNeedError, ShapeError, UsageError

SEED_000 = {(): {3: 0.6, 4: 0.4}, (3,): {4: 0.7, 2: 0.3}, (3, 4): {2: 0.9, 3: 0.1}}


def test_it_takes_the_most_probable_token(kit, batch) -> None:
    [[found]] = greedy_search(kit.model(kit.table(6, SEED_000)), batch([[5, 2]]))
    assert found.ids == (3, 4, 2)
    assert found.finished
    assert torch.tensor(found.token_log_probabilities).exp().tolist() == pytest.approx(
        [0.6, 0.7, 0.9]
    )
    assert found.log_probability == pytest.approx(sum(found.token_log_probabilities))
    assert found.score == found.log_probability


def test_sentences_leave_the_batch_when_they_end(kit, batch) -> None:
    def rule(source, target):
        words = source[0]  # as many words as the first source id says
        logits_V = torch.zeros(16)
        logits_V[2 if len(target) == words else 3 + len(target)] = 9
        return logits_V

    model = kit.model(rule)
    found = greedy_search(model, batch([[5, 2], [3, 2], [9, 2], [5, 2]]))
    assert [len(h.ids) for [h] in found] == [6, 4, 10, 6]
    assert model.batch_sizes == [4] * 4 + [3] * 2 + [1] * 4


def test_a_hypothesis_at_the_limit_is_not_finished(kit, batch) -> None:
    model = kit.model(kit.table(6, {(): {3: 0.5, 4: 0.4, 2: 0.1}}))
    [[found]] = greedy_search(model, batch([[5, 2]]), SearchOptions(max_length=4))
    assert found.ids == (3, 3, 3, 3)
    assert not found.finished


def test_one_that_ends_at_the_limit_is_finished(kit, batch) -> None:
    [[found]] = greedy_search(
        kit.model(kit.table(6, SEED_000)), batch([[5, 2]]), SearchOptions(max_length=3)
    )
    assert found.ids == (3, 4, 2)
    assert found.finished


def test_the_default_limit_is_the_source_length_plus_50(kit, batch) -> None:
    model = kit.model(kit.table(6, {(): {3: 0.5, 4: 0.5}}))
    found = greedy_search(model, batch([[5, 5, 5, 2], [5, 2]]), SearchOptions(loop_guard=False))
    assert [len(h.ids) for [h] in found] == [53, 51]
    assert model.cache.max_length == 53


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        ({"max_length_factor": 1.5}, 6),  # of "5 5 5 end"
        ({"max_length_factor": 1.3}, 6),  # 5.2: the first length that is not below it, as in Marian
        ({"max_length_factor": 2, "max_length": 5}, 5),
        ({"max_length_factor": 100}, 53),
        ({"max_length_factor": 0.5, "min_length": 6}, 7),
        ({"max_length_factor": 1.5, "given": 1, "min_length": 2}, 7),
    ],
)
def test_a_factor_of_the_source_length_limits(kit, options, tokens: int) -> None:
    config = kit.model(kit.table(6, {(): {3: 1.0}}), max_positions=60).config
    assert SearchOptions(**options).limit(3, config) == tokens


def test_positions_of_the_model_limit_too(kit, batch) -> None:
    model = kit.model(kit.table(6, {(): {3: 1.0}}), max_positions=9)
    [[found]] = greedy_search(model, batch([[5, 5, 5, 2]]), SearchOptions(loop_guard=False))
    assert len(found.ids) == 9


def test_no_sentences_no_hypotheses(kit) -> None:
    model = kit.model(kit.table(6, SEED_000))
    assert greedy_search(model, torch.empty(0, 3, dtype=torch.long)) == []


def test_a_model_of_nan_is_an_error(kit, batch) -> None:
    model = kit.model(lambda source, target: torch.full((6,), float("nan")))
    with pytest.raises(AllYouNeedError, match=r"sentence 0: .* not finite"):
        greedy_search(model, batch([[5, 2]]), SearchOptions(max_length=3))


def test_a_source_of_one_axis_is_refused(kit) -> None:
    with pytest.raises(ShapeError, match=r"must be BS, not of shape \(2,\)"):
        greedy_search(kit.model(kit.table(6, SEED_000)), torch.tensor([5, 2]))


def test_a_model_in_training_mode_is_refused(transformer, batch) -> None:
    with pytest.raises(UsageError, match=r"training mode.*model\.eval\(\)"):
        greedy_search(transformer().train(), batch([[5, 2]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_length": -1}, "min_length=-1 must be at least 0"),
        ({"extra_length": 0}, "extra_length=0 must be at least 1"),
        ({"max_length_factor": 0}, "max_length_factor=0 must be above 0"),
        ({"max_length_factor": float("nan")}, "max_length_factor=nan must be above 0"),
        ({"max_length_factor": "2"}, "max_length_factor='2' must be a number"),
        ({"no_repeat_ngram": -1}, "no_repeat_ngram=-1 must be at least 0"),
        ({"max_length": 5, "min_length": 5}, "max_length=5 leaves no room for min_length=5"),
    ],
)
def test_options_out_of_range_are_refused(options, message) -> None:
    with pytest.raises(UsageError, match=message):
        SearchOptions(**options)
