"""The fast road of a training step, by native kernels and without padding, against the plain."""

import ctypes
import math
import statistics
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core.attention import attention
from allyouneed.core.config import TransformerConfig
from allyouneed.core.positions import Rotary
from allyouneed.core.transformer import Transformer
from allyouneed.data.collate import Batch
from allyouneed.engine.native.library import NoLibrary
from allyouneed.errors import AllYouNeedError, ShapeError
from allyouneed.training import objective as objective_module
from allyouneed.training.cpu.fused import (
    AttentionShape,
    Packing,
    add_norm,
    attend,
    r_drop_in_place,
    smoothed_in_place,
)
from allyouneed.training.cpu.packed import PackedTransformer, why_not_packed
from allyouneed.training.loss import label_smoothed_loss, r_drop_loss
from allyouneed.training.objective import Objective
from allyouneed.training.recipe.sections import TrainingSection

CONFIG = TransformerConfig(
    vocabulary=60,
    d_model=32,
    heads=2,
    d_ff=48,
    encoder_layers=2,
    decoder_layers=2,
    dropout=0.0,
    max_positions=64,
)
KINDS: dict[str, dict[str, Any]] = {
    "paper": {},
    "pre-norm": {"residual": "pre-norm"},
    "odd widths": {"d_model": 30, "heads": 3, "d_ff": 7},
    "one wide head": {"heads": 1, "head_width": 40, "bias": False},
    "gated": {"activation": "swiglu", "positions": "learned", "normalise_embeddings": True},
    "rotary": {"positions": "rotary", "head_width": 22},
    "two vocabularies": {"shared_embeddings": "none", "source_vocabulary": 40},
    "no encoder": {"encoder_layers": 0, "residual": "pre-norm"},
    "output bias": {"output_bias": True},
    "ssru": {"decoder": "ssru"},
    "ssru pre-norm": {"decoder": "ssru", "residual": "pre-norm"},
}
LENGTHS = ((9, 23), (1, 1), (4, 17), (7, 16), (8, 2))  # source, target


def loud_model(seed: int = 1, **changes: Any) -> Transformer:
    """Biases and gains that are not zeros and ones."""
    torch.manual_seed(seed)
    model = Transformer(replace(CONFIG, **changes)).train()
    for weight in model.parameters():
        if weight.dim() == 1:
            nn.init.normal_(weight, 0.5, 0.3)
    return model


def made_up_batch(config: TransformerConfig, lengths: tuple[tuple[int, int], ...]) -> Batch:
    generator = torch.Generator().manual_seed(2)
    source, target = (
        torch.randint(4, size, (len(lengths), max(sizes)), generator=generator)
        for size, sizes in zip(
            (config.source_vocabulary or config.vocabulary, config.vocabulary),
            zip(*lengths, strict=True),
            strict=True,
        )
    )
    for row, (source_length, target_length) in enumerate(lengths):
        source[row, source_length:] = config.pad
        target[row, target_length:] = config.pad
    shifted = target.roll(1, 1)
    shifted[:, 0] = config.start
    target_in = shifted.masked_fill(target == config.pad, config.pad)
    return Batch(source, target_in, target, sum(target for _, target in lengths))


def both_roads(
    model: Transformer, batch: Batch, **keys: Any
) -> list[tuple[Tensor, list[Tensor | None]]]:
    """Loss and gradients by the plain road and by the fast one."""
    section = TrainingSection(steps=1, **keys)
    plain, fast = (Objective(model, section, torch.device("cpu")) for _ in range(2))
    plain._packed = None
    assert fast._packed is not None
    found = []
    for objective in (plain, fast):
        loss = objective(batch)
        grads = torch.autograd.grad(loss / 50, list(model.parameters()), allow_unused=True)
        found.append((loss.detach(), list(grads)))
    return found


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("kind", KINDS)
def test_both_roads_give_the_same_loss_and_gradients(kind: str) -> None:
    model = loud_model(**KINDS[kind])
    batch = made_up_batch(model.config, LENGTHS)
    (plain, expected), (fast, found) = both_roads(model, batch)
    assert_close(fast, plain)
    for (name, _), ours, theirs in zip(model.named_parameters(), found, expected, strict=True):
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert_close(
                ours, theirs, rtol=1e-4, atol=1e-5, msg=lambda text, n=name: f"{n}: {text}"
            )


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("kind", KINDS)
def test_in_bf16_they_differ_by_rounding(kind: str) -> None:
    """By about as much as torch's own road: a median, for one ReLU that rounding turns off moves
    the gradients of so small a model by per cents."""
    apart: list[list[float]] = [[], []]
    for seed in range(7):
        model = loud_model(seed, **KINDS[kind])
        batch = made_up_batch(model.config, LENGTHS)
        (loss, exact), _ = both_roads(model, batch)
        narrow = both_roads(model, batch, precision="bf16")
        for (narrow_loss, grads), distances in zip(narrow, apart, strict=True):
            assert_close(narrow_loss, loss, rtol=2e-3, atol=0.0)
            distances.append(distance(grads, exact))
    torchs, ours = map(statistics.median, apart)
    assert 0 < ours < 2 * torchs < 0.03


def distance(grads: list[Tensor | None], exact: list[Tensor | None]) -> float:
    """Of all gradients together, relative."""
    one, other = (
        torch.cat([g.flatten() for g in found if g is not None]) for found in (grads, exact)
    )
    return float((one - other).norm() / other.norm())


@pytest.mark.usefixtures("compiled")
def test_linear_layers_have_their_gradients_by_kernels_in_bf16() -> None:
    model = loud_model()
    batch = made_up_batch(model.config, LENGTHS)
    fast = Objective(model, TrainingSection(steps=1, precision="bf16"), torch.device("cpu"))
    names: list[str] = []
    following: list[Any] = [fast(batch).grad_fn]
    while following:
        node = following.pop()
        if node is not None:
            names.append(node.name())
            following += [parent for parent, _ in node.next_functions]
    assert "_ProjectionBackward" in names
    assert {"AddmmBackward0", "MmBackward0"}.isdisjoint(names)


@pytest.mark.usefixtures("compiled")
def test_r_drop_goes_the_fast_road_too() -> None:
    model = loud_model()
    batch = made_up_batch(model.config, LENGTHS)
    (plain, expected), (fast, found) = both_roads(model, batch, r_drop=1.0)
    assert_close(fast, plain)
    assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("compiled")
def test_a_batch_of_no_target_token() -> None:
    """As a worker has it for which nothing is left."""
    model = loud_model()
    objective = Objective(model, TrainingSection(steps=1), torch.device("cpu"))
    end, start, pad = torch.tensor([2, 1, 0]).view(3, 1, 1)
    loss = objective(Batch(end, start, pad, target_tokens=0))
    loss.backward()
    assert loss == 0
    assert not any(weight.grad.any() for weight in model.parameters() if weight.grad is not None)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("lengths", [(9, 2), (2, 9)])
def test_a_sentence_beyond_the_tables_of_positions(lengths: tuple[int, int]) -> None:
    """Kernels do not look where the tables of rotary positions end."""
    model = loud_model(positions="rotary", max_positions=8)
    objective = Objective(model, TrainingSection(steps=1), torch.device("cpu"))
    assert objective._packed is not None
    with pytest.raises(ShapeError, match="max_positions=8"):
        objective(made_up_batch(model.config, (lengths,)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("causal", [True, False])
def test_attention_is_equation_1(kernels: ctypes.CDLL, dtype: torch.dtype, causal: bool) -> None:
    """Of packed sentences, with keys and values in columns of a wider matrix."""
    torch.manual_seed(0)
    heads, width = 3, 20
    lengths = [(5, 5), (1, 1), (40, 40)] if causal else [(5, 9), (1, 33), (40, 2)]
    queries, keys = (
        Packing(torch.tensor([0, *side], dtype=torch.int32).cumsum(0, dtype=torch.int32))
        for side in zip(*lengths, strict=True)
    )
    q_PD = torch.randn(64, 60).to(dtype).requires_grad_()
    wide_PD = torch.randn(64, 240).to(dtype).requires_grad_()
    kv_PD = wide_PD.chunk(2, dim=-1)[1]
    shape = AttentionShape(heads, width, causal, dropout=0.0)
    found_PD = attend(kernels, q_PD, kv_PD, queries, keys, shape)
    rows = []
    for n, (t, s) in enumerate(lengths):
        here = slice(int(queries.starts[n]), int(queries.starts[n]) + t)
        there = slice(int(keys.starts[n]), int(keys.starts[n]) + s)
        q, k, v = (
            side.float().unflatten(-1, (heads, width)).transpose(0, 1)
            for side in (q_PD[here], kv_PD[there, :60], kv_PD[there, 60:])
        )
        mask = torch.ones(t, s, dtype=torch.bool).tril() if causal else None
        rows.append(attention(q, k, v, mask)[0].transpose(0, 1).flatten(1))
    expected_PD = nn.functional.pad(torch.cat(rows), (0, 0, 0, 64 - queries.positions))
    exact = dtype == torch.float32
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if exact else {"rtol": 0.02, "atol": 0.01}
    assert found_PD.dtype == dtype
    assert_close(found_PD.float(), expected_PD, **tolerance)
    grad_PD = torch.randn_like(expected_PD)
    grad_PD[queries.positions :] = 0.0
    ours = torch.autograd.grad((found_PD.float() * grad_PD).sum(), [q_PD, wide_PD])
    theirs = torch.autograd.grad((expected_PD * grad_PD).sum(), [q_PD, wide_PD])
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(
            mine.float(), other.float(), **(tolerance if exact else {"rtol": 0.05, "atol": 0.05})
        )


@pytest.mark.parametrize("post_norm", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_residual_connection_is_its_formula(
    kernels: ctypes.CDLL, dtype: torch.dtype, post_norm: bool
) -> None:
    torch.manual_seed(0)
    norm = nn.LayerNorm(23)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x_PD = torch.randn(37, 23, requires_grad=True)
    y_PD = torch.randn(37, 23).to(dtype).requires_grad_()
    stream_PD, narrowed_PD = add_norm(kernels, x_PD, y_PD, norm, 0.0, post_norm)
    sum_PD = x_PD + y_PD
    expected = (norm(sum_PD) if post_norm else sum_PD, norm(sum_PD).to(dtype))
    assert_close(
        (stream_PD, narrowed_PD), expected, rtol=1e-5 if dtype == torch.float32 else 0.01, atol=1e-5
    )
    weights = [torch.randn(37, 23) for _ in range(2)]
    leaves = [x_PD, y_PD, norm.weight, norm.bias]
    grads = [
        torch.autograd.grad(
            sum((a.float() * w).sum() for a, w in zip(pair, weights, strict=True)), leaves
        )
        for pair in ((stream_PD, narrowed_PD), expected)
    ]
    for ours, theirs in zip(*grads, strict=True):
        loose = (
            {"rtol": 0.02, "atol": 0.03}
            if dtype == torch.bfloat16
            else {"rtol": 1e-4, "atol": 1e-5}
        )
        assert ours.dtype == theirs.dtype
        assert_close(ours, theirs, **loose)


def test_dropout_of_a_residual_connection(kernels: ctypes.CDLL) -> None:
    """A share of y goes, the rest grows; the gradient goes the same ways; the seed decides."""
    norm = nn.LayerNorm(64)
    x_PD = torch.zeros(2000, 64)
    y_PD = torch.ones(2000, 64, requires_grad=True)

    def drawn(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return add_norm(kernels, x_PD, y_PD, norm, 0.3, post_norm=False)[0]

    sum_PD = drawn(5)
    kept_PD = sum_PD != 0
    assert_close(sum_PD[kept_PD], torch.full_like(sum_PD[kept_PD], 1 / 0.7))
    assert float(kept_PD.float().mean()) == pytest.approx(0.7, abs=0.005)
    for axis in (0, 1):  # no row and no column of its own mind
        shares = kept_PD.float().mean(dim=axis)
        assert float((shares - 0.7).abs().max()) < 6 * math.sqrt(0.21 / kept_PD.size(axis))
    (grad_PD,) = torch.autograd.grad(sum_PD.sum(), [y_PD])
    assert torch.equal(grad_PD, sum_PD)
    assert torch.equal(drawn(5), sum_PD)
    agreed = ((drawn(6) != 0) == kept_PD).float().mean()
    assert float(agreed) == pytest.approx(0.7**2 + 0.3**2, abs=0.01)


def test_dropout_of_attention_weights(kernels: ctypes.CDLL) -> None:
    """With values that are unit vectors the result is the weights; the gradient follows them."""
    size = 16
    packing = Packing(torch.arange(0, 65 * size, size, dtype=torch.int32))
    q_PD = torch.zeros(64 * size, size, requires_grad=True)
    kv_PD = torch.cat([torch.randn(64 * size, size), torch.eye(size).repeat(64, 1)], dim=1)
    shape = AttentionShape(1, size, causal=False, dropout=0.25)
    torch.manual_seed(3)
    weights_PS = attend(kernels, q_PD, kv_PD, packing, packing, shape)
    kept_PS = weights_PS != 0
    assert float(kept_PS.float().mean()) == pytest.approx(0.75, abs=0.01)
    assert_close(weights_PS[kept_PS], torch.full((int(kept_PS.sum()),), 1 / 16 / 0.75))
    grad_PS = torch.randn(64 * size, size)
    (ours,) = torch.autograd.grad(weights_PS, [q_PD], grad_PS)
    k_NSK = kv_PD[:, :size].view(64, size, size)
    plain = (q_PD.view(64, size, size) @ k_NSK.mT / math.sqrt(size)).softmax(-1).flatten(0, 1)
    (theirs,) = torch.autograd.grad(plain * kept_PS / 0.75, [q_PD], grad_PS)
    assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_smoothed_loss_is_its_formula(
    kernels: ctypes.CDLL, dtype: torch.dtype, smoothing: float
) -> None:
    torch.manual_seed(0)
    logits_PV = (9 * torch.randn(21, 203)).to(dtype).float().requires_grad_()
    labels_P = torch.randint(0, 203, (21,))
    loss = label_smoothed_loss(logits_PV, labels_P, smoothing, pad=-1)
    (expected_PV,) = torch.autograd.grad(loss, [logits_PV])
    grad_PV = logits_PV.detach().to(dtype)
    found = smoothed_in_place(kernels, grad_PV, labels_P, smoothing)
    assert_close(found.sum(), loss.detach())
    rough = {"rtol": 0.01, "atol": 1e-6}
    assert_close(grad_PV.float(), expected_PV, **(rough if dtype == torch.bfloat16 else {}))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("alpha", [0.5, 5.0])
def test_r_drop_is_its_formula(
    kernels: ctypes.CDLL, dtype: torch.dtype, smoothing: float, alpha: float
) -> None:
    torch.manual_seed(0)
    one_PV = 3 * torch.randn(21, 203)
    logits_2PV = torch.stack([one_PV, one_PV + torch.randn(21, 203)]).to(dtype).float()
    labels_P = torch.randint(0, 203, (21,))
    loss = r_drop_loss(logits_2PV.requires_grad_(), labels_P, smoothing, alpha, pad=-1)
    (expected_2PV,) = torch.autograd.grad(loss, [logits_2PV])
    grad_2PV = logits_2PV.detach().to(dtype)
    found = r_drop_in_place(kernels, grad_2PV.flatten(0, 1), labels_P, smoothing, alpha)
    assert_close(found.sum(), loss.detach())
    rough = {"rtol": 0.01, "atol": 1e-6}
    tight = {"rtol": 1e-4, "atol": 1e-6}
    assert_close(grad_2PV.float(), expected_2PV, **(rough if dtype == torch.bfloat16 else tight))


def test_a_sentence_is_not_spoilt_by_the_one_before_it(kernels: ctypes.CDLL) -> None:
    """They are at work in the same memory, one after the other."""
    packing = Packing(torch.tensor([0, 15, 18], dtype=torch.int32))
    shape = AttentionShape(1, 16, causal=False, dropout=0.0)
    torch.manual_seed(0)
    qkv_PD = torch.randn(32, 48)
    qkv_PD[:15] = math.nan
    qkv_PD.requires_grad_()
    heads_PD = attend(kernels, qkv_PD, None, packing, packing, shape)
    (grad_PD,) = torch.autograd.grad(heads_PD[15:18].sum(), [qkv_PD])
    assert heads_PD[:15].isnan().all()
    assert heads_PD[15:18].isfinite().all()
    assert grad_PD[15:18].isfinite().all()


def test_threads_share_the_rows(kernels: ctypes.CDLL) -> None:
    """As many numbers as other threads are woken for."""
    norm = nn.LayerNorm(48)
    packing = Packing(torch.arange(0, 1001, 10, dtype=torch.int32))
    shape = AttentionShape(4, 12, causal=True, dropout=0.1)

    def worked(threads: int) -> list[Tensor]:
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        x_PD, y_PD = (torch.randn(1000, 48, requires_grad=True) for _ in range(2))
        qkv_PD = torch.randn(1000, 144, requires_grad=True)
        stream_PD, _ = add_norm(kernels, x_PD, y_PD, norm, 0.1, post_norm=True)
        heads_PD = attend(kernels, qkv_PD, None, packing, packing, shape)
        grads = torch.autograd.grad(
            (stream_PD * heads_PD).sum(), [x_PD, y_PD, qkv_PD, *norm.parameters()]
        )
        loss = smoothed_in_place(kernels, qkv_PD.detach(), torch.arange(1000) % 144, 0.1)
        both_PD = qkv_PD.detach().clone()
        r_drop = r_drop_in_place(kernels, both_PD, torch.arange(500) % 144, 0.1, 5.0)
        return [stream_PD, heads_PD, *grads, qkv_PD, loss, both_PD, r_drop]

    before = torch.get_num_threads()
    try:
        alone, together = worked(1), worked(2)
        again = worked(2)
    finally:
        torch.set_num_threads(before)
    assert_close(together, alone, rtol=1e-4, atol=1e-4)
    assert all(torch.equal(one, other) for one, other in zip(together, again, strict=True))


def test_numbers_that_the_kernels_do_not_know(kernels: ctypes.CDLL) -> None:
    with pytest.raises(TypeError, match=r"float32 or bfloat16, not in torch\.float64"):
        smoothed_in_place(kernels, torch.zeros(2, 3).double(), torch.zeros(2).long(), 0.1)


@pytest.mark.parametrize("label", [-1, 3])
def test_labels_outside_the_vocabulary(kernels: ctypes.CDLL, label: int) -> None:
    with pytest.raises(IndexError, match=f"label {label} is not in a vocabulary of 3"):
        smoothed_in_place(kernels, torch.zeros(2, 3), torch.tensor([2, label]), 0.1)


def test_sentences_beyond_the_rotary_tables(kernels: ctypes.CDLL) -> None:
    packing = Packing(torch.tensor([0, 9], dtype=torch.int32))
    shape = AttentionShape(heads=2, width=8, causal=True, dropout=0.0, rotary=Rotary(8, 8))
    with pytest.raises(AllYouNeedError, match="longer than the rotary tables"):
        attend(kernels, torch.zeros(9, 48), None, packing, packing, shape)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"norm": "rms"}, "norm='rms'"),
        (
            {"attention_dropout": 0.1, "max_positions": 5000},
            "attention_dropout and max_positions=5000",
        ),
    ],
)
def test_what_they_do_not_know_goes_the_plain_road(changes: dict[str, Any], what: str) -> None:
    model = loud_model(**changes)
    assert why_not_packed(model) == what
    objective = Objective(model, TrainingSection(steps=1), torch.device("cpu"))
    assert objective.note == (
        f"training is slower without the native kernels, which do not support {what}"
    )
    loss = objective(made_up_batch(model.config, LENGTHS))
    assert math.isfinite(loss.detach())
    assert why_not_packed(loud_model().double()) == "weights in torch.float64"


def test_without_a_compiler_the_plain_road_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> None:
        raise NoLibrary("the native kernels of training are not there")

    monkeypatch.setattr(objective_module, "find_kernels", nothing)
    model = loud_model()
    objective = Objective(model, TrainingSection(steps=1), torch.device("cpu"))
    assert objective.note
    assert objective.note.endswith("are not there; training is slower without them")
    assert math.isfinite(objective(made_up_batch(model.config, LENGTHS)).detach())


@pytest.mark.usefixtures("compiled")
def test_shards_go_the_plain_road() -> None:
    """A layer's weights are whole only while that layer's own forward runs."""
    section = TrainingSection(steps=1, sharded=True)
    assert Objective(loud_model(), section, torch.device("cpu"))._packed is None


def test_states_are_those_of_the_kept_positions(kernels: ctypes.CDLL) -> None:
    model = loud_model()
    batch = made_up_batch(model.config, LENGTHS)
    kept_BT = batch.labels_BT != 0
    found = PackedTransformer(model, kernels).states(batch.source_BS, batch.target_in_BT, kept_BT)
    expected = model.decode(batch.target_in_BT, model.encode(batch.source_BS))[kept_BT]
    assert_close(found, expected, rtol=1e-5, atol=1e-5)
