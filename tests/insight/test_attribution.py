"""Each attribution by the property that its paper proves of it."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.scoring import teacher_input
from allyouneed.errors import ShapeError, UsageError
from allyouneed.insight.attribution import (
    gradient_times_attention,
    gradient_times_input,
    integrated_gradients,
    rollout,
    value_vectors,
    value_weighted,
)
from allyouneed.insight.capture import capture
from allyouneed.insight.intervene import intervene
from allyouneed.insight.names import attentions

SOURCE, TARGET = [7, 12, 30, 41, 2], [9, 55, 13, 2]
SHAPE = {"encoder_layers": 2, "decoder_layers": 3, "heads": 4}


@pytest.fixture(scope="module", params=["post-norm", "pre-norm"])
def model(request: pytest.FixtureRequest, small_model: Callable[..., Transformer]) -> Transformer:
    return small_model(**SHAPE, residual=request.param).double()


def ids(*rows: list[int]) -> Tensor:
    return torch.tensor(rows)


def weights(layers: int, queries: int, keys: int, *, causal: bool = False) -> list[Tensor]:
    scores = torch.randn(layers, 2, 4, queries, keys, dtype=torch.float64)
    if causal:
        scores = scores.masked_fill(~torch.ones(queries, keys, dtype=torch.bool).tril(), -1e30)
    return list(scores.softmax(-1))


def test_rollout_is_a_mixture() -> None:
    found = rollout(weights(3, 5, 5), weights(2, 4, 4, causal=True), weights(2, 4, 5))
    assert [layer.shape for layer in found.encoder] == [(2, 5, 5)] * 3
    assert [layer.shape for layer in found.source] == [(2, 4, 5)] * 2
    assert [layer.shape for layer in found.target] == [(2, 4, 4)] * 2
    ones = torch.ones(2, 5, dtype=torch.float64)
    for layer in found.encoder:
        assert_close(layer.sum(-1), ones)
    for source, target in zip(found.source, found.target, strict=True):
        assert_close(source.sum(-1) + target.sum(-1), ones[:, :4])
        assert (target.triu(1) == 0).all()
        assert (source > 0).all()


def test_rollout_by_hand() -> None:
    """Layers that look straight ahead: half goes past each sub-layer, half through it."""
    swap, straight = torch.tensor([[[0.0, 1], [1, 0]]]), torch.eye(2)[None]
    found = rollout([swap], [straight, straight], [swap, straight])
    assert_close(found.encoder[0], torch.full((2, 2), 0.5))
    assert_close(found.target[1], torch.eye(2) / 4)
    half = torch.full((2, 2), 0.5)
    assert_close(found.source[0], half / 2)
    assert_close(found.source[1], half / 4 + half / 2)


def test_rollout_past_cross_attention_that_is_off() -> None:
    """All goes past what adds nothing."""
    off = [torch.zeros(2, 4, 5, dtype=torch.float64)] * 2
    found = rollout(weights(1, 5, 5), weights(2, 4, 4, causal=True), off)
    for source, target in zip(found.source, found.target, strict=True):
        assert not source.any()
        assert_close(target.sum(-1), torch.ones(4, dtype=torch.float64).expand_as(target.sum(-1)))


def test_rollout_of_an_encoder_alone_is_the_product() -> None:
    layers = weights(2, 5, 5)
    (_, last) = rollout(layers).encoder
    eye = torch.eye(5, dtype=torch.float64)
    first_SS, second_SS = ((layer.mean(1) + eye) / 2 for layer in layers)
    assert_close(last, second_SS @ first_SS)
    assert rollout(layers).source == ()


def test_rollout_needs_both_attentions_of_the_decoder() -> None:
    with pytest.raises(ShapeError, match="2 layers of decoder attention and 1 of cross"):
        rollout(weights(1, 5, 5), weights(2, 4, 4), weights(1, 4, 5))


def test_value_vectors_add_up_to_what_the_module_gives(model: Transformer) -> None:
    source_BS, target_BT = ids(SOURCE, SOURCE[::-1]), ids(TARGET, TARGET)
    outputs: dict[str, Tensor] = {}
    hooks = [
        part.register_forward_hook(lambda _, __, out, name=name: outputs.update({name: out}))
        for name, part in attentions(model).items()
    ]
    with torch.no_grad(), capture(model, values=True) as tape:
        model(source_BS, teacher_input(model, source_BS, target_BT))
    for hook in hooks:
        hook.remove()
    found = value_weighted(model, source_BS, target_BT)
    assert list(found) == list(attentions(model))
    for name, part in attentions(model).items():
        vectors_BHSD = value_vectors(part, tape.values[name])
        each_BHTSD = tape[name][..., None] * vectors_BHSD[:, :, None]
        if name in outputs:  # cross-attention too is called as a module in a whole pass
            assert_close(each_BHTSD.sum(dim=(1, 3)) + part.W_O.bias, outputs[name])
        assert_close(found[name].heads_BHTS, each_BHTSD.norm(dim=-1).float())
        assert_close(
            found[name].together_BTS, each_BHTSD.sum(1).norm(dim=-1).float(), atol=1e-5, rtol=1e-4
        )
    assert outputs.keys() == found.keys()


def test_a_key_without_value_counts_for_nothing() -> None:
    part = MultiHeadAttention(8, 2)
    v_BHSK = torch.zeros(1, 2, 3, 4)
    v_BHSK[:, :, 1] = 1
    assert value_vectors(part, v_BHSK)[:, :, [0, 2]].abs().max() == 0
    assert value_vectors(part, v_BHSK)[:, :, 1].norm() > 0


@torch.no_grad()
def log_p(model: Transformer, position: int | None = None) -> float:
    """Of one target token, or of the whole target; in float64, for differences are taken of it."""
    logits_BTV = model(ids(SOURCE), teacher_input(model, ids(SOURCE), ids(TARGET)))
    scores_T = logits_BTV.log_softmax(-1)[0, range(len(TARGET)), TARGET]
    return float(scores_T.sum() if position is None else scores_T[position])


def test_gradient_times_input_is_the_rate_at_which_scaling_helps(model: Transformer) -> None:
    found = gradient_times_input(model, SOURCE, TARGET, position=2)
    assert found.log_probability == pytest.approx(log_p(model, 2))
    assert (found.source.shape, found.target.shape) == ((5,), (3,))
    assert found.gap is None
    step, changed = 1e-6, []
    for factor in (1 + step, 1 - step):
        hooks = [
            side.embeddings.tokens.register_forward_hook(lambda *x, f=factor: x[-1] * f)
            for side in (model.encoder, model.decoder)
        ]
        changed.append(log_p(model, 2))
        for hook in hooks:
            hook.remove()
    rate = (changed[0] - changed[1]) / (2 * step)
    assert float(found.source.sum() + found.target.sum()) == pytest.approx(rate, rel=1e-5)


@pytest.mark.parametrize("residual", ["post-norm", "pre-norm"])
def test_integrated_gradients_add_up(
    small_model: Callable[..., Transformer], residual: str
) -> None:
    model = small_model(**SHAPE, residual=residual, activation="gelu").double()
    for position, token in ((0, None), (3, None), (2, 77)):
        found = integrated_gradients(model, SOURCE, TARGET, position, token, steps=100)
        if token is None:
            assert found.log_probability == pytest.approx(log_p(model, position))
        assert found.baseline is not None
        assert found.gap is not None
        rise = found.log_probability - found.baseline
        assert abs(rise) > 0.1
        assert float(found.source.sum() + found.target.sum()) == pytest.approx(rise, abs=1e-3)
        assert found.gap == pytest.approx(0, abs=1e-3)


def test_the_gap_shrinks_with_more_steps(model: Transformer) -> None:
    gaps = [integrated_gradients(model, SOURCE, TARGET, 1, steps=n).gap for n in (1, 100)]
    assert abs(gaps[1] or 0) < abs(gaps[0] or 0) / 5


def test_attribution_is_of_the_chosen_token(model: Transformer) -> None:
    own, same, other = (gradient_times_input(model, SOURCE, TARGET, 1, t) for t in (None, 55, 56))
    assert_close(own.source, same.source)
    assert own.log_probability == same.log_probability != other.log_probability
    assert not torch.allclose(own.source, other.source)


def test_what_comes_later_does_not_count(model: Transformer) -> None:
    one = integrated_gradients(model, SOURCE, TARGET, 1, steps=8)
    other = integrated_gradients(model, SOURCE, [*TARGET[:2], 99, 98, 2], 1, steps=8)
    assert_close(one.source, other.source)
    assert_close(one.target, other.target)


def test_gradient_times_attention_is_the_rate_at_which_scaling_a_head_helps(
    model: Transformer,
) -> None:
    source_BS, target_BT = ids(SOURCE), ids(TARGET)
    found = gradient_times_attention(model, source_BS, target_BT)
    assert list(found) == list(attentions(model))
    for name, head in (
        ("encoder.layers.0.self_attention", 1),
        ("decoder.layers.2.cross_attention", 3),
    ):
        assert found[name].shape[:2] == (1, 4)
        changed = []
        for factor in (1 + 1e-6, 1 - 1e-6):
            with intervene(model, scale={f"{name}[{head}]": factor}):
                changed.append(log_p(model))
        rate = (changed[0] - changed[1]) / 2e-6
        assert float(found[name][0, head].sum()) == pytest.approx(rate, rel=1e-5)


def test_padding_does_not_count_in_a_batch(model: Transformer) -> None:
    alone = gradient_times_attention(model, ids(SOURCE), ids(TARGET))
    both = gradient_times_attention(
        model, ids([*SOURCE, 0, 0], [5] * 6 + [2]), ids([*TARGET, 0], [6] * 4 + [2])
    )
    for name, weights_BHTS in alone.items():
        rows, columns = weights_BHTS.shape[2:]
        assert_close(both[name][:1, :, :rows, :columns], weights_BHTS)


def test_nothing_is_left_behind(model: Transformer) -> None:
    before = log_p(model, 1)
    with torch.inference_mode():
        integrated_gradients(model, SOURCE, TARGET, 1, steps=2)
        gradient_times_input(model, SOURCE, TARGET, 1)
        gradient_times_attention(model, ids(SOURCE), ids(TARGET))
        value_weighted(model, ids(SOURCE), ids(TARGET))
    assert log_p(model, 1) == before
    assert all(weight.grad is None for weight in model.parameters())
    assert not any(part.probes for part in attentions(model).values())
    assert not any(module._forward_hooks for module in model.modules())


def test_calls_that_are_wrong(model: Transformer) -> None:
    for position in (-1, 4):
        with pytest.raises(UsageError, match="the target has 0 … 3"):
            gradient_times_input(model, SOURCE, TARGET, position)
    with pytest.raises(UsageError, match="token 5000: the vocabulary"):
        integrated_gradients(model, SOURCE, TARGET, 0, 5000)
    with pytest.raises(UsageError, match="steps=0"):
        integrated_gradients(model, SOURCE, TARGET, 0, steps=0)
    model.train()
    with pytest.raises(UsageError, match="training mode"):
        gradient_times_input(model, SOURCE, TARGET, 0)
    model.eval()


def test_gradients_where_a_modules_weights_were_replaced(
    model: Transformer, pair: tuple[Tensor, Tensor]
) -> None:
    """Uniform weights come from no other, and log P has a gradient by them all the same."""
    source_BS, shifted_BT = pair
    target_BT = shifted_BT[:, 1:]
    name = "decoder.layers.0.cross_attention"
    with intervene(model, edit={name: "uniform"}):
        found = gradient_times_attention(model, source_BS, target_BT)
    assert found.keys() == attentions(model).keys()
    assert found[name].any()
