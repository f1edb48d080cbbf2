"""What tests of the native engine share: the compiled library, engines of models in memory, and
small models whose sizes are no multiples of anything.

B sentences · S source length
"""

import random
from collections.abc import Callable, Sequence

import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.engine.native.build import NoCompiler, find_compiler
from allyouneed.engine.native.engine import NativeEngine, Precision
from allyouneed.engine.native.library import Library, find_library
from allyouneed.engine.native.packed import PackedModel

ODD: dict[str, object] = {
    "vocabulary": 47,
    "d_model": 20,
    "heads": 5,
    "head_width": 6,
    "d_ff": 33,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "max_positions": 40,
    "shared_embeddings": "none",  # tied weights, when random, repeat the last token
    "output_bias": True,
}

MakeEngine = Callable[..., NativeEngine]
Sources = list[list[int]]


@pytest.fixture(scope="session")
def library() -> Library:
    """The engine for this machine, compiled once and kept where every other start finds it."""
    try:
        find_compiler()
    except NoCompiler as error:
        pytest.skip(f"the native engine is tested where it can be compiled: {error}")
    return find_library()


@pytest.fixture(scope="session")
def native(library: Library) -> MakeEngine:
    """An engine of a model in memory."""

    def make(
        model: Transformer,
        precision: Precision = "float32",
        threads: int = 1,
        library: Library = library,
    ) -> NativeEngine:
        arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
        packed = PackedModel(library.functions, model.config, arrays, precision == "int8")
        return NativeEngine(packed, library, precision, threads)

    return make


@pytest.fixture(scope="session")
def odd_model(small_model: Callable[..., Transformer]) -> Callable[..., Transformer]:
    """A small model of odd sizes with random weights; `end` is added to the end's logit."""

    def make(end: float = 3.0, **changes: object) -> Transformer:
        model = small_model(**{**ODD, **changes})
        for stack in (model.encoder, model.decoder):
            if model.config.positions == "stored":
                stack.embeddings.positions.table.copy_(
                    stack.embeddings.tokens.weight.detach()[:1] * 0 + 1
                )
        if model.config.output_bias:
            model.output.bias.data[model.config.end] += end
        return model

    return make


@pytest.fixture(scope="session")
def sentences() -> Callable[..., Sources]:
    """Random sources of the given lengths, their end included."""

    def draw(lengths: Sequence[int], *, seed: int = 0, vocabulary: int = 47) -> Sources:
        drawn = random.Random(seed)
        return [[*(drawn.randrange(3, vocabulary) for _ in range(n - 1)), 2] for n in lengths]

    return draw
