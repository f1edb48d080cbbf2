"""Tapes hold what the model computes, whole or step by step, and leave nothing behind."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import allyouneed
from allyouneed.core import attention
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import UsageError
from allyouneed.insight.capture import capture
from allyouneed.translation.translator import Translator

Pair = tuple[Tensor, Tensor]
CROSS = "decoder.layers.1.cross_attention"
OWN = "decoder.layers.1.self_attention"
ENCODER = "encoder.layers.0.self_attention"
FEED_FORWARD = "decoder.layers.1.feed_forward"
EVERYTHING = {"residuals": True, "queries_keys": True, "values": True, "activations": True}


def state(model: Transformer) -> dict[str, dict[str, Any]]:
    """All that hooks and probes could be left in."""
    return {
        name: {key: repr(value) for key, value in vars(part).items() if "hook" in key}
        | {"probes": list(getattr(part, "probes", []))}
        for name, part in model.named_modules()
    }


def test_all_heads_of_all_layers_of_all_three_kinds(model: Transformer, pair: Pair) -> None:
    with capture(model) as tape:
        model(*pair)
    encoder = [f"encoder.layers.{n}.self_attention" for n in range(2)]
    decoder = [
        f"decoder.layers.{n}.{kind}_attention" for n in range(3) for kind in ("self", "cross")
    ]
    assert list(tape) == encoder + decoder
    assert tape[ENCODER].shape == (3, 4, 5, 5)
    assert tape[OWN].shape == (3, 4, 4, 4)
    assert tape[CROSS].shape == (3, 4, 4, 5)
    assert_close(tape[CROSS].sum(-1), torch.ones(3, 4, 4))
    assert torch.equal(tape[f"{CROSS}[2]"], tape[CROSS][:, 2])
    assert [len(some) for some in (tape.residuals, tape.queries, tape.activations)] == [0, 0, 0]


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_queries_keys_and_values_give_the_weights_and_the_output(
    positions: str, make: Callable[..., Transformer], pair: Pair
) -> None:
    model = make(positions=positions, attention_dropout=0.0)
    with capture(model, **EVERYTHING) as tape:
        model(*pair)
    for name in (ENCODER, OWN, CROSS):
        scores = tape.queries[name] @ tape.keys[name].mT / 2  # √d_k = 2
        seen = tape[name] > 0
        weights = scores.masked_fill(~seen, -1e9).softmax(-1)
        assert_close(weights * seen.any(-1, keepdim=True), tape[name])
        heads_BHTK = tape[name] @ tape.values[name]
        whole = model.get_submodule(f"{name}.W_O")(heads_BHTK.transpose(1, 2).flatten(2))
        assert_close(whole, tape.outputs[name])


@pytest.mark.parametrize("residual", ["pre-norm", "post-norm"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_the_residual_stream_adds_up(
    residual: str, norm: str, make: Callable[..., Transformer], pair: Pair
) -> None:
    model = make(residual=residual, norm=norm)
    with capture(model, residuals=True) as tape:
        logits_BTV = model(*pair)
    stream = tape.residuals["decoder.embeddings"]
    for layer in range(3):
        for kind in ("self_attention", "cross_attention", "feed_forward"):
            name = f"decoder.layers.{layer}.{kind}"
            stream = stream + tape.outputs[name]
            if residual == "post-norm":
                stream = model.get_submodule(f"{name}_residual.norm")(stream)
            assert_close(stream, tape.residuals[name])
    assert_close(model.decoder.norm(stream), tape.residuals["decoder.norm"])
    assert_close(model.output(tape.residuals["decoder.norm"]), logits_BTV)


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_activations_are_what_W_2_is_given(
    activation: str, make: Callable[..., Transformer], pair: Pair
) -> None:
    model = make(activation=activation)
    with capture(model, activations=True, residuals=True) as tape:
        model(*pair)
    units_BTF = tape.activations[FEED_FORWARD]
    assert units_BTF.shape == (3, 4, 24)
    out = model.get_submodule(f"{FEED_FORWARD}.W_2")(units_BTF)
    assert_close(out, tape.outputs[FEED_FORWARD])


def test_names_limit_what_is_recorded(model: Transformer, pair: Pair) -> None:
    with capture(model, names=[CROSS, FEED_FORWARD], **EVERYTHING) as tape:
        model(*pair)
    assert (list(tape), list(tape.activations)) == ([CROSS], [FEED_FORWARD])
    assert set(tape.residuals) == {CROSS, FEED_FORWARD}
    assert list(tape.queries) == list(tape.keys) == list(tape.values) == [CROSS]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("decoder.layers.7.cross_attention", "decoder.layers.0…2.cross_attention"), ("x", "encoder")],
)
def test_an_unknown_name_is_told_what_there_is(name: str, hint: str, model: Transformer) -> None:
    with pytest.raises(UsageError, match=f"no '{name}'.*{hint}"), capture(model, names=[name]):
        raise AssertionError("it began")


def test_what_is_not_on_the_tape_is_said(model: Transformer, pair: Pair) -> None:
    with capture(model, names=[CROSS]) as tape:
        with pytest.raises(UsageError, match="the names are none"):
            tape[CROSS]
        model(*pair)
    with pytest.raises(UsageError, match=r"on this tape; the names are decoder.layers.1.cross_att"):
        tape[OWN]
    with pytest.raises(UsageError, match="no head 4"):
        tape[f"{CROSS}[4]"]


def test_each_pass_is_a_run(model: Transformer, pair: Pair) -> None:
    source_BS, target_BT = pair
    with capture(model, residuals=True) as tape:
        model(source_BS, target_BT)
        model(source_BS[:1], target_BT[:1, :2])
    assert [run.size(0) for run in tape.attention.runs(CROSS)] == [3, 1]
    assert [run.shape for run in tape.residuals.runs(OWN)] == [(3, 4, 16), (1, 2, 16)]
    assert tape[CROSS].shape == (1, 4, 2, 5)


@torch.no_grad()
def test_steps_of_a_search_are_joined(model: Transformer, pair: Pair) -> None:
    """One hypothesis of each, of which the second sentence leaves: as if it were one pass."""
    source_BS, target_BT = pair
    with capture(model, **EVERYTHING) as whole:
        model(source_BS, target_BT)
    with capture(model, **EVERYTHING) as steps:
        cache = model.start(model.encode(source_BS), 1, 4)
        model.step(target_BT[:, :1], cache)
        model.step(target_BT[:, 1:2], cache)
        cache.select(torch.tensor([2, 0]), None)
        model.step(target_BT[[2, 0], 2:3], cache)
        cache.select(torch.tensor([1]), None)
        model.step(target_BT[[0], 3:4], cache)
    for name in (ENCODER, OWN, CROSS):
        pairs = [(steps[name], whole[name])]
        pairs += [(s[name], w[name]) for s, w in ((steps.queries, whole.queries),)]
        for one, other in pairs:
            assert_close(one[0], other[0])
            if name != ENCODER:
                assert_close(one[2, :, :3], other[2, :, :3])
                assert one[2, :, 3].eq(0).all()
                assert_close(one[1, :, :2], other[1, :, :2])
                assert one[1, :, 2:].eq(0).all()
    assert_close(steps.values[CROSS], whole.values[CROSS])
    assert_close(steps.keys[OWN][0], whole.keys[OWN][0])
    for one, other in ((steps.residuals, whole.residuals), (steps.outputs, whole.outputs)):
        assert_close(one[FEED_FORWARD][0], other[FEED_FORWARD][0])
        assert_close(one[FEED_FORWARD][2, :3], other[FEED_FORWARD][2, :3])
    assert_close(steps.activations[FEED_FORWARD][0], whole.activations[FEED_FORWARD][0])


def test_a_beam_has_a_row_for_each_hypothesis(model: Transformer, pair: Pair) -> None:
    with capture(model) as tape:
        found = beam_search(model, pair[0], BeamOptions(beam=3, max_length=6))
    longest = max(len(best.ids) for [best] in found)
    assert tape[CROSS].shape[:2] == (9, 4)
    assert longest <= tape[CROSS].size(2) == tape[OWN].size(2) == tape[OWN].size(3) <= 6
    assert_close(tape[CROSS][:, :, 0].sum(-1), torch.ones(9, 4))
    assert tape[OWN].triu(1).eq(0).all()


def test_gradients_can_be_asked_for(model: Transformer, pair: Pair) -> None:
    with capture(model.train(), names=[CROSS]) as tape:
        logits_BTV = model(*pair)
    (gradient,) = torch.autograd.grad(logits_BTV[0, 1, 5], [tape[CROSS]])
    assert gradient.abs().max() > 1e-4
    assert gradient[1:].eq(0).all()


def test_training_gives_the_same_losses_under_a_tape(
    make: Callable[..., Transformer], pair: Pair
) -> None:
    def losses(watched: bool) -> list[float]:
        model = make(dropout=0.2, attention_dropout=0.0).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        found = []
        torch.manual_seed(3)
        for _ in range(3):
            if watched:
                with capture(model, **EVERYTHING) as tape:
                    loss = model(*pair).square().mean()
                assert tape[CROSS].shape == (3, 4, 4, 5)
            else:
                loss = model(*pair).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    assert losses(True) == pytest.approx(losses(False), rel=1e-4)


def test_a_translator_is_recorded_and_says_the_same(babbler: Translator) -> None:
    expected = babbler("A man rides a bike.")
    with allyouneed.capture(babbler) as tape:
        found = babbler("A man rides a bike.")
    assert (found.text, found.tokens, found.notes) == (expected.text, expected.tokens, ())
    assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
    assert tape[CROSS].size(0) == 4


def test_scoring_is_recorded(babbler: Translator) -> None:
    with capture(babbler, names=[CROSS]) as tape:
        [score] = babbler.score(["A man."], ["Ein Mann."])
    source, target = (babbler.tokenizer.encode(text).ids for text in ("A man.", "Ein Mann."))
    assert tape[CROSS].shape == (1, 4, len(target), len(source))
    assert len(score.tokens) == len(target)


def test_nothing_is_left_behind(model: Transformer, pair: Pair) -> None:
    before, expected = state(model), model(*pair)
    with capture(model, **EVERYTHING):
        assert state(model) != before
        assert_close(model(*pair), expected)
    assert state(model) == before
    with pytest.raises(ZeroDivisionError), capture(model, **EVERYTHING):
        raise ZeroDivisionError
    assert state(model) == before


def test_unused_it_costs_nothing(
    model: Transformer, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No weights arise, and no hook is called, once the tape is closed."""
    with capture(model, **EVERYTHING) as tape:
        model(*pair)
    length = len(tape.residuals.runs(FEED_FORWARD))

    def refuse(*_: Any) -> Tensor:
        raise AssertionError("written out")

    monkeypatch.setattr(attention, "attention_weights", refuse)
    model(*pair)
    assert len(tape.residuals.runs(FEED_FORWARD)) == length == 1
    with pytest.raises(AssertionError, match="written out"), capture(model):
        model(*pair)


def test_the_gates_of_a_recurrence(model: Transformer, pair: Pair) -> None:
    torch.manual_seed(0)
    recurrent = Transformer(replace(model.config, decoder="ssru")).eval()
    source_BS, target_BT = pair
    target_BT = target_BT.masked_fill(target_BT == recurrent.config.pad, 5)  # steps know no padding
    names = [f"decoder.layers.{n}.recurrence" for n in range(recurrent.config.decoder_layers)]
    with capture(recurrent, gates=True, residuals=True) as tape:
        recurrent(source_BS, target_BT)
        cache = recurrent.start(recurrent.encode(source_BS), 1, target_BT.size(1))
        for ids_B1 in target_BT.split(1, dim=1):
            recurrent.step(ids_B1, cache)
    assert list(tape.gates) == names
    for name in names:
        whole_BTD, steps_BTD = tape.gates.runs(name)
        assert whole_BTD.shape == (*target_BT.shape, recurrent.config.d_model)
        assert ((whole_BTD > 0) & (whole_BTD < 1)).all()
        assert_close(steps_BTD, whole_BTD)
        assert_close(tape.residuals.runs(name)[1], tape.residuals.runs(name)[0])
    inputs_BTD = tape.residuals.runs("decoder.embeddings")[0]
    unit = recurrent.decoder.layers[0].recurrence
    assert_close(tape.gates.runs(names[0])[0], unit.W_f(inputs_BTD).sigmoid())
    assert not any("self_attention" in name for name in tape if name.startswith("decoder"))


def test_self_attention_has_no_gates(model: Transformer, pair: Pair) -> None:
    with capture(model, gates=True) as tape:
        model(*pair)
    assert list(tape.gates) == []
