"""Decoding with a selected vocabulary: each sentence over its own ids, whoever is beside it."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.decoding.sampling import sample
from allyouneed.engine.selected_vocabulary import SelectedVocabulary
from allyouneed.errors import ShapeError

Ids = NDArray[np.int64]
END = 2
SOURCES = [[5, 9, 6, END], [7, END], [8, 5, 12, 6, 7, END]]
ROWS = [np.array(row) for row in ([2, 5, 6, 7], [2, 8, 9, 10, 11], [1, 2, 3, 12, 13, 14, 15])]
OPTIONS = BeamOptions(beam=3, n_best=3, extra_length=4)


@pytest.fixture(scope="module")
def model() -> Transformer:
    config = TransformerConfig(
        vocabulary=20,
        d_model=16,
        heads=2,
        d_ff=24,
        encoder_layers=1,
        decoder_layers=1,
        max_positions=32,
        shared_embeddings="none",
        output_bias=True,
    )
    model = Transformer(config)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.5)
    return model.eval()


@pytest.fixture(scope="module")
def padded() -> Callable[[Sequence[Sequence[int]]], torch.Tensor]:
    def pad(rows: Sequence[Sequence[int]]) -> torch.Tensor:
        longest = max(map(len, rows))
        return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])

    return pad


def test_log_probabilities_are_normalised_over_the_row(model: Transformer, padded) -> None:
    selected = SelectedVocabulary(model, ROWS)
    source_BS, start_BN = padded(SOURCES), torch.full((3, 2), model.config.start)
    own = selected.step(start_BN, selected.start(selected.encode(source_BS), 2, 4))
    whole = model.step(start_BN, model.start(model.encode(source_BS), 2, 4))
    for sentence, row in enumerate(ROWS):
        inside = torch.from_numpy(row)
        log_p_NV = own.log_softmax(-1)[sentence]
        expected = whole[sentence][:, inside].log_softmax(-1)
        torch.testing.assert_close(log_p_NV[:, inside], expected)
        assert (log_p_NV > float("-inf")).sum(dim=-1).tolist() == [len(row)] * 2


def test_hypotheses_are_of_the_row_and_do_not_depend_on_neighbours(
    model: Transformer, padded
) -> None:
    together = beam_search(SelectedVocabulary(model, ROWS), padded(SOURCES), OPTIONS)
    lengths = {len(found[0].ids) for found in together}
    assert len(lengths) > 1, "sentences should leave the batch at different times"
    for sentence, found in enumerate(together):
        assert {id_ for hypothesis in found for id_ in hypothesis.ids} <= set(ROWS[sentence])
        (alone,) = beam_search(
            SelectedVocabulary(model, [ROWS[sentence]]), padded([SOURCES[sentence]]), OPTIONS
        )
        assert [h.ids for h in alone] == [h.ids for h in found]
        assert [h.score for h in alone] == pytest.approx([h.score for h in found], abs=1e-5)


def test_with_everything_selected_nothing_changes(model: Transformer, padded) -> None:
    everything = SelectedVocabulary(model, [np.arange(20)] * 3)
    assert beam_search(everything, padded(SOURCES), OPTIONS) == beam_search(
        model, padded(SOURCES), OPTIONS
    )


def test_samples_are_of_the_row(model: Transformer, padded) -> None:
    options = SamplingOptions(samples=20, max_length=6)
    for row, found in zip(
        ROWS, sample(SelectedVocabulary(model, ROWS), padded(SOURCES), options), strict=True
    ):
        drawn = {id_ for hypothesis in found for id_ in hypothesis.ids}
        assert drawn <= set(row)
        assert len(drawn) > 1


def test_a_forced_prefix_that_the_row_holds(model: Transformer, padded) -> None:
    prefixes = [[7, 6], [], [15]]
    found = beam_search(SelectedVocabulary(model, ROWS), padded(SOURCES), OPTIONS, prefixes)
    assert found[0][0].ids[:2] == (7, 6)
    assert found[2][0].ids[0] == 15


def test_rows_for_another_batch_are_refused(model: Transformer, padded) -> None:
    with pytest.raises(ShapeError, match="3 sentences for 2 rows"):
        SelectedVocabulary(model, ROWS[:2]).encode(padded(SOURCES))


def test_a_model_in_training_mode_is_seen_through(model: Transformer) -> None:
    assert SelectedVocabulary(model, ROWS).training is False
    model.train()
    try:
        assert SelectedVocabulary(model, ROWS).training is True
    finally:
        model.eval()
