"""Scores of given targets against the whole distribution and against search."""

import math

import pytest
import torch

from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.scoring import score_targets, teacher_input
from allyouneed.errors import ShapeError, UsageError


def test_the_score_is_the_sum_of_the_searchs_log_probabilities(
    transformer, batch, sentences
) -> None:
    model, source_BS = transformer(), batch(sentences)
    found = [h for [h] in beam_search(model, source_BS, BeamOptions(min_length=3))]
    scores = score_targets(model, source_BS, batch([h.ids for h in found]))
    for h, score in zip(found, scores, strict=True):
        assert score == pytest.approx(h.token_log_probabilities, abs=1e-4)
        assert math.fsum(score) == pytest.approx(h.log_probability, abs=1e-3)


def test_every_first_token_together_has_probability_one(transformer, batch) -> None:
    model = transformer()
    source_BS = batch([[5, 6, 2]]).expand(23, -1)
    targets = torch.arange(23)[1:, None]  # each id but pad
    scores = score_targets(model, source_BS[1:], targets)
    logits_V = model(source_BS[:1], torch.tensor([[1]]))[0, 0]
    left = 1 - logits_V.softmax(-1)[0].item()
    assert sum(math.exp(s) for [s] in scores) == pytest.approx(left, abs=1e-5)


def test_padding_has_no_score(transformer, batch) -> None:
    model = transformer()
    source_BS = batch([[5, 6, 2], [7, 2]])
    scores = score_targets(model, source_BS, batch([[8, 9, 10, 2], [4, 2]]))
    assert [len(score) for score in scores] == [4, 2]
    alone = score_targets(model, batch([[7, 2]]), batch([[4, 2]]))
    assert scores[1] == pytest.approx(alone[0], abs=1e-5)


def test_the_target_is_shifted_right(transformer, batch) -> None:
    shifted = teacher_input(transformer(), batch([[5, 2]]), batch([[8, 9, 2]]))
    assert shifted.tolist() == [[1, 8, 9]]


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_shapes_that_do_not_fit_are_refused(shape, transformer, batch) -> None:
    with pytest.raises(ShapeError, match="must be BS and BT with the same B"):
        score_targets(transformer(), batch([[5, 2], [6, 2]]), torch.full(shape, 5))


def test_a_model_in_training_mode_is_refused(transformer, batch) -> None:
    with pytest.raises(UsageError, match="training mode"):
        score_targets(transformer().train(), batch([[5, 2]]), batch([[5, 2]]))
