"""Step by step with a cache equals all at once, whatever is kept, dropped and re-ordered.

In float64, where only a mistake can make a difference, and once in float32.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ShapeError

Loud = Callable[..., nn.Module]
Sentences = Callable[..., Tensor]
START, STEPS = 1, 6

KINDS: dict[str, dict[str, Any]] = {
    "the paper": {},
    "pre-norm": {"residual": "pre-norm"},
    "rms": {"norm": "rms"},
    "pre-norm rms rotary swiglu": {
        "residual": "pre-norm",
        "norm": "rms",
        "positions": "rotary",
        "activation": "swiglu",
    },
    "rotary": {"positions": "rotary"},
    "learned": {"positions": "learned", "normalise_embeddings": True},
    "stored": {"positions": "stored"},
    "no positions": {"positions": "none"},
    "gelu": {"activation": "gelu", "output_bias": True},
    "silu": {"activation": "silu", "scale_embeddings": False},
    "head_width": {"head_width": 6, "heads": 3},
    "no bias": {"bias": False},
    "apart": {"shared_embeddings": "none", "source_vocabulary": 29},
    "starts with pad": {"start": 0},
    "ssru": {"decoder": "ssru"},
    "ssru pre-norm": {"decoder": "ssru", "residual": "pre-norm", "start": 0},
}


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, config: TransformerConfig, loud: Loud) -> Transformer:
    model = cast(Transformer, loud(Transformer(replace(config, **KINDS[request.param]))))
    if request.param == "stored":
        for stack in (model.encoder, model.decoder):
            stack.embeddings.positions.table.normal_(generator=torch.Generator().manual_seed(7))
    return model.double()


def check_step(
    model: Transformer, source_BS: Tensor, histories_BNT: Tensor, step_BNV: Tensor
) -> None:
    """A step's logits against the whole model over everything each hypothesis has said so far."""
    sentences, hypotheses, length = histories_BNT.shape
    whole = model(
        source_BS.repeat_interleave(hypotheses, dim=0),
        histories_BNT.view(sentences * hypotheses, length),
    )[:, -1].view(sentences, hypotheses, -1)
    assert_close(step_BNV, whole)


def first_ids(model: Transformer, sentences: int, hypotheses: int) -> Tensor:
    return torch.full((sentences, hypotheses), model.config.start)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@torch.no_grad()
def test_steps_equal_whole(model: Transformer, sentences: Sentences, dtype: torch.dtype) -> None:
    model = deepcopy(model).to(dtype)
    source_BS, target_BT = sentences([7, 3, 5]), sentences([6, 6, 6], seed=1)
    target_BT[:, 0] = model.config.start
    whole_BTV = model(source_BS, target_BT)
    assert whole_BTV.std() >= 1
    cache = model.start(model.encode(source_BS), hypotheses=1, max_length=6)
    steps = [model.step(ids_B1, cache) for ids_B1 in target_BT.split(1, dim=1)]
    assert cache.length == 6
    tolerance = 1e-5 if dtype == torch.float32 else 1e-9
    assert_close(torch.cat(steps, dim=1), whole_BTV, rtol=tolerance, atol=tolerance)


@torch.no_grad()
def test_hypotheses_and_sentences_in_another_order(
    model: Transformer, sentences: Sentences
) -> None:
    """Re-ordered, dropped, fewer and more of them, between the steps."""
    source_BS = sentences([7, 3, 5])
    cache = model.start(model.encode(source_BS), hypotheses=2, max_length=STEPS)
    generator = torch.Generator().manual_seed(3)
    changes: list[tuple[Tensor | None, Tensor | None]] = [
        (None, None),
        (None, torch.tensor([[1, 0], [1, 1], [0, 0]])),
        (torch.tensor([2, 0]), None),
        (torch.tensor([1, 0]), torch.tensor([[1, 0, 0], [0, 1, 1]])),  # three hypotheses now
        (torch.tensor([1]), torch.tensor([[2, 0]])),
    ]
    histories_BNT = first_ids(model, 3, 2)[..., None]
    for kept_B, chosen_BN in changes:
        logits_BNV = model.step(histories_BNT[..., -1], cache)
        check_step(model, source_BS, histories_BNT, logits_BNV)
        cache.select(kept_B, chosen_BN)
        if kept_B is not None:
            source_BS, histories_BNT = source_BS[kept_B], histories_BNT[kept_B]
        if chosen_BN is not None:
            histories_BNT = torch.stack(
                [h[n] for h, n in zip(histories_BNT, chosen_BN, strict=True)]
            )
        new_BN1 = torch.randint(3, 23, (*histories_BNT.shape[:2], 1), generator=generator)
        histories_BNT = torch.cat((histories_BNT, new_BN1), dim=-1)
    check_step(model, source_BS, histories_BNT, model.step(histories_BNT[..., -1], cache))
    assert cache.sentences_B.tolist() == [2]
    assert cache.hypotheses == 2


@pytest.fixture(scope="module")
def paper(config: TransformerConfig, loud: Loud) -> Transformer:
    return cast(Transformer, loud(Transformer(config)).double())


@given(data=st.data())
@settings(max_examples=25, deadline=None)
@torch.no_grad()
def test_any_selection(paper: Transformer, sentences: Sentences, data: st.DataObject) -> None:
    batch = data.draw(st.integers(1, 3))
    source_BS = sentences(data.draw(st.lists(st.integers(1, 6), min_size=batch, max_size=batch)))
    hypotheses = data.draw(st.integers(1, 3))
    cache = paper.start(paper.encode(source_BS), hypotheses, max_length=5)
    histories_BNT = first_ids(paper, batch, hypotheses)[..., None]
    original_B = list(range(batch))
    for _ in range(4):
        check_step(paper, source_BS, histories_BNT, paper.step(histories_BNT[..., -1], cache))
        present = range(len(original_B))
        kept = data.draw(st.lists(st.sampled_from(present), min_size=1, unique=True))
        width = data.draw(st.integers(1, 3))
        column = st.integers(0, histories_BNT.size(1) - 1)
        chosen = [data.draw(st.lists(column, min_size=width, max_size=width)) for _ in kept]
        cache.select(torch.tensor(kept), torch.tensor(chosen))
        source_BS, original_B = source_BS[kept], [original_B[b] for b in kept]
        histories_BNT = torch.stack(
            [histories_BNT[b, n] for b, n in zip(kept, chosen, strict=True)]
        )
        new_BN1 = torch.randint(3, 23, (*histories_BNT.shape[:2], 1))
        histories_BNT = torch.cat((histories_BNT, new_BN1), dim=-1)
        assert cache.sentences_B.tolist() == original_B


@torch.no_grad()
def test_selecting_before_the_first_step(paper: Transformer, sentences: Sentences) -> None:
    source_BS = sentences([4, 6])
    cache = paper.start(paper.encode(source_BS), hypotheses=1, max_length=3)
    cache.select(torch.tensor([1]), torch.tensor([[0, 0, 0]]))
    histories_BNT = first_ids(paper, 1, 3)[..., None]
    check_step(paper, source_BS[1:], histories_BNT, paper.step(histories_BNT[..., -1], cache))


@torch.no_grad()
def test_the_memory_is_kept_once_a_sentence(paper: Transformer, sentences: Sentences) -> None:
    cache = paper.start(paper.encode(sentences([4, 6])), hypotheses=5, max_length=3)
    paper.step(first_ids(paper, 2, 5), cache)
    for layer in cache.layers:
        assert layer.memory_keys_BHSK.shape == layer.memory_values_BHSK.shape == (2, 4, 6, 4)
    cache.select(torch.tensor([1]), None)
    for layer in cache.layers:
        assert layer.memory_keys_BHSK.shape == (1, 4, 6, 4)


@torch.no_grad()
def test_a_full_cache_is_an_error(paper: Transformer, sentences: Sentences) -> None:
    cache = paper.start(paper.encode(sentences([4])), hypotheses=2, max_length=1)
    paper.step(first_ids(paper, 1, 2), cache)
    with pytest.raises(ShapeError, match="the cache was made for 1 steps and is full"):
        paper.step(first_ids(paper, 1, 2), cache)


@torch.no_grad()
def test_a_step_beyond_the_positions_is_an_error(paper: Transformer, sentences: Sentences) -> None:
    cache = paper.start(paper.encode(sentences([4])), hypotheses=1, max_length=50)
    for _ in range(paper.config.max_positions):
        paper.step(first_ids(paper, 1, 1), cache)
    with pytest.raises(ShapeError, match="33 tokens do not fit into max_positions=32"):
        paper.step(first_ids(paper, 1, 1), cache)


@torch.no_grad()
def test_a_step_takes_one_id_for_each_hypothesis(paper: Transformer, sentences: Sentences) -> None:
    cache = paper.start(paper.encode(sentences([4, 5])), hypotheses=3, max_length=2)
    message = r"one id for each of 2 sentences × 3 hypotheses, not \(3, 2\)"
    with pytest.raises(ShapeError, match=message):
        paper.step(first_ids(paper, 3, 2), cache)
