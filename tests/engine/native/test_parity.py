"""float32: the native engine gives the core's logits, whatever the shape of the model.

B sentences · N hypotheses · V vocabulary
"""

from collections.abc import Callable
from typing import get_args

import pytest
import torch

from allyouneed.core.config import Activation, Decoder, Norm, Positions, Residual, SharedEmbeddings
from allyouneed.core.transformer import Transformer
from allyouneed.data.padding import padded
from allyouneed.engine.native import why_not
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.errors import AllYouNeedError, ShapeError

CHOICES = {
    "residual": Residual,
    "norm": Norm,
    "activation": Activation,
    "positions": Positions,
    "decoder": Decoder,
    "shared_embeddings": SharedEmbeddings,
}
SHAPES: list[dict[str, object]] = [
    *({name: value} for name, kind in CHOICES.items() for value in get_args(kind)),
    {"residual": "pre-norm", "norm": "rms", "positions": "rotary", "activation": "swiglu"},
    {"norm_epsilon": 0.3},
    {"scale_embeddings": False},
    {"normalise_embeddings": True},
    {"normalise_embeddings": True, "norm": "rms"},
    {"source_vocabulary": 61},
    {"vocabulary": 61, "source_vocabulary": 40},
    {"bias": False},
    {"output_bias": False},
    {"head_width": None},
    {"heads": 1, "head_width": 1},
    {"heads": 3, "head_width": 32},
    {"heads": 2, "head_width": 70, "positions": "rotary"},
    {"d_model": 37, "positions": "learned"},
    {"d_model": 1, "d_ff": 1, "residual": "pre-norm", "positions": "none"},
    {"d_model": 130, "d_ff": 257},
    {"encoder_layers": 0},
    {"encoder_layers": 0, "residual": "pre-norm"},
    {"decoder_layers": 0},
    {"decoder": "ssru", "residual": "pre-norm", "bias": False},
    {"decoder": "ssru", "d_model": 130, "heads": 1, "head_width": 1, "d_ff": 8, "start": 0},
    {"vocabulary": 4},
    {"vocabulary": 1100},
    {"pad": 9, "start": 46, "end": 0},
    {"start": 0},
    {"start": 2},
    {"dropout": 0.5, "activation_dropout": 0.4, "dropout_before_activation": True},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_logits_are_the_cores(
    shape: dict[str, object],
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., list[list[int]]],
) -> None:
    """Of unequal sentences, with hypotheses that change places and sentences that leave."""
    model = odd_model(**shape)
    config = model.config
    assert why_not(config) is None
    source_BS = padded(sentences(config, [5, 1, 40, 33, 2, 32]), config.pad, torch.device("cpu"))
    generator = torch.Generator().manual_seed(1)
    words = torch.tensor([i for i in range(config.vocabulary) if i != config.pad])
    ids_BN = torch.full((6, 3), config.start)
    roads = model, native(model).decodable
    with torch.inference_mode():
        caches = [road.start(road.encode(source_BS), 3, 5) for road in roads]
        for step in range(5):
            wanted_BNV, found_BNV = (
                road.step(ids_BN, cache) for road, cache in zip(roads, caches, strict=True)
            )
            torch.testing.assert_close(found_BNV, wanted_BNV, rtol=1e-4, atol=1e-4)
            kept = torch.tensor([0, 2, 3, 5]) if step == 2 else None
            size = 4 if step == 2 else len(ids_BN)
            parents_BN = torch.randint(3, (size, 3), generator=generator)
            for cache in caches:
                cache.select(kept, parents_BN)
            ids_BN = words[torch.randint(len(words), (size, 3), generator=generator)]


@pytest.mark.parametrize("activation", get_args(Activation))
def test_activations_far_from_zero(
    activation: str,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
) -> None:
    model = odd_model(activation=activation)
    with torch.no_grad():
        for layer in (*model.encoder.layers, *model.decoder.layers):
            layer.feed_forward.W_1.weight *= 100  # beyond where eˣ is a float32
    source_BS, ids_BN = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[1]])
    with torch.inference_mode():
        wanted_BNV, found_BNV = (
            road.step(ids_BN, road.start(road.encode(source_BS), 1, 1))
            for road in (model, native(model).decodable)
        )
    torch.testing.assert_close(found_BNV, wanted_BNV, rtol=1e-4, atol=1e-4)


def test_every_position_can_be_reached_and_none_behind_them(
    odd_model: Callable[..., Transformer], native: Callable[..., NativeEngine]
) -> None:
    model = odd_model(max_positions=7, positions="rotary")
    source_BS = torch.tensor([[5, 6, 7, 8, 9, 10, 2]])
    target_BT = torch.tensor([[1, 8, 9, 11, 8, 12, 13]])
    road = native(model).decodable
    with torch.inference_mode():
        cache = road.start(road.encode(source_BS), 1, 7)
        found_BTV = torch.cat([road.step(target_BT[:, [t]], cache) for t in range(7)], dim=1)
        torch.testing.assert_close(found_BTV, model(source_BS, target_BT), rtol=1e-4, atol=1e-4)
        with pytest.raises(AllYouNeedError, match="positions for 7 steps only"):
            road.step(target_BT[:, [0]], cache)
        with pytest.raises(AllYouNeedError, match=r"has 8 tokens; the model takes 1 \.\.\. 7"):
            road.encode(torch.full((1, 8), 5))


def test_a_refused_step_leaves_nothing_behind(
    odd_model: Callable[..., Transformer], native: Callable[..., NativeEngine]
) -> None:
    road = native(odd_model()).decodable
    source_BS, first_11, last_12 = (torch.tensor(ids) for ids in ([[5, 6, 2]], [[1, 1]], [[7, 9]]))
    found = []
    for refused in (False, True):
        cache = road.start(road.encode(source_BS), 2, 4)
        road.step(first_11, cache)
        if refused:
            with pytest.raises(AllYouNeedError, match="47"):
                road.step(torch.tensor([[8, 999]]), cache)
        cache.select(torch.tensor([0]), torch.tensor([[0, 0]]))
        road.step(last_12, cache)
        found.append(road.step(last_12, cache))  # each row looks back at a past of its own
    assert torch.equal(*found)


def test_steps_and_choices_that_do_not_fit(
    odd_model: Callable[..., Transformer], native: Callable[..., NativeEngine]
) -> None:
    road = native(odd_model()).decodable
    cache = road.start(road.encode(torch.tensor([[5, 2], [6, 2]])), 3, 4)
    with pytest.raises(ShapeError, match="4 ids for 6 hypotheses"):
        road.step(torch.full((2, 2), 1), cache)
    with pytest.raises(ShapeError, match=r"hypotheses 3 \.\.\. 8 cannot .* only 0 \.\.\. 5"):
        cache.select(torch.tensor([1, 2]), None)
    assert road.step(torch.full((2, 3), 1), cache).shape == (2, 3, 47)
