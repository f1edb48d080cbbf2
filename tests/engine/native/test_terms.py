"""float32: the native search uses terms as `decoding.term_search` does with the core model."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.length_penalty import NoPenalty
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.decoding.terms import JOINS, LETTER_LAST, WantedTerm, WantedTerms
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.engine.torch_engine import core_engine
from allyouneed.errors import ShapeError, UsageError

MakeModel = Callable[..., Transformer]
MakeEngine = Callable[..., NativeEngine]
LENGTHS = [9, 4, 23, 14, 5, 9, 31, 6]


def drawn_terms(model: Transformer, sources: list[list[int]], seed: int) -> WantedTerms:
    """Up to four terms of a sentence, of up to three forms, for a vocabulary in which some pieces
    go on with words."""
    drawn = random.Random(seed)
    config = model.config
    words = [id for id in range(config.vocabulary) if id not in (config.pad, config.start, 2)]
    sentences = []
    for n, source in enumerate(sources):
        terms = []
        for _ in range(n % 5):
            forms = [tuple(drawn.sample(words, drawn.randint(1, 4))) for _ in range(n % 3 + 1)]
            begin = drawn.randrange(len(source))
            terms.append(WantedTerm(tuple(forms), tuple(range(begin, len(source)))[:2]))
        sentences.append(terms)
    edges = bytes(drawn.choice([LETTER_LAST] * 4 + [JOINS | LETTER_LAST, 0]) for _ in range(47))
    return WantedTerms(sentences, edges, AlignmentHeads(-1, (1, 3)))


@pytest.mark.parametrize("beam", [1, 2, 4])
@pytest.mark.parametrize(
    "told",
    [
        {},
        {"stop": "exact"},
        {"stop": "first", "length_penalty": NoPenalty()},
        {"min_length": 9},
        {"max_length": 7},
        {"no_repeat_ngram": 2},
    ],
    ids=str,
)
def test_terms_are_used_as_in_python(
    beam: int,
    told: dict[str, Any],
    odd_model: MakeModel,
    native: MakeEngine,
    sentences: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    model = odd_model()
    options = BeamOptions(**{"beam": beam, "n_best": beam, "extra_length": 20, **told})
    sources = sentences(model.config, LENGTHS, seed=beam)
    terms = drawn_terms(model, sources, beam)
    found = native(model).search(sources, options, terms=terms)
    assert_same(found, core_engine(model).search(sources, options, terms=terms))
    assert len({hypotheses[0].ids for hypotheses in found}) > 1
    plain = native(model).search(sources, options)
    assert found[0] == plain[0]  # it has no terms
    assert [one[0].ids for one in found] != [one[0].ids for one in plain]


def test_terms_with_prefixes_a_selection_threads_and_attention(
    odd_model: MakeModel, native: MakeEngine, sentences: Callable[..., Any], assert_same: Any
) -> None:
    model = odd_model()
    sources = sentences(model.config, LENGTHS, seed=7)
    terms = drawn_terms(model, sources, 7)
    prefixes = [[5, 6][: n % 3] for n in range(len(sources))]

    class Selection:
        def rows(self, sources: Any, forced: Any) -> Any:
            return [np.unique([2, *range(3, 30), *ids]) for ids in forced]

    engines = [native(model, threads=2), core_engine(model)]
    for engine in engines:
        engine.selection = Selection()
    heads = terms.heads
    options = BeamOptions(beam=4, n_best=2, extra_length=20)
    found, wanted = [
        engine.search(sources, options, prefixes, heads=heads, terms=terms) for engine in engines
    ]
    assert_same(found, wanted)
    for source, [best, *_] in zip(sources, found, strict=True):
        assert best.attention_TS.shape == (len(best.ids), len(source))


def test_terms_that_do_not_fit(odd_model: MakeModel, native: MakeEngine) -> None:
    engine = native(odd_model())
    terms = WantedTerms([[WantedTerm(((5,),), (0,))]], bytes(47))
    with pytest.raises(UsageError, match="terms need beam search"):
        engine.search([[5, 2]], SamplingOptions(), terms=terms)
    with pytest.raises(ShapeError, match="edges of 3 pieces for a vocabulary of 47"):
        engine.search([[5, 2]], BeamOptions(), terms=WantedTerms(terms.sentences, bytes(3)))
    wrong = WantedTerms(terms.sentences, terms.edges, AlignmentHeads(9))
    with pytest.raises(UsageError, match="layer 9"):
        engine.search([[5, 2]], BeamOptions(), terms=wrong)
