"""Alignments: the attention of the right step and layer, turned into pairs of words."""

import pytest
import torch
from torch.testing import assert_close

from allyouneed.decoding.alignment import cross_attention_map
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.links import pharaoh, word_alignment
from allyouneed.errors import UsageError


def test_the_map_is_the_layers_attention_averaged_over_heads(transformer, batch) -> None:
    model = transformer()
    source_BS, target_BT = batch([[5, 6, 7, 2], [8, 2]]), batch([[9, 10, 2], [11, 2]])
    watched: list[torch.Tensor] = []
    attention = model.decoder.layers[0].cross_attention
    attention.probes.append(lambda w, site: watched.append(w) or w)
    model(source_BS, torch.tensor([[1, 9, 10], [1, 11, 2]]))
    attention.probes.clear()
    map_BTS = cross_attention_map(model, source_BS, target_BT, AlignmentHeads(0))
    assert map_BTS.shape == (2, 3, 4)
    assert_close(map_BTS, watched[0].mean(1))
    assert_close(map_BTS.sum(-1), torch.ones(2, 3))
    assert map_BTS[1, :, 2:].eq(0).all()  # nobody looks at padding


def test_layers_are_counted_from_either_end(transformer, batch) -> None:
    model, ids_BS = transformer(), batch([[5, 6, 7, 2]])
    first, last = (cross_attention_map(model, ids_BS, ids_BS, AlignmentHeads(n)) for n in (0, 1))
    assert_close(cross_attention_map(model, ids_BS, ids_BS, AlignmentHeads(-1)), last)
    assert (first - last).abs().max() > 0.01


def test_the_model_is_left_as_it_was(transformer, batch) -> None:
    model, ids_BS = transformer(), batch([[5, 6, 2]])
    before = model(ids_BS, ids_BS)
    cross_attention_map(model, ids_BS, ids_BS)
    assert not any(layer.cross_attention.probes for layer in model.decoder.layers)
    assert torch.equal(model(ids_BS, ids_BS), before)


def test_a_layer_that_is_not_there(transformer, batch) -> None:
    with pytest.raises(UsageError, match=r"layer 2: the decoder has layers 0 … 1"):
        cross_attention_map(transformer(), batch([[5, 2]]), batch([[5, 2]]), AlignmentHeads(2))


ATTENTION = torch.tensor(
    [
        [0.1, 0.7, 0.1, 0.1],
        [0.4, 0.3, 0.3, 0.0],
        [0.0, 0.1, 0.2, 0.7],
        [0.1, 0.1, 0.1, 0.7],
    ]
)


def test_each_target_token_gets_the_source_token_it_looks_at_most() -> None:
    links = word_alignment(ATTENTION, [0, 1, 2, 3], [0, 1, 2, 3])
    assert links == ((0, 1), (1, 0), (3, 2), (3, 3))
    assert pharaoh(links) == "0-1 1-0 3-2 3-3"


def test_tokens_of_a_word_are_counted_together() -> None:
    """Source tokens 1 and 2 are one word: 0.6 of row 1. Target tokens 2 and 3 are one word."""
    assert pharaoh(word_alignment(ATTENTION, [0, 1, 1, 2], [0, 1, 2, 2])) == "1-0 1-1 2-2"


def test_the_end_is_aligned_to_nothing() -> None:
    assert pharaoh(word_alignment(ATTENTION, [0, 1, 2, -1], [0, 1, 2, -1])) == "0-1 1-0 2-2"


def test_padding_is_aligned_to_nothing() -> None:
    assert pharaoh(word_alignment(ATTENTION, [0, 1, -1], [0, -1])) == "1-0"


def test_no_words_no_pairs() -> None:
    assert pharaoh(word_alignment(ATTENTION[:1, :1], [-1], [-1])) == ""
