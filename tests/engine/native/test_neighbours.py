"""A sentence's result is its own: alone, in any batch and order, on one thread or two, and beside
a sentence whose activations are huge.

Rows are computed one by one and integer sums are exact, so batches change not a bit. A second
thread sums up half of the probabilities' denominator, which moves the last bits of scores.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native.engine import NativeEngine, Precision

Make = Callable[..., NativeEngine]
LOUD = 46  # an id whose embedding is huge
SHAPES: list[dict[str, Any]] = [
    {},
    {"residual": "pre-norm", "norm": "rms", "activation": "swiglu", "positions": "rotary"},
    {"d_model": 37, "heads": 1, "head_width": 70, "positions": "none", "activation": "gelu"},
    {"decoder": "ssru", "end": 4.0},
]


@pytest.fixture(params=SHAPES, ids=str)
def model(request: pytest.FixtureRequest, odd_model: Callable[..., Transformer]) -> Transformer:
    """With 1100 words, so that there is something to look at for two threads."""
    model = odd_model(**{"vocabulary": 1100, "end": 6.0, **request.param})
    with torch.no_grad():
        for stack in (model.encoder, model.decoder):
            stack.embeddings.tokens.weight[LOUD] *= 1000
    return model


@pytest.fixture
def sources(model: Transformer, sentences: Callable[..., Any]) -> list[list[int]]:
    """Of all lengths around which something changes, each twice, some of them loud."""
    drawn = sentences(model.config, [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 40] * 2)
    for source in drawn[3::4]:
        source[len(source) // 2 : -1] = [LOUD] * len(source[len(source) // 2 : -1])
    return drawn


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("beam", [1, 4])
def test_batches_change_nothing(
    beam: int,
    precision: Precision,
    model: Transformer,
    sources: list[list[int]],
    native: Make,
) -> None:
    options = BeamOptions(beam=beam, n_best=beam, extra_length=9)
    engine = native(model, precision)
    together = engine.search(sources, options)
    assert len({len(hypotheses[0].ids) for hypotheses in together}) > 1
    backwards = engine.search(sources[::-1], options)[::-1]
    engine.batch_hypotheses = 5 * beam
    few = engine.search(sources, options)
    for source, *others in zip(sources, together, backwards, few, strict=True):
        [alone] = engine.search([source], options)
        assert [alone] * 3 == others


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("beam", [1, 4])
def test_threads_change_nothing_but_last_bits(
    beam: int,
    precision: Precision,
    model: Transformer,
    sources: list[list[int]],
    native: Make,
    assert_same: Callable[..., None],
) -> None:
    options = BeamOptions(beam=beam, n_best=beam, extra_length=9)
    one = native(model, precision).search(sources, options)
    engine = native(model, precision, threads=2)
    assert engine.search(sources, options) == one  # a batch on each
    engine.workers = 1
    assert_same(engine.search(sources, options), one, 1e-5)
    alone = [engine.search([source], options)[0] for source in sources]
    assert_same(alone, one, 1e-5)


def test_a_batch_is_forgotten(
    native: Make, odd_model: Callable[..., Transformer], sentences: Callable[..., Any]
) -> None:
    """Workers keep their memory; what stood in it does not matter."""
    model = odd_model()
    options = BeamOptions(beam=3, n_best=3, extra_length=9)
    engine, source = native(model, "int8"), sentences(model.config, [11])
    first = engine.search(source, options)
    engine.search(sentences(model.config, [40, 39, 38, 37, 1], seed=1), options)
    assert engine.search(source, options) == first
    (workers,) = engine._idle.values()
    assert len(workers) == 1
