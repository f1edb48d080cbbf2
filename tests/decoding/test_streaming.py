from collections.abc import Callable

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.options import BeamOptions, SamplingOptions, check_streamable
from allyouneed.decoding.sampling import sample
from allyouneed.decoding.streaming import stream_ids
from allyouneed.errors import AllYouNeedError, UsageError

SOURCES = [[5, 6, 7, 2], [9, 2], [30, 31, 32, 33, 34, 35, 36, 2]]


def streamed(model: Transformer, source: list[int], *wishes: object) -> list[int]:
    return list(stream_ids(model, torch.tensor([source]), *wishes))


@pytest.mark.parametrize("prefix", [[], [40, 41]])
@pytest.mark.parametrize("max_length", [4, None])
def test_a_beam_of_one_streams_what_it_finds(
    prefix: list[int], max_length: int | None, small_model: Callable[..., Transformer]
) -> None:
    model, options = small_model(), BeamOptions(beam=1, max_length=max_length)
    for source in SOURCES:
        [[found]] = beam_search(model, torch.tensor([source]), options, [prefix])
        assert streamed(model, source, options, prefix) == list(found.ids)


def test_a_sample_streams_what_is_drawn(small_model: Callable[..., Transformer]) -> None:
    model, options = small_model(), SamplingOptions(seed=3, max_length=9, top_p=0.9)
    for number, source in enumerate(SOURCES, start=7):
        [[found]] = sample(model, torch.tensor([source]), options, None, [number])
        assert streamed(model, source, options, (), number) == list(found.ids)
        assert streamed(model, source, options, (), number + 1) != list(found.ids)


def test_tokens_come_one_by_one(small_model: Callable[..., Transformer]) -> None:
    model, steps = small_model(), 0
    step = model.step

    def count(*arguments: object) -> torch.Tensor:
        nonlocal steps
        steps += 1
        return step(*arguments)

    model.step = count  # type: ignore[method-assign]
    ids = stream_ids(model, torch.tensor([SOURCES[0]]), BeamOptions(beam=1, min_length=4))
    for number in (1, 2, 3):
        next(ids)
        assert steps == number


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (BeamOptions(), "beam=4 .*use beam=1, or sample"),
        (BeamOptions(beam=1, stop="exact"), "stop='exact'"),
        (SamplingOptions(samples=2), "samples=2 .*use samples=1"),
    ],
)
def test_what_cannot_be_streamed(options: BeamOptions | SamplingOptions, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_streamable(options)


def test_a_model_with_nan_is_reported(small_model: Callable[..., Transformer]) -> None:
    model = small_model()
    with torch.no_grad():
        model.output.weight.fill_(float("nan"))
    with pytest.raises(AllYouNeedError, match="not finite"):
        streamed(model, SOURCES[0], BeamOptions(beam=1))
