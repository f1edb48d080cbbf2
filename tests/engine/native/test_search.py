"""float32: the native search finds what `decoding.beam_search` finds with the core model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.length_penalty import Average, NoPenalty, Wu
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.engine.torch_engine import core_engine
from allyouneed.errors import UsageError

MakeModel = Callable[..., Transformer]
MakeEngine = Callable[..., NativeEngine]


@dataclass(frozen=True)
class Squared:
    """A length penalty of the user's own."""

    def __call__(self, length: float) -> float:
        return length**2.0


LENGTHS = [9, 1, 23, 14, 2, 9, 40, 3]


@pytest.mark.parametrize("beam", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    "told",
    [
        {},
        {"stop": "exact"},
        {"length_penalty": Wu(2.0)},
        {"length_penalty": Wu(2.0), "stop": "exact"},
        {"length_penalty": Average(), "stop": "exact"},
        {"length_penalty": NoPenalty()},
        {"min_length": 0},
        {"min_length": 9},
        {"max_length": 4},
        {"max_length": 2, "min_length": 1},
        {"extra_length": 1},
        {"max_length_factor": 1.2},
        {"length_penalty": Squared()},
        {"no_repeat_ngram": 1},
        {"no_repeat_ngram": 2},
        {"no_repeat_ngram": 3, "loop_guard": False},
    ],
    ids=str,
)
def test_options(
    beam: int,
    told: dict[str, Any],
    odd_model: MakeModel,
    native: MakeEngine,
    sentences: Callable[..., Any],
    searched_in_python: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    model = odd_model()
    options = BeamOptions(**{"beam": beam, "n_best": beam, "extra_length": 10, **told})
    sources = sentences(model.config, LENGTHS, seed=beam)
    found = native(model).search(sources, options)
    assert_same(found, searched_in_python(model, sources, options))
    assert len({hypotheses[0].ids for hypotheses in found}) > 1


@pytest.mark.parametrize(
    "shape",
    [
        {"start": 2},  # begins with the end, which is produced nevertheless
        {"pad": 9, "start": 46, "end": 0},
        {"vocabulary": 4},  # fewer words than hypotheses
        {"vocabulary": 3, "pad": 0, "start": 0},
        {"vocabulary": 1100, "end": 1030},
        {"decoder_layers": 0},
        {"decoder": "ssru", "vocabulary": 1100, "end": 1030},
    ],
    ids=str,
)
def test_vocabularies(
    shape: dict[str, Any],
    odd_model: MakeModel,
    native: MakeEngine,
    sentences: Callable[..., Any],
    searched_in_python: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    model = odd_model(**shape)
    sources = sentences(model.config, LENGTHS)
    options = BeamOptions(beam=4, n_best=4, extra_length=6, no_repeat_ngram=2)
    assert_same(native(model).search(sources, options), searched_in_python(model, sources, options))


def test_loops(
    odd_model: MakeModel,
    native: MakeEngine,
    searched_in_python: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    """A model that repeats itself is stopped, later where its source repeats itself too."""
    model = odd_model(end=-20.0, shared_embeddings="all")
    sources = [
        [5, 6, 7, 8, 2],
        [9, 9, 9, 9, 9, 9, 9, 2],
        [*[11, 12] * 5, 2],
        [*[13, 14, 15, 16, 17, 18, 19, 20] * 4, 2],
    ]
    for beam in (1, 3):
        guarded, unguarded = (
            BeamOptions(beam=beam, n_best=beam, extra_length=24, loop_guard=guard)
            for guard in (True, False)
        )
        engine = native(model)
        found = engine.search(sources, guarded)
        assert_same(found, searched_in_python(model, sources, guarded))
        endless = engine.search(sources, unguarded)
        assert_same(endless, searched_in_python(model, sources, unguarded))
        assert found != endless


def test_prefixes(
    odd_model: MakeModel,
    native: MakeEngine,
    sentences: Callable[..., Any],
    searched_in_python: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    """Of different lengths, among them none and one that nothing else would let through."""
    model = odd_model()
    sources = sentences(model.config, LENGTHS)
    prefixes = [[], [7], [8, 8, 8, 8, 8, 8, 8], [9, 10], [], [12, 11, 12, 11, 12], [5], [44] * 5]
    for beam in (1, 4):
        options = BeamOptions(
            beam=beam, n_best=beam, extra_length=12, no_repeat_ngram=2, min_length=4
        )
        found = native(model).search(sources, options, prefixes)
        assert_same(found, searched_in_python(model, sources, options, prefixes))
        for prefix, hypotheses in zip(prefixes, found, strict=True):
            assert all(list(h.ids[: len(prefix)]) == prefix for h in hypotheses)


def test_prefixes_that_do_not_fit(odd_model: MakeModel, native: MakeEngine) -> None:
    engine = native(odd_model())
    for prefixes, why in (
        ([[5]], "1 prefixes for 2 sentences"),
        ([[5], [2]], "id 2 cannot be forced"),
        ([[5], [47]], "id 47 cannot be forced"),
        ([[5], [5] * 9], "a prefix of 9 tokens leaves no room below the limit of 8"),
    ):
        with pytest.raises(UsageError, match=why):
            engine.search([[5, 2], [6, 7, 2]], BeamOptions(max_length=8), prefixes)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_options_and_sentences(
    data: st.DataObject,
    odd_model: MakeModel,
    native: MakeEngine,
    sentences: Callable[..., Any],
    searched_in_python: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    model = odd_model(end=data.draw(st.sampled_from([0.0, 2.0, 4.0])))
    lengths = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=7))
    sources = sentences(model.config, lengths, seed=data.draw(st.integers(0, 99)))
    beam, min_length = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 5))
    options = BeamOptions(
        beam=beam,
        n_best=data.draw(st.integers(1, beam)),
        min_length=min_length,
        max_length=data.draw(st.none() | st.integers(min_length + 1, 12)),
        extra_length=data.draw(st.integers(1, 8)),
        no_repeat_ngram=data.draw(st.integers(0, 3)),
        loop_guard=data.draw(st.booleans()),
        length_penalty=data.draw(st.sampled_from([Wu(0.6), Wu(0.0), Wu(1.5), Average()])),
        stop=data.draw(st.sampled_from(["common", "exact", "first"])),
    )
    engine = native(model)
    engine.batch_hypotheses = data.draw(st.integers(1, 12))
    engine.batch_tokens = data.draw(st.integers(1, 60))
    found = engine.search(sources, options)
    assert_same(found, searched_in_python(model, sources, options))


def test_more_rows_than_go_through_a_layer_together(
    odd_model: MakeModel,
    native: MakeEngine,
    sentences: Callable[..., Any],
    searched_in_python: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    """128 do, which 3 does not divide: hypotheses of one sentence are on both sides."""
    model = odd_model()
    sources = sentences(model.config, [1 + n % 19 for n in range(60)])
    options = BeamOptions(beam=3, n_best=3, extra_length=4)
    engine = native(model)
    assert len(engine._batches([len(source) for source in sources], 3)) == 1
    assert_same(engine.search(sources, options), searched_in_python(model, sources, options))


def test_no_sentence_at_all(odd_model: MakeModel, native: MakeEngine) -> None:
    for threads in (1, 2):
        assert native(odd_model(), threads=threads).search([], BeamOptions()) == []


def test_samples_are_the_cores(
    odd_model: MakeModel, native: MakeEngine, sentences: Callable[..., Any]
) -> None:
    """They are drawn in Python from the native engine's probabilities."""
    model = odd_model()
    sources = sentences(model.config, [4, 9, 2])
    options = SamplingOptions(samples=4, top_k=10, seed=3, max_length=9)
    found, wanted = (e.search(sources, options) for e in (native(model), core_engine(model)))
    assert [[h.ids for h in row] for row in found] == [[h.ids for h in row] for row in wanted]


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("vocabulary", [1400, 2000])
def test_selections_of_distant_ids(
    vocabulary: int, precision: Any, odd_model: MakeModel, native: MakeEngine
) -> None:
    """Sentences that need no id in common, each far more than are looked at together: their
    neighbours' ids change not a bit. Of 1400 words both together need so many that the whole output
    layer is computed, of 2000 words a part of it; a sentence alone needs a part."""
    model = odd_model(vocabulary=vocabulary)
    chosen = {5: torch.arange(2, 600).numpy(), 6: torch.arange(600, 1300).numpy()}

    class Selection:
        def rows(self, sources: Any, prefixes: Any) -> Any:
            return [chosen[source[0]] for source in sources]

    sources, options = [[5, 7, 8, 2], [6, 9, 10, 2]], BeamOptions(beam=3, max_length=7)
    for threads in (1, 2):
        engine = native(model, precision, threads=threads)
        engine.workers, engine.selection = 1, Selection()
        together = engine.search(sources, options)
        assert [engine.search([source], options)[0] for source in sources] == together
        for source, (best,) in zip(sources, together, strict=True):
            assert {*best.ids} <= {*chosen[source[0]].tolist()}


def test_a_selection_is_that_of_the_core(
    odd_model: MakeModel,
    native: MakeEngine,
    sentences: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    """Of 700 words each sentence may use some 70; their ids come in any order, some twice."""
    model = odd_model(vocabulary=700)
    sources = sentences(model.config, LENGTHS)

    class Selection:
        def rows(self, sources: Any, prefixes: Any = None) -> Any:
            draws = [np.random.default_rng(sum(source)) for source in sources]
            return [np.append(draw.integers(3, 700, 70), model.config.end) for draw in draws]

    options = BeamOptions(beam=4, n_best=4, extra_length=9)
    plain, engine = core_engine(model), native(model)
    plain.selection = engine.selection = Selection()  # type: ignore[assignment]
    assert_same(engine.search(sources, options), plain.search(sources, options))
