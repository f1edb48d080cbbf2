"""What tests of the native engine share: the compiled library, engines of models in memory, and
small models whose sizes are no multiples of anything.

B sentences · S source length
"""

import random
from collections.abc import Callable, Sequence

import pytest
import torch

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.data.padding import padded
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.protocol import Decodable
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

Sources = list[list[int]]
Found = list[list[Hypothesis]]


@pytest.fixture(scope="session")
def library() -> Library:
    """The engine for this machine, compiled once and kept where every other start finds it."""
    try:
        find_compiler()
    except NoCompiler as error:
        pytest.skip(f"the native engine is tested where it can be compiled: {error}")
    return find_library()


@pytest.fixture(scope="session")
def native(library: Library) -> Callable[..., NativeEngine]:
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
        with torch.no_grad():
            if model.config.positions == "stored":
                for seed, stack in enumerate((model.encoder, model.decoder)):
                    generator = torch.Generator().manual_seed(seed)
                    stack.embeddings.positions.table.normal_(generator=generator)
            if model.config.output_bias:
                model.output.bias[model.config.end] += end
        return model

    return make


@pytest.fixture(scope="session")
def sentences() -> Callable[..., Sources]:
    """Random sources of the given lengths, their end included, for a model of this shape."""

    def draw(config: TransformerConfig, lengths: Sequence[int], *, seed: int = 0) -> Sources:
        drawn = random.Random(seed)
        special = {config.pad, config.start, config.end}
        smaller = min(config.vocabulary, config.source_vocabulary or config.vocabulary)
        words = [id_ for id_ in range(smaller) if id_ not in special]
        return [[*drawn.choices(words, k=n - 1), config.end] for n in lengths]

    return draw


@pytest.fixture(scope="session")
def searched_in_python() -> Callable[..., Found]:
    """`decoding.beam_search` over all the sources at once, as what any search has to find."""

    def search(
        model: Decodable,
        sources: Sources,
        options: BeamOptions,
        prefixes: Sources | None = None,
    ) -> Found:
        source_BS = padded(sources, model.config.pad, torch.device("cpu"))
        return beam_search(model, source_BS, options, prefixes)

    return search


@pytest.fixture(scope="session")
def assert_same() -> Callable[..., None]:
    """The same hypotheses, their numbers within a tolerance, in the same order but for ties."""

    def check(found: Found, wanted: Found, tolerance: float = 1e-4) -> None:
        for mine, theirs in zip(found, wanted, strict=True):
            assert {h.ids for h in mine} == {h.ids for h in theirs}
            assert [h.score for h in mine] == pytest.approx(
                [h.score for h in theirs], abs=tolerance
            )
            same = {h.ids: h for h in theirs}
            for one in mine:
                other = same[one.ids]
                assert one.finished == other.finished
                assert one.log_probability == pytest.approx(other.log_probability, abs=tolerance)
                assert one.token_log_probabilities == pytest.approx(
                    other.token_log_probabilities, abs=tolerance
                )

    return check
