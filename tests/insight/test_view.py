"""Attention from anywhere: what is taken, and what is said of what is not."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from allyouneed.errors import ShapeError, UsageError
from allyouneed.insight.view import attention_view

GERMAN, ENGLISH = ["Wo", "ist", "er", "?", "</s>"], ["Where", "is", "he?"]


def weights(layers: int, heads: int = 2, batch: int | None = None) -> list[Tensor]:
    shape = (heads, 5, 3) if batch is None else (batch, heads, 5, 3)
    return [torch.rand(shape).softmax(-1) for _ in range(layers)]


def test_layers_are_kept_as_they_are() -> None:
    given = [*weights(2), *weights(1, heads=7)]
    view = attention_view(GERMAN, ENGLISH, given)
    assert (view.tokens_x, view.tokens_y) == (tuple(GERMAN), tuple(ENGLISH))
    for mine, theirs in zip(view.layers, given, strict=True):
        assert_close(mine, theirs)
    assert_close(view.head(2, 6), given[2][6])
    assert_close(view.head(-1, -1), given[2][6])
    given[0].zero_()
    assert view.layers[0].sum() > 0


def test_a_batch_of_one_a_stack_arrays_and_lists() -> None:
    given = weights(3)
    for other in (
        tuple(layer[None] for layer in given),
        torch.stack(given),
        torch.stack(given)[:, None].double().requires_grad_(),
        [layer.numpy().astype(np.float64) for layer in given],
        [layer.tolist() for layer in given],
    ):
        view = attention_view(GERMAN, ENGLISH, other)
        assert_close(list(view.layers), given)


def test_hugging_face_models_of_unequal_depth() -> None:
    transformers = pytest.importorskip("transformers")
    shape = {"d_model": 8, "encoder_attention_heads": 2, "decoder_attention_heads": 4}
    config = transformers.MarianConfig(
        **shape,
        vocab_size=20,
        encoder_layers=3,
        decoder_layers=1,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
        max_position_embeddings=16,
        pad_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=0,
        attn_implementation="eager",
    )
    model = transformers.MarianMTModel(config).eval()
    ids = {
        "input_ids": torch.tensor([[5, 6, 2]]),
        "decoder_input_ids": torch.tensor([[0, 7, 8, 9, 4]]),
    }
    with torch.no_grad():
        out = model(**ids, output_attentions=True)
    cross = attention_view(GERMAN, ENGLISH, out.cross_attentions)
    encoder = attention_view(ENGLISH, ENGLISH, out.encoder_attentions)
    decoder = attention_view(GERMAN, GERMAN, out.decoder_attentions)
    shapes = [[tuple(layer.shape) for layer in view.layers] for view in (cross, encoder, decoder)]
    assert shapes == [[(4, 5, 3)], [(2, 3, 3)] * 3, [(4, 5, 5)]]
    assert_close(cross.layers[0].sum(-1), torch.ones(4, 5))


def test_what_is_wrong_is_said_with_its_layer() -> None:
    good = weights(3)
    with pytest.raises(
        ShapeError, match=r"layer 1 .* \(2, 4, 3\); with 5 tokens_x.*\(heads, 5, 3\)$"
    ):
        attention_view(GERMAN, ENGLISH, [good[0], good[1][:, :4], good[2]])
    with pytest.raises(ShapeError, match=r"layer 0 .* exchange tokens_x and tokens_y"):
        attention_view(ENGLISH, GERMAN, good)
    with pytest.raises(ShapeError, match="layer 0 holds 4 sentences"):
        attention_view(GERMAN, ENGLISH, weights(1, batch=4))
    with pytest.raises(ShapeError, match=r"\[weights\]"):
        attention_view(GERMAN, ENGLISH, good[0])
    with pytest.raises(ShapeError, match="layer 0 has the shape"):
        attention_view(GERMAN, ENGLISH, [good[0][0]])
    with pytest.raises(ShapeError, match=r"layer 0 is a list of 2 .* torch\.cat"):
        attention_view(GERMAN, ENGLISH, [(good[0][None], good[1][None])])
    with pytest.raises(UsageError, match=r"layer 1 has no weights .*eager"):
        attention_view(GERMAN, ENGLISH, [good[0], None])
    with pytest.raises(UsageError, match="no layers"):
        attention_view(GERMAN, ENGLISH, [])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.25])
def test_weights_that_are_none(value: float) -> None:
    layers = weights(2)
    layers[1][1, 4, 2] = value
    with pytest.raises(
        UsageError, match=r"layer 1, head 1, row 4, column 2: .* is not an attention weight"
    ):
        attention_view(GERMAN, ENGLISH, layers)


def test_tokens_that_are_none() -> None:
    with pytest.raises(UsageError, match="tokens_y must be a list of strings"):
        attention_view(GERMAN, "abc", weights(1))
    with pytest.raises(UsageError, match="tokens_x must be a list of strings"):
        attention_view([1, 2, 3, 4, 5], ENGLISH, weights(1))  # type: ignore[list-item]


def test_sides_that_cannot_be_drawn() -> None:
    with pytest.raises(UsageError, match="tokens_y is empty; there is nothing to draw"):
        attention_view(GERMAN, [], [torch.zeros(2, len(GERMAN), 0)])
    half_a_character = [*ENGLISH[:-1], "\ud83d"]
    assert attention_view(GERMAN, half_a_character, weights(1)).tokens_y[-1] == "\ufffd"


def test_a_layer_or_head_that_is_not_there() -> None:
    view = attention_view(GERMAN, ENGLISH, weights(2))
    with pytest.raises(UsageError, match="layer 2: there are 0 … 1"):
        view.head(2, 0)
    with pytest.raises(UsageError, match="head -3: there are 0 … 1"):
        view.head(0, -3)


def test_the_heat_map_has_the_head_and_both_sides() -> None:
    pytest.importorskip("matplotlib")
    view = attention_view(GERMAN, ENGLISH, weights(2))
    plot = view.heatmap(1, 0).axes[0]
    assert_close(torch.tensor(plot.images[0].get_array()), view.head(1, 0).double())
    assert [label.get_text() for label in plot.get_yticklabels()] == GERMAN
    assert [label.get_text() for label in plot.get_xticklabels()] == ENGLISH
