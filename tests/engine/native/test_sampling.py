"""Samples and streams of the native engine: those of the plain road, drawn in compiled code."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.engine.torch_engine import core_engine
from allyouneed.errors import UsageError

LENGTHS = [5, 1, 30, 2, 12]
DRAWS = [
    {},
    {"samples": 4, "seed": 3},
    {"samples": 2, "top_k": 5},
    {"samples": 2, "top_k": 1000},
    {"samples": 2, "top_p": 0.6},
    {"top_k": 6, "top_p": 0.7, "temperature": 1.7},
    {"temperature": 1e-3},
    {"temperature": 1e-300},
    {"min_length": 6},
    {"samples": 2, "no_repeat_ngram": 2},
    {"loop_guard": False, "max_length": 9},
]


class Halves:
    """A vocabulary selection that leaves out half of the words."""

    def rows(self, sources: Any, prefixes: Any = None) -> list[Any]:
        always = {0, 1, 2}
        return [
            np.array(sorted(always | set(range(3 + n % 2, 47, 2)) | set((prefixes or {n: ()})[n])))
            for n in range(len(sources))
        ]


@pytest.mark.parametrize("options", [SamplingOptions(**{"extra_length": 9, **d}) for d in DRAWS])
@pytest.mark.parametrize("selected", [False, True])
@pytest.mark.parametrize("forced", [False, True])
def test_samples_are_those_of_the_plain_road(
    options: SamplingOptions,
    selected: bool,
    forced: bool,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    model = odd_model(end=0.0)
    plain, engine = core_engine(model), native(model)
    if selected:
        plain.selection = engine.selection = Halves()  # type: ignore[assignment]
    sources = sentences(model.config, LENGTHS)
    prefixes = [[5, 7, 9][:n] for n in (0, 1, 2, 3, 1)] if forced else None
    numbers = [7, 1, 99, 4, 5]
    together = engine.search(sources, options, prefixes, numbers)
    if not selected:  # the rows above depend on the place in a batch
        assert_same(together, plain.search(sources, options, prefixes, numbers))
    for n, source in enumerate(sources):
        own = None if prefixes is None else [prefixes[n]]
        alone = plain.search([source], options, own, [numbers[n]])
        assert_same(engine.search([source], options, own, [numbers[n]]), alone)


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize(
    "options",
    [
        BeamOptions(beam=1, extra_length=9),
        BeamOptions(beam=1, min_length=12, no_repeat_ngram=3),
        SamplingOptions(extra_length=9),
        SamplingOptions(seed=4, top_k=9, top_p=0.9),
    ],
)
def test_a_stream_gives_what_a_search_finds(
    options: BeamOptions | SamplingOptions,
    precision: str,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., Any],
) -> None:
    model = odd_model(end=0.0)
    engine = native(model, precision)
    for n, source in enumerate(sentences(model.config, LENGTHS)):
        for prefix in ([], [5, 9]):
            [[wanted]] = engine.search([source], options, [prefix], [n])
            assert tuple(engine.stream(source, options, prefix, n)) == wanted.ids


def test_a_stream_that_nobody_reads_to_its_end(
    odd_model: Callable[..., Transformer], native: Callable[..., NativeEngine]
) -> None:
    """Other searches go on meanwhile, and the engine is whole afterwards."""
    engine = native(odd_model(end=-9.0))
    options = BeamOptions(beam=1, extra_length=20)
    [[wanted]] = engine.search([[5, 6, 7, 2]], options)
    stream = engine.stream([5, 6, 7, 2], options)
    begun = [next(stream), next(stream)]
    assert engine.search([[5, 6, 7, 2]], options) == [[wanted]]
    assert (*begun, *stream) == wanted.ids
    assert next(engine.stream([5, 6, 7, 2], options)) == wanted.ids[0]
    assert engine.search([[5, 6, 7, 2]], options) == [[wanted]]


def test_what_cannot_be_streamed(
    odd_model: Callable[..., Transformer], native: Callable[..., NativeEngine]
) -> None:
    with pytest.raises(UsageError, match="beam=4"):
        next(native(odd_model()).stream([5, 2], BeamOptions(beam=4)))
