import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core.embeddings import Embeddings
from allyouneed.core.positions import LearnedPositions, TablePositions, sinusoidal_encoding
from allyouneed.errors import ShapeError

Sentences = Callable[..., Tensor]


def embeddings(**parts: object) -> Embeddings:
    tokens = nn.Embedding(23, 8)
    options = {"max_positions": 12, "pad": 0} | parts
    positions = options.pop("positions", TablePositions(sinusoidal_encoding(12, 8)))
    return Embeddings(tokens, positions, **options)  # type: ignore[arg-type]


def test_tokens_times_the_root_of_d_model_plus_positions() -> None:
    part = embeddings()
    ids_BT = torch.tensor([[3, 4, 3]])
    expected = part.tokens.weight[ids_BT] * math.sqrt(8) + sinusoidal_encoding(3, 8)
    assert_close(part(ids_BT), expected)


def test_scaling_is_a_choice() -> None:
    part = embeddings(scaled=False, positions=None)
    ids_BT = torch.tensor([[3, 4, 3]])
    assert torch.equal(part(ids_BT), part.tokens.weight[ids_BT])


def test_as_bert_does_it() -> None:
    """Learned positions, then layer norm, then dropout."""
    part = embeddings(
        scaled=False, positions=LearnedPositions(12, 8), norm=nn.LayerNorm(8), dropout=0.5
    )
    ids_BT = torch.tensor([[3, 4, 3]])
    normed = nn.functional.layer_norm(part.tokens.weight[ids_BT] + part.positions.weight[:3], (8,))
    assert_close(part.eval()(ids_BT), normed)
    dropped = part.train()(ids_BT)
    assert_close(dropped, torch.where(dropped == 0, 0, normed * 2))
    assert 0 < (dropped == 0).sum() < dropped.numel()


def test_segments_are_told_apart() -> None:
    part = embeddings(segments=nn.Embedding(2, 8)).eval()
    ids_BT, segments_BT = torch.tensor([[3, 4, 3]]), torch.tensor([[0, 0, 1]])
    plain = embeddings()
    plain.load_state_dict({"tokens.weight": part.tokens.weight})
    expected = plain(ids_BT) + part.segments.weight[segments_BT]
    assert_close(part(ids_BT, segments_BT=segments_BT), expected)
    assert_close(part(ids_BT), plain(ids_BT) + part.segments.weight[0])
    with pytest.raises(ShapeError, match="have no segments; leave segments_BT out"):
        plain(ids_BT, segments_BT=segments_BT)


@pytest.mark.parametrize("left", [True, False])
def test_padding_takes_up_no_position(sentences: Sentences, left: bool) -> None:
    part = embeddings()
    ids_BT = sentences([3, 7, 5], left=left)
    vectors = part(ids_BT)
    for row, ids in zip(vectors, ids_BT, strict=True):
        alone = ids[ids != 0]
        assert_close(row[ids != 0], part(alone[None])[0])


def test_where_sentences_begin_with_pad_it_is_a_token_like_any() -> None:
    part = embeddings(pad=-1)
    ids_BT = torch.tensor([[0, 4, 3]])
    expected = part.tokens.weight[ids_BT] * math.sqrt(8) + sinusoidal_encoding(3, 8)
    assert_close(part(ids_BT), expected)


def test_offset_is_where_the_first_id_stands(sentences: Sentences) -> None:
    part = embeddings()
    ids_BT = sentences([7, 7])
    whole = part(ids_BT)
    for step in range(7):
        assert_close(part(ids_BT[:, step : step + 1], step), whole[:, step : step + 1])


def test_text_longer_than_the_positions_is_an_error() -> None:
    message = "13 tokens do not fit into max_positions=12; split the text or build the model with"
    with pytest.raises(ShapeError, match=message):
        embeddings()(torch.ones(1, 13, dtype=torch.int64))
    with pytest.raises(ShapeError, match=message):
        embeddings(positions=None)(torch.ones(1, 1, dtype=torch.int64), offset=12)


def test_ids_have_two_axes() -> None:
    with pytest.raises(ShapeError, match=r"ids need the axes BT, not \(3,\)"):
        embeddings()(torch.tensor([3, 4, 5]))
