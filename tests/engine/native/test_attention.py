"""Cross-attention that comes out of a native search: the core model's, without a second pass."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import allyouneed
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.alignment import cross_attention_map
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.errors import UsageError

LENGTHS = [5, 1, 40, 33, 2, 32, 9]
SEARCHES = [
    BeamOptions(beam=1, extra_length=6),
    BeamOptions(beam=4, n_best=3, extra_length=6),
    BeamOptions(beam=2, extra_length=6, stop="exact"),
    SamplingOptions(samples=3, extra_length=6),
]


def apart(model: Transformer, source: list[int], found: Hypothesis, heads: AlignmentHeads) -> float:
    """The largest difference from the core's attention, teacher-forced."""
    assert found.attention_TS is not None
    assert found.attention_TS.shape == (len(found.ids), len(source))
    wanted_BTS = cross_attention_map(
        model, torch.tensor([source]), torch.tensor([found.ids]), heads
    )
    return float((torch.from_numpy(found.attention_TS) - wanted_BTS[0]).abs().max())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("options", SEARCHES, ids=str)
@pytest.mark.parametrize(
    "heads", [AlignmentHeads(), AlignmentHeads(0, (1, 4)), AlignmentHeads(-2, (3,))], ids=str
)
def test_float32_is_the_cores(
    heads: AlignmentHeads,
    options: BeamOptions | SamplingOptions,
    threads: int,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., Any],
) -> None:
    model = odd_model()
    sources = sentences(model.config, LENGTHS)
    found = native(model, threads=threads).search(sources, options, heads=heads)
    for source, hypotheses in zip(sources, found, strict=True):
        for one in hypotheses:
            assert apart(model, source, one, heads) < 1e-5


@pytest.mark.parametrize("beam", [1, 4])
def test_int8_stays_near_the_cores(
    beam: int,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., Any],
) -> None:
    """0.03 of a weight that is at most 1. With a beam of one sentence by sentence, which takes the
    road through the rough output layer."""
    model = odd_model()
    engine, heads = native(model, "int8"), AlignmentHeads()
    for source in sentences(model.config, LENGTHS):
        [[one]] = engine.search([source], BeamOptions(beam=beam, extra_length=40), heads=heads)
        assert 0 < apart(model, source, one, heads) < 0.03 or len(source) == 1


def test_nothing_is_kept_that_nobody_asked_for(
    odd_model: Callable[..., Transformer], native: Callable[..., NativeEngine]
) -> None:
    [[one]] = native(odd_model()).search([[5, 6, 2]], BeamOptions())
    assert one.attention_TS is None


@pytest.mark.parametrize("heads", [AlignmentHeads(2), AlignmentHeads(-3), AlignmentHeads(0, (5,))])
def test_heads_that_there_are_not(
    heads: AlignmentHeads,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
) -> None:
    with pytest.raises(UsageError, match=r"the decoder has layers 0 … 1|has heads 0 … 4"):
        native(odd_model()).search([[5, 2]], BeamOptions(), heads=heads)


TEXTS = ["A man rides a bike.", "The red house stands near the old bridge.", "Good morning!"]


@pytest.mark.parametrize(("engine", "same"), [("cpu-float32", 1.0), ("cpu-int8", 0.9)])
def test_alignments_are_those_of_the_core_model(
    engine: str, same: float, monkeypatch: pytest.MonkeyPatch, library: object
) -> None:
    """Nearly all pairs of words with int8, whose translations may differ a little as well."""
    core = allyouneed.load("en-de", engine="core")
    wanted = [t.alignment for t in core(TEXTS, alignments=True)]
    translator = allyouneed.load("en-de", engine=engine)
    monkeypatch.setattr(type(translator), "model", property(lambda self: pytest.fail("torch")))
    found = [t.alignment for t in translator(TEXTS, alignments=True)]
    pairs = [pair for one in wanted for pair in one or ()]
    shared = [p for a, b in zip(found, wanted, strict=True) for p in set(a or ()) & set(b or ())]
    assert len(shared) >= same * len(pairs) > 10
