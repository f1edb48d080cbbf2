"""What is ruled out is not said, whichever search drives the model; all else stays as it was."""

import pytest
import torch

from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.blocked_sentences import BlockedSentences
from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.decoding.sampling import sample
from allyouneed.errors import UsageError

OPTIONS = BeamOptions(beam=4, n_best=4, loop_guard=False)


def test_nothing_ruled_out_changes_nothing(transformer, batch, sentences) -> None:
    model, source_BS = transformer(), batch(sentences[:8])
    assert beam_search(BlockedSentences(model, []), source_BS, OPTIONS) == beam_search(
        model, source_BS, OPTIONS
    )


def test_greedy_search_goes_on_where_it_would_have_ended(kit, batch) -> None:
    model, source_BS = kit.model(kit.noise(9, end=1.0)), batch([[5, 2], [6, 2], [7, 2]])
    firsts = greedy_search(model, source_BS)
    [ruled_out] = firsts[1]
    assert ruled_out.finished
    seconds = greedy_search(BlockedSentences(model, [ruled_out.ids[:-1]]), source_BS)
    assert [seconds[n][0].ids for n in (0, 2)] == [firsts[n][0].ids for n in (0, 2)]
    [other] = seconds[1]
    length = len(ruled_out.ids) - 1
    assert other.ids[:length] == ruled_out.ids[:length]
    assert len(other.ids) > len(ruled_out.ids)


@pytest.mark.parametrize("search", ["beam", "samples"])
def test_no_hypothesis_is_one_that_is_ruled_out(kit, batch, search: str) -> None:
    model, source_BS = (
        kit.model(kit.noise(7, end=1.0)),
        batch([[k % 5 + 2, 2] for k in range(1, 5)]),
    )

    def ids(model) -> set[tuple[int, ...]]:
        drawn = SamplingOptions(samples=20, max_length=9)
        found = (
            beam_search(model, source_BS, OPTIONS)
            if search == "beam"
            else sample(model, source_BS, drawn)
        )
        return {one.ids for hypotheses in found for one in hypotheses}

    ended = {one for one in ids(model) if one[-1] == model.config.end}
    said = sorted(ended, key=lambda one: (len(one), one))[:3]
    assert len(said) == 3
    assert ids(BlockedSentences(model, [one[:-1] for one in said])).isdisjoint(said)


def test_a_model_in_training_mode_is_refused(transformer, batch) -> None:
    model = transformer().train()
    with pytest.raises(UsageError, match="training mode"):
        greedy_search(BlockedSentences(model, []), torch.tensor([[5, 2]]))
