"""int8: the native engine computes what the plain road, engine/torch_int8.py, computes.

The two differ in one thing: the native engine keeps keys and values that the decoder looks at as
bfloat16, which rounds each by up to 1/256 of itself.

B sentences · N hypotheses · T steps · V vocabulary
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.data.padding import padded
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.engine.native.packed import PackedModel
from allyouneed.engine.torch_engine import TorchEngine
from allyouneed.engine.torch_int8 import Int8Transformer, quantised
from allyouneed.errors import AllYouNeedError
from allyouneed.model_folder.folder import open_model_folder

MakeModel = Callable[..., Transformer]
MakeEngine = Callable[..., NativeEngine]
SHAPES: list[dict[str, Any]] = [
    {},
    {"residual": "pre-norm", "norm": "rms", "activation": "swiglu", "positions": "rotary"},
    {"positions": "learned", "normalise_embeddings": True},
    {"activation": "gelu", "bias": False},
    {"activation": "silu", "shared_embeddings": "all"},
    {"d_model": 130, "d_ff": 257, "vocabulary": 1100, "output_bias": False},
    {"encoder_layers": 0, "residual": "pre-norm", "head_width": 39},
    {"decoder": "ssru"},
]


@pytest.fixture
def logits(sentences: Callable[..., Any]) -> Callable[..., Tensor]:
    """Logits TBNV of random targets, for sources of many lengths."""

    @torch.inference_mode()
    def of(road: Any) -> Tensor:
        sources = sentences(road.config, [5, 1, 40, 33, 2, 32])
        generator = torch.Generator().manual_seed(1)
        ids_TBN = torch.randint(3, road.config.vocabulary, (6, 6, 3), generator=generator)
        ids_TBN[0] = road.config.start
        cache = road.start(road.encode(padded(sources, 0, torch.device("cpu"))), 3, 6)
        return torch.stack([road.step(ids_BN, cache) for ids_BN in ids_TBN])

    return of


def with_coarse_memory(model: Transformer) -> Transformer:
    """The plain road, but what its decoder looks at is rounded as the native engine rounds it."""
    plain = quantised(model)
    for layer in plain.decoder.layers:
        for attention in filter(
            None, (getattr(layer, "self_attention", None), layer.cross_attention)
        ):
            exact = attention.keys_values

            def coarse(*given: Any, exact: Any = exact) -> tuple[Tensor, ...]:
                return tuple(x.bfloat16().to(x.dtype) for x in exact(*given))

            attention.keys_values = coarse
    return plain


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_same_numbers(
    shape: dict[str, Any],
    odd_model: MakeModel,
    native: MakeEngine,
    logits: Callable[..., Tensor],
) -> None:
    """But where a sum in another order lets a number fall to the next int8, as few do; from there
    on numbers differ as they do between int8 and float32."""
    model = odd_model(**shape)
    found, wanted = logits(native(model, "int8").decodable), logits(with_coarse_memory(model))
    apart = (found - wanted).abs() / wanted.std()
    assert apart.median() < 1e-6
    assert apart.max() < 0.2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_bfloat16_adds_is_less_than_what_int8_costs(
    shape: dict[str, Any],
    odd_model: MakeModel,
    native: MakeEngine,
    logits: Callable[..., Tensor],
) -> None:
    model = odd_model(**shape)
    core, plain = logits(model), logits(Int8Transformer(model))
    found = logits(native(model, "int8").decodable)

    def error(ours: Tensor, theirs: Tensor) -> float:
        return float((ours - theirs).square().mean().sqrt() / core.std())

    assert 0 < error(found, plain) < 0.75 * error(plain, core)
    assert error(found, core) < 1.15 * error(plain, core) < 0.15


def test_weights_are_rounded_as_the_rule_says(odd_model: MakeModel, native: MakeEngine) -> None:
    """Without layers the logits are one product: (row + zero) · scale by weight · scale, halves
    to even. The row is an embedding, which is rounded itself."""
    model = odd_model(
        encoder_layers=0, decoder_layers=0, d_model=8, vocabulary=40, positions="none"
    )
    with torch.no_grad():
        model.output.weight.zero_()  # of most rows; they have no scale
        model.output.weight[5] = torch.tensor([127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -127.0])
        model.output.weight[6] = model.output.weight[5] * 3e-20
        model.output.bias.zero_()
    decodable = native(model, "int8").decodable
    cache = decodable.start(decodable.encode(torch.tensor([[2]])), 1, 1)
    logits_V = decodable.step(torch.tensor([[9]]), cache)[0, 0]
    embedding_D = model.decoder.embeddings.tokens.weight[9].detach().double()
    unit = embedding_D.abs().max() / 127
    x_D = (embedding_D / unit).round() * unit * 8**0.5
    unit = (x_D.max().clamp(min=0) - x_D.min().clamp(max=0)) / 253
    q_D = (x_D / unit).round()
    rounded_D = torch.tensor([127.0, 0, 2, 2, 0, -2, -2, -127], dtype=torch.double)
    wanted = float((q_D * rounded_D).sum() * unit)
    assert logits_V[5].item() == pytest.approx(wanted, rel=1e-6)
    assert logits_V[6].item() == pytest.approx(wanted * 3e-20, rel=1e-6)
    assert logits_V.count_nonzero() == 2


@pytest.mark.parametrize("beam", [1, 4])
def test_searches_find_the_same(
    beam: int, odd_model: MakeModel, native: MakeEngine, sentences: Callable[..., Any]
) -> None:
    model = odd_model(d_model=64, d_ff=96)
    sources = sentences(model.config, [2 + n % 30 for n in range(60)], seed=1)
    options = BeamOptions(beam=beam, extra_length=5)
    plain = TorchEngine("cpu-int8", "int8, torch", Int8Transformer(model))
    found, wanted = (e.search(sources, options) for e in (native(model, "int8"), plain))
    same = [mine.ids == its.ids for [mine], [its] in zip(found, wanted, strict=True)]
    assert sum(same) >= 0.9 * len(sources)  # random weights: words are all about as probable
    for [mine], [its] in zip(found, wanted, strict=True):
        assert mine.score == pytest.approx(its.score, abs=0.1)


SENTENCES = """\
Good morning!
Where is the train station?
My sister lives in Berlin.
The children are playing in the garden.
A man rides a bike.
The dog sleeps under the table.
Can you help me, please?
She reads a book every week.
I would like a cup of coffee.
He works in a hospital.
They bought a new house last year.
Tom does not like fish.
I am learning to play the piano.
She has never been to Paris.
The water is too cold.
Two women are talking in the street.
Why did you come so late?
This is the best day of my life.""".splitlines()


@pytest.mark.parametrize("beam", [1, 4])
def test_the_bundled_model_says_the_same(beam: int, native: MakeEngine) -> None:
    folder = open_model_folder("en-de")
    model, sources = folder.load_model(), folder.tokenizer.encode_ids(SENTENCES)
    plain = TorchEngine("cpu-int8", "int8, torch", Int8Transformer(model))
    options = BeamOptions(beam=beam)
    found, wanted = (e.search(sources, options) for e in (native(model, "int8"), plain))
    same = [mine.ids == its.ids for [mine], [its] in zip(found, wanted, strict=True)]
    assert sum(same) >= len(SENTENCES) - 1
    for [mine], [its] in zip(found, wanted, strict=True):
        assert mine.score == pytest.approx(its.score, abs=0.1)


def test_a_tensor_that_is_missing_or_of_another_size_is_named(
    odd_model: MakeModel, native: MakeEngine
) -> None:
    model = odd_model()
    engine = native(model, "int8")
    arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    name = "decoder.layers.1.cross_attention.W_O.weight"
    for changed, why in (
        ({**arrays, name: arrays[name][:, :7]}, f"{name} has 140 numbers instead of 600"),
        ({n: a for n, a in arrays.items() if n != name}, f"{name} is missing"),
    ):
        with pytest.raises(AllYouNeedError, match=f"the weights cannot be packed: {why}"):
            PackedModel(engine.library.functions, model.config, changed, int8=True)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "name",
    [
        "encoder.embeddings.tokens.weight",
        "encoder.layers.1.feed_forward.W_1.weight",
        "decoder.layers.0.cross_attention_residual.norm.bias",
        "output.bias",
    ],
)
def test_weights_that_are_not_finite_are_refused_by_name(
    name: str, value: float, odd_model: MakeModel, native: MakeEngine
) -> None:
    model = odd_model()
    arrays = {n: tensor.numpy().copy() for n, tensor in model.state_dict().items()}
    arrays[name].ravel()[-1] = value
    functions = native(model).library.functions
    for int8 in (False, True):
        with pytest.raises(AllYouNeedError, match=f"packed: {name} holds NaN or infinity"):
            PackedModel(functions, model.config, arrays, int8)
