"""An ensemble is one model whose probabilities are the mean of its members'."""

import pytest
import torch
from torch.testing import assert_close

from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.ensemble import Ensemble
from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.scoring import score_targets
from allyouneed.errors import ConfigError, UsageError


def test_an_ensemble_of_one_is_that_one(transformer, batch, sentences) -> None:
    model, source_BS = transformer(), batch(sentences[:8])
    alone = beam_search(model, source_BS, BeamOptions(n_best=4))
    ensemble = beam_search(Ensemble([model]), source_BS, BeamOptions(n_best=4))
    for ours, theirs in zip(ensemble, alone, strict=True):
        assert [h.ids for h in ours] == [h.ids for h in theirs]
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-4)


def test_an_ensemble_of_two_averages_probabilities(kit, batch) -> None:
    rules = [kit.noise(9, seed=1), kit.noise(9, seed=2)]

    def mean(source, target):
        return sum(rule(source, target).softmax(-1) for rule in rules).log() - 3.0

    source_BS, options = batch([[k, 2] for k in range(3, 9)]), BeamOptions(n_best=4)
    together = beam_search(Ensemble([kit.model(rule) for rule in rules]), source_BS, options)
    expected = beam_search(kit.model(mean), source_BS, options)
    for ours, theirs in zip(together, expected, strict=True):
        assert [h.ids for h in ours] == [h.ids for h in theirs]
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-4)


def test_it_scores_as_it_searches(transformer, batch, sentences) -> None:
    ensemble = Ensemble([transformer(0), transformer(1), transformer(2)])
    source_BS = batch(sentences[:8])
    found = [h for [h] in greedy_search(ensemble, source_BS)]
    scores = score_targets(ensemble, source_BS, batch([h.ids for h in found]))
    for h, score in zip(found, scores, strict=True):
        assert score == pytest.approx(h.token_log_probabilities, abs=1e-4)


def test_probabilities_still_sum_to_one(transformer, batch) -> None:
    ensemble = Ensemble([transformer(0), transformer(1)])
    log_p_BTV = ensemble(batch([[5, 6, 2]]), batch([[1, 5, 6]]))
    assert_close(log_p_BTV.exp().sum(-1), torch.ones(1, 3))


def test_the_shortest_member_limits(transformer) -> None:
    ensemble = Ensemble([transformer(0, max_positions=64), transformer(1, max_positions=32)])
    assert ensemble.config.max_positions == 32


def test_members_share_a_vocabulary(transformer) -> None:
    with pytest.raises(ConfigError, match=r"model 1 of the ensemble has vocabulary=31, .* 23"):
        Ensemble([transformer(), transformer(vocabulary=31)])
    with pytest.raises(ConfigError, match="model 1 of the ensemble has end=4"):
        Ensemble([transformer(), transformer(end=4)])


def test_an_ensemble_has_members() -> None:
    with pytest.raises(ConfigError, match="at least one model"):
        Ensemble([])


def test_a_member_in_training_mode_is_noticed(transformer, batch) -> None:
    with pytest.raises(UsageError, match="training mode"):
        greedy_search(Ensemble([transformer(), transformer(1).train()]), batch([[5, 2]]))


def test_a_source_vocabulary_that_is_named_or_not_is_the_same(transformer) -> None:
    named = transformer(source_vocabulary=transformer().config.vocabulary, shared_embeddings="none")
    assert len(Ensemble([named, transformer(shared_embeddings="none")]).models) == 2
