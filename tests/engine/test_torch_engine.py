import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import Any

import pytest
import torch
from torch import Tensor

from allyouneed.core.encoder import Memory
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.engine.torch_engine import TorchEngine, core_engine
from allyouneed.errors import AllYouNeedError

QUICK = BeamOptions(beam=2, max_length=4)
GREEDY = BeamOptions(beam=1, max_length=4)
SOURCES = [[4 + n, *range(5, 5 + n % 7), 2] for n in range(40)]

Error = Callable[[], Exception]


class Cramped:
    """A model with memory for so many source tokens at once."""

    def __init__(self, model: Transformer, tokens: int, error: Error) -> None:
        self.config, self.start, self.step = model.config, model.start, model.step
        self.model, self.tokens, self.error = model, tokens, error
        self.batches: list[tuple[int, int]] = []

    def encode(self, source_BS: Tensor) -> object:
        self.batches.append(tuple(source_BS.shape))
        if source_BS.numel() > self.tokens:
            raise self.error()
        return self.model.encode(source_BS)


def engine(model: Transformer, tokens: int, error: Error = MemoryError) -> TorchEngine:
    return TorchEngine("core", "cramped", Cramped(model, tokens, error))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError,
        lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate"),
        lambda: RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you"),
        lambda: RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate"),
    ],
)
def test_where_memory_is_short_batches_halve_and_go_on(
    error: Error, small_model: Callable[..., Transformer]
) -> None:
    model = small_model()
    expected = core_engine(model).search(SOURCES, QUICK)
    cramped = engine(model, 60, error)
    notes: dict[str, list[int]] = {}
    found = cramped.search(
        SOURCES, QUICK, note=lambda n, text: notes.setdefault(text, []).append(n)
    )
    assert [[h.ids for h in hypotheses] for hypotheses in found] == [
        [h.ids for h in hypotheses] for hypotheses in expected
    ]
    first, *_ = notes
    assert first.startswith("memory ran short for a batch of 40 sentences; batches are half")
    assert len(notes[first]) == 40
    assert len(notes) == 3, "320 tokens at once, 160, 80, 40"
    cramped.decodable.batches.clear()  # type: ignore[attr-defined]
    cramped.search(SOURCES, QUICK, note=lambda n, text: notes.setdefault(text, []).append(n))
    assert all(rows * longest <= 60 for rows, longest in cramped.decodable.batches)  # type: ignore[attr-defined]
    assert len(notes) == 3, "what was learnt is kept"


def test_one_sentence_that_does_not_fit_is_an_error(
    small_model: Callable[..., Transformer],
) -> None:
    with pytest.raises(AllYouNeedError, match=r"one sentence of 8 tokens and 2 hyp.*smaller beam"):
        engine(small_model(), 7).search(SOURCES, QUICK)


def test_other_errors_pass(small_model: Callable[..., Transformer]) -> None:
    with pytest.raises(RuntimeError, match="something else"):
        engine(small_model(), 0, lambda: RuntimeError("something else")).search(SOURCES, QUICK)


def test_results_come_in_the_order_given(small_model: Callable[..., Transformer]) -> None:
    core = core_engine(small_model())
    core.batch_tokens = 24
    found = core.search(SOURCES, QUICK, [[40 + n] for n in range(40)])
    assert [hypotheses[0].ids[0] for hypotheses in found] == list(range(40, 80))
    assert core.search([], QUICK) == []


def test_numbers_decide_about_samples(small_model: Callable[..., Transformer]) -> None:
    core, options = core_engine(small_model()), SamplingOptions(max_length=6, samples=2)
    first = core.search(SOURCES, options, None, [n % 2 for n in range(40)])
    again = core.search(SOURCES[::-1], options, None, [n % 2 for n in range(40)][::-1])[::-1]
    other = core.search(SOURCES, options)
    ids = [[[h.ids for h in hypotheses] for hypotheses in run] for run in (first, again, other)]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0][:2] == ids[2][:2]


def test_wide_searches_make_small_batches(small_model: Callable[..., Transformer]) -> None:
    roomy = engine(small_model(), 10**6)
    roomy.search([[5, 2]] * 40, BeamOptions(beam=64, max_length=2))
    assert [rows for rows, _ in roomy.decodable.batches] == [8] * 5  # type: ignore[attr-defined]


class Watched:
    """A model that sees whether two threads use it at once."""

    def __init__(self, model: Transformer) -> None:
        self.config, self.start, self.model = model.config, model.start, model
        self.inside, self.most = 0, 0

    def encode(self, source_BS: Tensor) -> Memory:
        return self.model.encode(source_BS)

    def step(self, ids_BN: Tensor, cache: Any) -> Tensor:
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.001)
        logits_BNV = self.model.step(ids_BN, cache)
        self.inside -= 1
        return logits_BNV


def test_threads_take_turns_where_an_engine_asks_for_it(
    small_model: Callable[..., Transformer],
) -> None:
    model = small_model()
    some = SOURCES[:6]
    alone = [one.ids for [one, *_] in core_engine(model).search(some, QUICK)]
    token_by_token = list(core_engine(model).stream(some[3], GREEDY))

    def used(turn: Any) -> int:
        watched = Watched(model)
        shared = TorchEngine("core", "watched", watched, turn=turn)
        with ThreadPoolExecutor(5) as threads:
            searched = [threads.submit(shared.search, some, QUICK) for _ in range(4)]
            streamed = threads.submit(lambda: list(shared.stream(some[3], GREEDY)))
        assert all([one.ids for [one, *_] in done.result()] == alone for done in searched)
        assert streamed.result() == token_by_token
        return watched.most

    assert used(RLock()) == 1
    assert used(None) > 1
