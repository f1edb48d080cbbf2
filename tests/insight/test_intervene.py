"""Interventions do what their formulas say, in whole passes, in steps and in searches alike."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import allyouneed
from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.scoring import score_targets
from allyouneed.errors import ShapeError, UsageError
from allyouneed.insight.capture import Tape, capture
from allyouneed.insight.intervene import Blocked, Forced, Patch, intervene
from allyouneed.translation.translator import Translator

Pair = tuple[Tensor, Tensor]
ENCODER = "encoder.layers.1.self_attention"
OWN = "decoder.layers.1.self_attention"
CROSS = "decoder.layers.1.cross_attention"
FEED_FORWARD = "decoder.layers.1.feed_forward"
OPTIONS = BeamOptions(beam=3, n_best=3, max_length=8)


def without(model: Transformer, name: str, *heads: int, factor: float = 0.0) -> Transformer:
    """A copy whose output projection has these heads' slices multiplied."""
    copy = deepcopy(model)
    part = copy.get_submodule(name)
    weight = (
        part.W_O.weight
        if isinstance(part, MultiHeadAttention)
        else part.get_parameter("W_2.weight")
    )
    with torch.no_grad():
        for head in heads:
            weight[:, head * 4 : head * 4 + 4] *= factor
        if not heads:
            weight *= factor
    return copy


def captured(model: Transformer, pair: Pair, **what: Any) -> tuple[Tape, Tensor]:
    """The tape and the logits under an intervention."""
    with intervene(model, **what), capture(model, residuals=True, values=True) as tape:
        return tape, model(*pair)


def stepped(model: Transformer, pair: Pair) -> Tensor:
    """Logits of the same targets, step by step with a cache, two hypotheses of each."""
    source_BS, target_BT = pair
    with torch.no_grad():
        cache = model.start(model.encode(source_BS), 2, target_BT.size(1))
        logits = [
            model.step(ids_B1.expand(-1, 2), cache)[:, 1] for ids_B1 in target_BT.split(1, dim=1)
        ]
    return torch.stack(logits, dim=1)


@pytest.mark.parametrize("name", [ENCODER, OWN, CROSS])
@pytest.mark.parametrize("heads", [(0,), (3,), (1, 2), (0, 1, 2, 3)])
def test_removing_heads_is_zeroing_their_slices_of_W_O(
    name: str, heads: tuple[int, ...], model: Transformer, pair: Pair
) -> None:
    baseline, other = model(*pair), without(model, name, *heads)
    with intervene(model, switch_off=[f"{name}[{head}]" for head in heads]):
        assert_close(model(*pair), other(*pair))
        found = beam_search(model, pair[0], OPTIONS)
    for one, expected in zip(found, beam_search(other, pair[0], OPTIONS), strict=True):
        assert [h.ids for h in one] == [h.ids for h in expected]
        assert [h.score for h in one] == pytest.approx([h.score for h in expected], abs=1e-4)
    assert (other(*pair) - baseline).abs().max() > 1e-2


@pytest.mark.parametrize("name", [ENCODER, CROSS, FEED_FORWARD])
@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0])
def test_a_name_without_an_index_is_the_whole_module(
    name: str, factor: float, model: Transformer, pair: Pair
) -> None:
    other = without(model, name, factor=factor)
    with intervene(model, scale={name: factor}):
        assert_close(model(*pair), other(*pair))
        assert_close(stepped(model, pair), stepped(other, pair))


def test_a_layer_is_all_its_parts(model: Transformer, pair: Pair) -> None:
    other = model
    for kind in ("self_attention", "cross_attention", "feed_forward"):
        other = without(other, f"decoder.layers.1.{kind}")
    with intervene(model, switch_off="decoder.layers.1"):
        assert_close(model(*pair), other(*pair))
    assert not torch.allclose(model(*pair), other(*pair))


@pytest.mark.parametrize(
    "edit",
    ["uniform", "diagonal", Blocked([(0, 0), (2, 1)]), Forced([(1, 0), (2, 0), (2, 1)]), "matrix"],
    ids=str,
)
@pytest.mark.parametrize("name", [OWN, f"{OWN}[1]", CROSS, f"{CROSS}[2]", f"{ENCODER}[0]"])
def test_edits_act_alike_in_steps_and_whole(
    edit: Any, name: str, model: Transformer, pair: Pair
) -> None:
    if edit == "matrix":
        keys = 3 if OWN in name else 5
        edit = torch.rand(3, keys, generator=torch.Generator().manual_seed(0))
    baseline = model(*pair)
    with intervene(model, edit={name: edit}):
        whole = model(*pair)
        seen = pair[1] != 0  # what stands behind a padded query is nobody's
        assert_close(stepped(model, pair)[seen], whole[seen])
    assert (whole - baseline)[0].abs().max() > 1e-3


def test_uniform_and_diagonal(model: Transformer, pair: Pair) -> None:
    tape, _ = captured(model, pair, edit={OWN: "uniform", f"{CROSS}[1]": "uniform"})
    assert_close(tape[OWN][0, 0], torch.ones(4, 4).tril() / torch.arange(1, 5)[:, None])
    assert_close(tape[CROSS][1, 1], torch.tensor([[1 / 3, 1 / 3, 1 / 3, 0, 0]]).expand(4, 5))
    plain, _ = captured(model, pair)
    assert_close(tape[f"{CROSS}[0]"].sum(-1), torch.ones(3, 4))
    assert not torch.allclose(tape[CROSS][:, 1], plain[CROSS][:, 1])
    tape, _ = captured(model, pair, edit={OWN: "diagonal", CROSS: "diagonal", ENCODER: "diagonal"})
    assert_close(tape[OWN][0, 3], torch.eye(4))
    assert_close(tape[CROSS][1, 0].argmax(-1), torch.tensor([0, 1, 2, 2]))  # three tokens
    assert_close(tape[CROSS].amax(-1), torch.ones(3, 4, 4))
    assert_close(tape[ENCODER][2, 0], torch.diag(torch.tensor([1.0, 1, 1, 1, 0])))


def test_given_weights(model: Transformer, pair: Pair) -> None:
    plain, _ = captured(model, pair)
    matrix_TS = torch.rand(2, 5)
    tape, _ = captured(model, pair, edit={f"{CROSS}[3]": matrix_TS})
    assert_close(tape[CROSS][0, 3, :2], matrix_TS)
    assert_close(tape[CROSS][1, 3, :2], matrix_TS * torch.tensor([1, 1, 1, 0, 0]))  # padding
    assert_close(tape[CROSS][:, 3, 2:], plain[CROSS][:, 3, 2:])
    assert_close(tape[CROSS][:, :3], plain[CROSS][:, :3])
    other_HTS = plain[CROSS][0].flip(-1)
    tape, _ = captured(model, pair, edit={CROSS: other_HTS, OWN: torch.ones(4, 4)})
    assert_close(tape[CROSS][0], other_HTS)
    assert_close(tape[OWN][0, 2], torch.ones(4, 4).tril())


def test_blocked_cells_are_as_if_masked(model: Transformer, pair: Pair) -> None:
    plain, _ = captured(model, pair)
    tape, _ = captured(model, pair, edit={f"{CROSS}[1]": Blocked([(0, 1), (0, 3), (7, 0)])})
    left = plain[CROSS][0, 1, 0] * torch.tensor([1, 0, 1, 0, 1])
    assert_close(tape[CROSS][0, 1, 0], left / left.sum())
    assert torch.equal(tape[CROSS][:, 1, 1:], plain[CROSS][:, 1, 1:])
    everything = Blocked([(0, s) for s in range(5)])
    tape, logits = captured(model, pair, edit={CROSS: everything})
    assert tape[CROSS][:, :, 0].eq(0).all()
    assert logits.isfinite().all()


def test_forced_cells_share_the_weight(model: Transformer, pair: Pair) -> None:
    edits = [Forced([(2, 0), (2, 2)]), Blocked([(2, 0)])]
    tape, _ = captured(model, pair, edit={f"{CROSS}[1]": edits[:1], f"{CROSS}[2]": edits})
    assert_close(tape[CROSS][0, 1, 2], torch.tensor([0.5, 0, 0.5, 0, 0]))
    assert_close(tape[CROSS][0, 2, 2], torch.tensor([0.0, 0, 1, 0, 0]))


@pytest.mark.parametrize("name", [ENCODER, CROSS, OWN, FEED_FORWARD])
def test_a_patched_sublayer_adds_what_another_run_added(
    name: str, model: Transformer, pair: Pair
) -> None:
    other = (pair[0].flip(0).contiguous(), pair[1].flip(0).contiguous())
    from_other, logits = captured(model, other)
    tape, patched = captured(model, pair, patch={name: from_other.outputs[name]})
    assert_close(tape.outputs[name], from_other.outputs[name])
    assert (patched - model(*pair)).abs().max() > 1e-3
    stream = from_other.residuals["decoder.layers.2.feed_forward"]
    _, same = captured(model, pair, patch={"decoder.layers.2.feed_forward_residual": stream})
    assert_close(same, logits)


def test_a_patched_head_is_as_if_its_weights_and_values_were_the_others(
    model: Transformer, pair: Pair
) -> None:
    plain, baseline = captured(model, pair)
    result_BTK = plain[f"{CROSS}[2]"] @ plain.values[f"{CROSS}[2]"]
    _, same = captured(model, pair, patch={f"{CROSS}[2]": result_BTK})
    assert_close(same, baseline)
    _, off = captured(model, pair, patch={f"{CROSS}[2]": torch.zeros_like(result_BTK)})
    assert_close(off, without(model, CROSS, 2)(*pair))


@pytest.mark.parametrize("name", [CROSS, f"{CROSS}[1]", "decoder.embeddings", f"{OWN}_residual"])
def test_patches_act_at_their_positions_in_steps_and_whole(
    name: str, model: Transformer, pair: Pair
) -> None:
    value_TD = torch.randn(3, 4 if "[" in name else 16, generator=torch.Generator().manual_seed(1))
    baseline = model(*pair)
    with intervene(model, patch={name: Patch(value_TD, [1])}):
        whole = model(*pair)
        seen = pair[1] != 0
        assert_close(stepped(model, pair)[seen], whole[seen])
    assert_close(whole[:, 0], baseline[:, 0])
    assert (whole - baseline)[:, 1].abs().max() > 1e-2
    with intervene(model, patch={name: value_TD}):  # 3 positions of 4
        assert_close(stepped(model, pair)[0], model(*pair)[0])


def test_a_patched_memory_is_another_source(model: Transformer, pair: Pair) -> None:
    source_BS, target_BT = pair
    memory = model.encode(source_BS[:1]).states_BSD
    expected = score_targets(model, source_BS[:1], target_BT[:1, 1:])
    noise = torch.tensor([[77, 78, 79, 80, 2]])
    with intervene(model, patch={"encoder.norm": memory}):
        assert score_targets(model, noise, target_BT[:1, 1:])[0] == pytest.approx(expected[0])
    assert score_targets(model, noise, target_BT[:1, 1:])[0] != pytest.approx(expected[0])


def test_an_unknown_keyword_is_told_what_there_is(model: Transformer) -> None:
    keywords = "the keywords are switch_off, edit, scale, patch"
    unknown: Any = {"bogus": 1}
    complaint = f"bogus: no keyword of intervene; {keywords}"
    with pytest.raises(UsageError, match=complaint), intervene(model, **unknown):
        raise AssertionError("it began")


@pytest.mark.parametrize(
    "what",
    [
        {"switch_off": ["decoder.layers.1.cross_attention[4]"]},
        {"scale": {"decoder.layers.3": 0.5}},
        {"edit": {FEED_FORWARD: "uniform"}},
        {"patch": {"decoder.layers.1.cross": torch.zeros(1, 16)}},
    ],
    ids=lambda what: next(iter(what)),
)
def test_an_unknown_name_is_told_what_there_is(what: Any, model: Transformer) -> None:
    expected = (
        r"the names are encoder.layers.0…1.self_attention\[0…3\], decoder.layers.0…2.self_att"
    )
    with pytest.raises(UsageError, match=expected), intervene(model, **what):
        raise AssertionError("it began")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"edit": {CROSS: "flat"}}, "'flat' is not an edit"),
        ({"edit": {OWN: Forced([(1, 2)])}}, r"cell \(1, 2\) lies in the future"),
        ({"edit": {CROSS: Blocked([(-1, 2)])}}, "count from 0"),
        ({"edit": {f"{CROSS}[0]": torch.ones(4, 3, 5)}}, r"axes TS .*\(4, 3, 5\)"),
        ({"edit": {CROSS: torch.full((3, 5), torch.nan)}}, "finite"),
        ({"patch": {CROSS: torch.ones(16)}}, "a patch must be TD or BTD"),
        ({"patch": {CROSS: Patch(torch.ones(2, 16), [2])}}, "position 2 is outside"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_changed(
    what: Any, message: str, model: Transformer
) -> None:
    with pytest.raises(UsageError, match=message), intervene(model, **what):
        raise AssertionError("it began")
    assert not any(getattr(part, "probes", None) for part in model.modules())


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"edit": {CROSS: torch.ones(4, 3)}}, "given weights have 3 keys, but this run has 5"),
        ({"edit": {CROSS: Blocked([(0, 5)])}}, r"cell \(0, 5\) is outside the run's keys 0 … 4"),
        ({"patch": {CROSS: torch.ones(2, 4, 16)}}, "2 rows of width 16 does not fit .* 3 rows"),
        ({"patch": {f"{CROSS}[0]": torch.ones(4, 16)}}, "of width 16 .* of width 4"),
    ],
)
def test_what_does_not_fit_the_run_is_said(
    what: Any, message: str, model: Transformer, pair: Pair
) -> None:
    with pytest.raises(ShapeError, match=message), intervene(model, **what):
        model(*pair)


def test_gradients_and_interventions_combine(model: Transformer, pair: Pair) -> None:
    with intervene(model.train(), scale={f"{CROSS}[1]": 0.5, FEED_FORWARD: 0.0}):
        model(*pair).square().mean().backward()
    gradient = model.get_parameter(f"{CROSS}.W_O.weight").grad
    assert gradient is not None
    assert gradient.abs().sum() > 0
    off = model.get_parameter(f"{FEED_FORWARD}.W_2.weight").grad
    assert off is not None
    assert off.eq(0).all()


def test_nothing_is_left_behind(babbler: Translator) -> None:
    text, names = "A man rides a bike.", [f"decoder.layers.{n}.cross_attention" for n in range(3)]
    before = babbler(text)
    with allyouneed.intervene(babbler, switch_off=names, patch={OWN: torch.zeros(1, 16)}):
        changed = babbler(text)
        assert babbler("The dog sleeps.").tokens == changed.tokens, "the source is out of sight"
    assert changed.text != before.text
    assert babbler(text) == before
    for part in babbler.model.modules():
        left = [*getattr(part, "probes", ()), *part._forward_hooks, *part._forward_pre_hooks]
        assert left == []


def test_hooks_alone_bring_the_core_road(
    babbler: Translator, make: Callable[..., Transformer]
) -> None:
    """A feed-forward network that is off has no probe; another engine would not know of it."""

    class Elsewhere:
        name, config, selection, notes = "cpu-int8", babbler.config, None, ()

    translator = Translator(Elsewhere(), babbler.tokenizer, lambda: babbler.model)  # type: ignore[arg-type]
    with intervene(translator, switch_off=[FEED_FORWARD]):
        found = translator("A man rides a bike.")
    with intervene(babbler, switch_off=[FEED_FORWARD]):
        expected = babbler("A man rides a bike.")
    assert found.text == expected.text
    assert found.notes[0] == "the model is probed: the core engine ran, not cpu-int8"
