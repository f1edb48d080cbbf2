"""Greedy search for one sentence reads a rough copy of the output layer, which must not show."""

from collections.abc import Callable

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native.engine import NativeEngine

OPTIONS = {
    "plain": BeamOptions(beam=1, max_length=40),
    "min_length": BeamOptions(beam=1, min_length=12, max_length=40),
    "no repeat": BeamOptions(beam=1, max_length=40, no_repeat_ngram=2),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("misled", [False, True])
def test_alone_as_in_a_batch(
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., list[list[int]]],
    name: str,
    threads: int,
    misled: bool,
) -> None:
    model = odd_model(-9.0, vocabulary=331, d_model=132, max_positions=80)
    if misled:
        mislead(model)
    engine = native(model, "int8", threads)
    sources = sentences(model.config, [5, 9, 14, 3, 21, 8, 2, 17])
    engine.workers = 1
    together = engine.search(sources, OPTIONS[name])
    assert max(len(hypotheses[0].ids) for hypotheses in together) > 32  # verified more than once
    for source, batched in zip(sources, together, strict=True):
        (alone,) = engine.search([source], OPTIONS[name])
        assert alone == batched


def mislead(model: Transformer) -> None:
    """Makes one number of each state so large that it alone decides, by weights that a rough copy
    takes for smaller ones: it knows their root mean square alone."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        model.decoder.layers[-1].feed_forward_residual.norm.weight[0] *= 30
        weight = model.output.weight
        weight[:, 0] = (
            20 * weight.square().mean() ** 0.5 * torch.randn(len(weight), generator=generator)
        )


def test_a_prefix_is_kept(
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., list[list[int]]],
) -> None:
    model = odd_model()
    engine = native(model, "int8")
    engine.workers = 1
    sources = sentences(model.config, [7, 11])
    prefixes = [[9, 30, 12], [5]]
    options = BeamOptions(beam=1, max_length=12)
    together = engine.search(sources, options, prefixes)
    for source, prefix, batched in zip(sources, prefixes, together, strict=True):
        (alone,) = engine.search([source], options, [prefix])
        assert list(alone[0].ids[: len(prefix)]) == prefix
        assert alone == batched
