"""The int8 road with torch: its sums are exact, its rows do not know of each other, and its
translations are those of the core."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine import torch_int8
from allyouneed.engine.torch_int8 import (
    Int8Linear,
    Int8Transformer,
    int_mm_is_exact,
    integer_product,
    quantise,
    quantise_centred,
    quantised,
)
from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.folder import open_model_folder

Sentences = Callable[..., Tensor]
OUTLIER = 280  # an id that `padded_sentences` does not draw


@settings(deadline=None)
@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=20))
def test_quantised_rows_are_half_a_scale_away_at_most(row: list[float]) -> None:
    x_1I = torch.tensor([row])
    values_1I, scale_11 = quantise(x_1I)
    error = (values_1I.double() * scale_11.double() - x_1I.double()).abs().max()
    assert error <= 0.5001 * scale_11.double()
    assert scale_11.isfinite().all()
    if x_1I.abs().max() > 1e-30:
        assert values_1I.int().abs().max() == 127


def test_halves_are_rounded_to_even_and_rows_have_scales_of_their_own() -> None:
    x_MI = torch.tensor([[127.0, 0.5, 1.5, -2.5], [0.0, 0.0, -0.0, 0.0], [-1e6, 0.0, 5e5, 1e-9]])
    values_MI, scale_M1 = quantise(x_MI)
    assert values_MI.tolist() == [[127, 0, 2, -2], [0, 0, 0, 0], [-127, 0, 64, 0]]
    assert scale_M1[0] == 1
    assert scale_M1[2].item() == pytest.approx(1e6 / 127)


@pytest.fixture(params=["_int_mm", "plain"])
def product_road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "plain":
        monkeypatch.setattr(torch_int8, "int_mm_is_exact", lambda: False)


@pytest.mark.usefixtures("product_road")
@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 7, 5), (1, 2048, 16), (17, 8, 300), (40, 96, 9)])
def test_products_are_exact(sizes: tuple[int, int, int]) -> None:
    rows, inner, columns = sizes
    generator = torch.Generator().manual_seed(0)
    for smallest in (-127, 127):  # random, then all as large as can be
        a_MI = torch.randint(smallest, 128, (rows, inner), generator=generator).to(torch.int8)
        b_OI = torch.randint(smallest, 128, (columns, inner), generator=generator).to(torch.int8)
        for a, b in ((a_MI, b_OI), (-a_MI, b_OI)):
            assert torch.equal(integer_product(a, b).long(), a.long() @ b.long().T)


@pytest.mark.parametrize("bias", [True, False])
def test_linear_map_is_the_formula(bias: bool) -> None:
    torch.manual_seed(0)
    linear, x = nn.Linear(48, 33, bias=bias), torch.randn(4, 5, 48)
    w, w_scale = quantise(linear.weight.detach())
    a, a_scale, zero = quantise_centred(x.view(20, 48))
    y = ((a.long() + zero) @ w.long().T).float() * a_scale * w_scale.T
    y = (y + linear.bias.detach() if bias else y).view(4, 5, 33)
    assert torch.equal(Int8Linear(linear)(x), y)
    assert torch.equal(Int8Linear(linear, torch.float64)(x), y.double())
    assert (y - linear(x)).abs().max() < 0.03


def test_activations_use_all_of_int8() -> None:
    torch.manual_seed(0)
    tilted = torch.randn(50, 64) + torch.linspace(-4, 4, 50)[:, None]
    ends = torch.tensor([[0.0, 0.0], [5.0, 5.0], [-3.0, -3.0], [1e-3, 0.0], [-1e6, 1e6]])
    for x in (tilted, tilted.relu(), -tilted.relu(), ends):
        values, scale, zero = quantise_centred(x)
        assert values.min() >= -127
        width = x.amax(1, keepdim=True).clamp(min=0) - x.amin(1, keepdim=True).clamp(max=0)
        assert torch.allclose(scale, (width / 253).clamp(min=1e-37))
        error = ((values.int() + zero) * scale - x).abs()
        assert (error <= scale * 0.501).all()


def test_zero_stays_zero() -> None:
    """Padding and what ReLU cut off must not become something else."""
    x = torch.tensor([[0.0, 0.3, 7.0, -0.2], [0.0, 1.0, 2.0, 9.0], [0.0, 0.0, 0.0, 0.0]])
    values, _, zero = quantise_centred(x)
    assert (values.int() + zero)[:, 0].tolist() == [0, 0, 0]


@pytest.fixture
def asked_anew() -> Iterator[None]:
    int_mm_is_exact.cache_clear()
    yield
    int_mm_is_exact.cache_clear()


def saturating(a_MI: Tensor, b_IO: Tensor) -> Tensor:
    """What happens without VNNI: a is shifted to unsigned, and pairs of products are 16 bits."""
    products_MIO = (a_MI.int() + 128)[:, :, None] * b_IO.int()
    pairs = products_MIO.unflatten(1, (-1, 2)).sum(2).clamp(-(2**15), 2**15 - 1)
    return (pairs.sum(1) - 128 * b_IO.int().sum(0)).int()


def refusing(a_MI: Tensor, b_IO: Tensor) -> Tensor:
    raise RuntimeError("not implemented for 'Char'")


@pytest.mark.usefixtures("asked_anew")
@pytest.mark.parametrize("int_mm", [saturating, refusing, None])
def test_int8_products_are_not_trusted_untried(
    int_mm: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    if int_mm is None:
        monkeypatch.delattr(torch, "_int_mm")
    else:
        monkeypatch.setattr(torch, "_int_mm", int_mm)
    assert not int_mm_is_exact()
    a_MI = torch.full((2, 4), 127, dtype=torch.int8)
    assert integer_product(a_MI, a_MI).tolist() == [[4 * 127**2] * 2] * 2


def test_other_instructions_give_the_same_product() -> None:
    """oneDNN is told to do without VNNI; where it knows of none anyway, this changes nothing."""
    code = (
        "import torch; from allyouneed.engine.torch_int8 import integer_product\n"
        "a = torch.full((5, 256), 127, dtype=torch.int8)\n"
        "print(integer_product(a, a).unique().tolist() == [256 * 127**2])"
    )
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "1"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout == "True\n"


def stepwise(model: Transformer | Int8Transformer, source_BS: Tensor, target_BNT: Tensor) -> Tensor:
    """Logits BNTV of given targets, one step after the other."""
    with torch.inference_mode():
        cache = model.start(model.encode(source_BS), target_BNT.size(1), target_BNT.size(2))
        return torch.stack([model.step(ids_BN, cache) for ids_BN in target_BNT.unbind(2)], dim=2)


def test_logits_are_close_to_the_core(
    model_of_a_kind: Transformer, padded_sentences: Sentences
) -> None:
    source_BS = padded_sentences([9, 4, 12])
    target_BNT = torch.randint(3, 280, (3, 2, 6), generator=torch.Generator().manual_seed(1))
    core = stepwise(model_of_a_kind, source_BS, target_BNT)
    int8 = stepwise(Int8Transformer(model_of_a_kind), source_BS, target_BNT)
    assert int8.dtype == torch.float32
    assert core.std() > 1
    error = (int8 - core).square().mean().sqrt() / core.std()
    assert 0 < error < 0.1


def test_a_sentence_does_not_know_its_neighbours(
    model_of_a_kind: Transformer, padded_sentences: Sentences
) -> None:
    """Alone or beside an outlier, padded or not, one hypothesis or several: the same bits."""
    source_BS = padded_sentences([9, 23, 14, 2], width=40)
    source_BS[2, 3:9] = OUTLIER
    target_BNT = torch.randint(3, 280, (4, 3, 8), generator=torch.Generator().manual_seed(1))
    target_BNT[2, 1] = target_BNT[0, 2, 4:] = OUTLIER
    loud = deepcopy(model_of_a_kind)
    with torch.no_grad():
        for stack in (loud.encoder, loud.decoder):
            stack.embeddings.tokens.weight[OUTLIER] = torch.full((32,), 500.0).copysign(
                stack.embeddings.tokens.weight[OUTLIER]
            )
    model = Int8Transformer(loud)
    company = stepwise(model, source_BS, target_BNT)
    for sentence, length in ((0, 9), (1, 23)):
        alone = stepwise(model, source_BS[[sentence], :length], target_BNT[[sentence]][:, [1]])
        assert torch.equal(alone[0, 0], company[sentence, 1])


def test_tables_are_rounded_and_the_model_stays_as_it_was(
    small_model: Callable[..., Transformer],
) -> None:
    model = small_model(dropout=0.5).train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    copy = quantised(model)
    assert isinstance(copy.output, Int8Linear)
    assert not any(isinstance(module, nn.Linear) for module in copy.modules())
    values_VD, scale_V1 = quantise(before["decoder.embeddings.tokens.weight"])
    assert torch.equal(copy.decoder.embeddings.tokens.weight, values_VD.float() * scale_V1)
    assert copy.decoder.embeddings.tokens is not model.decoder.embeddings.tokens
    assert model.training
    assert not copy.training
    assert {*before} == {*model.state_dict()}
    assert all(torch.equal(before[name], model.state_dict()[name]) for name in before)


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
@pytest.mark.parametrize(
    "name",
    ["decoder.layers.0.cross_attention.W_K.weight", "encoder.layers.0.feed_forward.W_1.bias"],
)
def test_weights_that_are_not_finite_are_refused(
    name: str, value: float, small_model: Callable[..., Transformer]
) -> None:
    model = small_model()
    with torch.no_grad():
        model.get_parameter(name).view(-1)[3] = value
    with pytest.raises(ModelFolderError, match=rf"{name} holds NaN or infinity \(1 of"):
        Int8Transformer(model)


SENTENCES = """\
Good morning!
Where is the train station?
My sister lives in Berlin.
The children are playing in the garden.
I have two brothers and one sister.
A man rides a bike.
The dog sleeps under the table.
We went to the cinema yesterday.
Can you help me, please?
She reads a book every week.
What time is it?
I would like a cup of coffee.
He works in a hospital.
It is raining again.
They bought a new house last year.
Do you speak German?
The food was very good.
Tom does not like fish.
I am learning to play the piano.
Who opened the window?
My father is a teacher.
The shop closes at eight.
She has never been to Paris.
Let us meet tomorrow.
I cannot find my keys.
The water is too cold.
He told me a long story.
Two women are talking in the street.
Why did you come so late?
This is the best day of my life.""".splitlines()


@pytest.mark.parametrize("beam", [1, 4])
def test_bundled_model_says_the_same(beam: int) -> None:
    folder = open_model_folder("en-de")
    rows = folder.tokenizer.encode_ids(SENTENCES)
    longest = max(map(len, rows))
    source_BS = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    model, options = folder.load_model().eval(), BeamOptions(beam=beam)
    core = beam_search(model, source_BS, options)
    int8 = beam_search(Int8Transformer(model), source_BS, options)
    same = [ours.ids == theirs.ids for [ours], [theirs] in zip(int8, core, strict=True)]
    assert sum(same) >= len(SENTENCES) - 3
    for [ours], [theirs] in zip(int8, core, strict=True):
        assert ours.score == pytest.approx(theirs.score, abs=0.5)


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_search_does_not_know_its_batch(
    data: st.DataObject, small_model: Callable[..., Transformer], padded_sentences: Sentences
) -> None:
    lengths = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=5))
    source_BS = padded_sentences(lengths, seed=data.draw(st.integers(0, 99)), width=14)
    model = Int8Transformer(small_model(d_ff=32))
    together = beam_search(model, source_BS)
    for row_S, length, found in zip(source_BS, lengths, together, strict=True):
        assert beam_search(model, row_S[None, :length]) == [found]
