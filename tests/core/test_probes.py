"""Probes see the weights of every head, in order, with their site; and may put others in place."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core import attention, masks
from allyouneed.core.attention import MultiHeadAttention, Probe, Site
from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer

Loud = Callable[..., nn.Module]
Sentences = Callable[..., Tensor]
Tape = list[tuple[Site, Tensor]]

ENCODER = [f"encoder.layers.{layer}.self_attention" for layer in range(2)]
DECODER = [
    f"decoder.layers.{layer}.{kind}_attention" for layer in range(2) for kind in ("self", "cross")
]


@pytest.fixture(scope="module")
def untouched(config: TransformerConfig, loud: Loud) -> Transformer:
    return cast(Transformer, loud(Transformer(config)).double())


@pytest.fixture
def model(untouched: Transformer) -> Transformer:
    return deepcopy(untouched)


def heads(model: nn.Module) -> Iterator[MultiHeadAttention]:
    return (part for part in model.modules() if isinstance(part, MultiHeadAttention))


def record(tape: Tape) -> Probe:
    def probe(weights_BHTS: Tensor, site: Site) -> Tensor:
        tape.append((site, weights_BHTS.detach().clone()))
        return weights_BHTS

    return probe


def remove_head(head: int) -> Probe:
    def probe(weights_BHTS: Tensor, _: Site) -> Tensor:
        without = weights_BHTS.clone()
        without[:, head] = 0
        return without

    return probe


def watch(model: Transformer) -> Tape:
    tape: Tape = []
    for part in heads(model):
        part.probes.append(record(tape))
    return tape


def test_every_head_knows_its_path(model: Transformer) -> None:
    names = {name: part for name, part in model.named_modules() if part in set(heads(model))}
    assert list(names) == ENCODER + DECODER
    assert [part.name for part in names.values()] == list(names)


def test_the_whole_forward(model: Transformer, sentences: Sentences) -> None:
    source_BS, target_BT = sentences([7, 3, 5]), sentences([4, 6, 2], seed=1)
    tape = watch(model)
    model(source_BS, target_BT)
    assert [site.module for site, _ in tape] == ENCODER + DECODER
    hidden_BS, hidden_BT = source_BS == 0, target_BT == 0
    for site, weights_BHTS in tape:
        assert site.step == 0
        assert site.sentences.tolist() == [0, 1, 2]
        own = site.module.startswith("decoder") and "self" in site.module
        queries = 7 if site.module.startswith("encoder") else 6
        assert weights_BHTS.shape == (3, 4, queries, 6 if own else 7)
        assert_close(weights_BHTS.sum(-1), torch.ones(3, 4, queries, dtype=torch.float64))
        hidden = (hidden_BT if own else hidden_BS)[:, None, None].expand_as(weights_BHTS)
        assert (weights_BHTS[hidden] == 0).all()
        if own:
            assert (weights_BHTS.triu(1) == 0).all()


@torch.no_grad()
def test_steps_show_what_the_whole_shows(model: Transformer, sentences: Sentences) -> None:
    """Several hypotheses, re-ordered and dropped on the way: rows, steps and sentences fit."""
    source_BS = sentences([7, 3, 5])
    tape = watch(model)
    cache = model.start(model.encode(source_BS), hypotheses=2, max_length=3)
    tape.clear()
    first = torch.tensor([[1, 1]] * 3)
    second = torch.tensor([[5, 6], [7, 8]])
    third = torch.tensor([[9, 10], [11, 12]])

    model.step(first, cache)
    assert [(site.module, site.step) for site, _ in tape] == [(name, 0) for name in DECODER]
    assert all(site.sentences.tolist() == [0, 0, 1, 1, 2, 2] for site, _ in tape)
    assert [weights.shape for _, weights in tape] == [(6, 4, 1, 1), (6, 4, 1, 7)] * 2

    cache.select(torch.tensor([2, 0]), torch.tensor([[1, 1], [0, 1]]))
    model.step(second, cache)
    cache.select(None, torch.tensor([[1, 0], [1, 1]]))
    tape.clear()
    model.step(third, cache)
    assert [(site.module, site.step) for site, _ in tape] == [(name, 2) for name in DECODER]
    assert all(site.sentences.tolist() == [2, 2, 0, 0] for site, _ in tape)
    stepped = [weights for _, weights in tape]

    tape.clear()
    histories = torch.tensor([[1, 6, 9], [1, 5, 10], [1, 8, 11], [1, 8, 12]])
    model(source_BS[[2, 2, 0, 0]], histories)
    whole = [weights for site, weights in tape if site.module in DECODER]
    for step_BHTS, all_BHTS in zip(stepped, whole, strict=True):
        assert_close(step_BHTS[:, :, 0], all_BHTS[:, :, 2])


def test_probes_are_called_in_order(model: Transformer, sentences: Sentences) -> None:
    calls: list[str] = []

    def named(name: str, factor: float) -> Probe:
        def probe(weights_BHTS: Tensor, _: Site) -> Tensor:
            calls.append(f"{name} {weights_BHTS.sum(-1).mean():.0f}")
            return weights_BHTS * factor

        return probe

    part = model.get_submodule("decoder.layers.1.cross_attention")
    cast(MultiHeadAttention, part).probes.extend([named("first", 3), named("second", 2)])
    model(sentences([4]), sentences([3]))
    assert calls == ["first 1", "second 3"]


def test_replaced_weights_take_effect(model: Transformer) -> None:
    part = next(heads(model))
    x_BTD = torch.randn(2, 5, 16, dtype=torch.float64)
    part.probes.append(lambda weights, _: torch.full_like(weights, 1 / 5))
    mean_BD = part.W_V(x_BTD).mean(1)
    assert_close(part(x_BTD, x_BTD), part.W_O(mean_BD)[:, None].expand_as(x_BTD))


@pytest.mark.parametrize("name", ["encoder.layers.1.self_attention", *DECODER[:2]])
@pytest.mark.parametrize("head", [0, 3])
def test_removing_a_head_is_zeroing_its_slice_of_W_O(
    model: Transformer, sentences: Sentences, name: str, head: int
) -> None:
    source_BS, target_BT = sentences([7, 3, 5]), sentences([4, 6, 2], seed=1)
    baseline = model(source_BS, target_BT)
    part = cast(MultiHeadAttention, model.get_submodule(name))
    part.probes.append(remove_head(head))
    probed = model(source_BS, target_BT)
    part.probes.clear()
    with torch.no_grad():
        part.W_O.weight[:, head * 4 : head * 4 + 4] = 0
    assert_close(probed, model(source_BS, target_BT))
    assert (probed - baseline).abs().max() > 0.1


@torch.no_grad()
def test_an_intervention_acts_alike_in_steps_and_whole(
    model: Transformer, sentences: Sentences
) -> None:
    source_BS, target_BT = sentences([7, 3]), sentences([5, 5], seed=1)
    baseline = model(source_BS, target_BT)
    for part in heads(model):
        part.probes.append(remove_head(1))
    whole = model(source_BS, target_BT)
    cache = model.start(model.encode(source_BS), hypotheses=2, max_length=5)
    for step, ids_B1 in enumerate(target_BT.split(1, dim=1)):
        logits_BNV = model.step(ids_B1.expand(2, 2), cache)
        assert_close(logits_BNV, whole[:, step : step + 1].expand_as(logits_BNV))
    assert (whole - baseline).abs().max() > 0.1


@torch.no_grad()
def test_watching_changes_nothing(
    model: Transformer, untouched: Transformer, sentences: Sentences
) -> None:
    source_BS, target_BT = sentences([7, 3]), sentences([5, 4], seed=1)
    watch(model)
    assert_close(model(source_BS, target_BT), untouched(source_BS, target_BT))
    caches = [m.start(m.encode(source_BS), 3, max_length=4) for m in (model, untouched)]
    for step in range(4):
        ids_BN = torch.randint(3, 23, (2, 3))
        assert_close(model.step(ids_BN, caches[0]), untouched.step(ids_BN, caches[1]))
        for cache in caches:
            cache.select(torch.tensor([1, 0]), torch.tensor([[step % 3, 0, 1], [2, 2, 0]]))


def test_without_a_probe_the_weights_never_arise(
    model: Transformer, sentences: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Tensor:
        raise AssertionError("written out")

    source_BS, target_BT = sentences([7, 3]), sentences([5, 4], seed=1)
    before = {name: dict(vars(part)) for name, part in model.named_modules()}
    expected = model(source_BS, target_BT)
    part = next(heads(model))
    part.probes.append(remove_head(0))
    assert not torch.allclose(model(source_BS, target_BT), expected)
    part.probes.clear()
    assert {name: dict(vars(part)) for name, part in model.named_modules()} == before
    monkeypatch.setattr(attention, "attention_weights", refuse)
    assert torch.equal(model(source_BS, target_BT), expected)
    part.probes.append(remove_head(0))
    with pytest.raises(AssertionError, match="written out"):
        model(source_BS, target_BT)


def test_probes_see_the_weights_before_dropout() -> None:
    part = MultiHeadAttention(16, 4, dropout=0.5).train()
    tape: Tape = []
    part.probes.append(record(tape))
    x_BTD = torch.randn(2, 5, 16)
    part(x_BTD, x_BTD, masks.causal(5))
    assert_close(tape[0][1].sum(-1), torch.ones(2, 4, 5))


def test_gradients_go_through_the_weights_a_probe_saw(
    model: Transformer, sentences: Sentences
) -> None:
    seen: list[Tensor] = []

    def probe(weights_BHTS: Tensor, _: Site) -> Tensor:
        seen.append(weights_BHTS)
        return weights_BHTS

    part = cast(MultiHeadAttention, model.get_submodule("encoder.layers.0.self_attention"))
    part.probes.append(probe)
    logits_BTV = model(sentences([4]), sentences([3]))
    (gradient,) = torch.autograd.grad(logits_BTV[0, -1, 5], seen)
    assert gradient.shape == (1, 4, 4, 4)
    assert gradient.abs().max() > 1e-3


def test_probes_belong_to_one_model(model: Transformer) -> None:
    watch(model)
    other = Transformer(replace(model.config, decoder_layers=1))
    assert all(not part.probes for part in heads(other))
