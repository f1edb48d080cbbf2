"""The GPU engine. Most tests run on the CPU, where the same step is computed in float32, directly
or replayed from a recording; tests that need a GPU are skipped where there is none."""

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.options import BeamOptions, SearchOptions
from allyouneed.device import made_ready
from allyouneed.engine import static_cache
from allyouneed.engine.cuda import CudaTransformer
from allyouneed.engine.static_cache import Buffers, Shape, bucket
from allyouneed.errors import ModelFolderError, ShapeError
from allyouneed.model_folder.folder import open_model_folder

Models = Callable[..., Transformer]
Sentences = Callable[..., Tensor]
needs_gpu = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="torch finds no CUDA device here"
)


class Tape(TorchDispatchMode):
    """A recording that is played as a CUDA graph is: the same operations on the same memory, with
    every number as it was."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.calls.append((func, args, kwargs or {}, result))
        return result

    def replay(self) -> None:
        now: dict[int, Tensor] = {}

        def present(x: Any) -> Any:
            return now.get(id(x), x)

        for func, args, kwargs, then in self.calls:
            result = func(*tree_map(present, args), **tree_map(present, kwargs))
            now |= zip(map(id, tree_leaves(then)), tree_leaves(result), strict=True)


class Recorded(CudaTransformer):
    """Records its steps, though on a CPU."""

    def __init__(self, model: Transformer) -> None:
        super().__init__(model, "cpu")
        self.graphs = True
        self.tapes: list[Tape] = []

    def _record(self, buffers: Buffers, reach: int) -> Any:
        with Tape() as tape:
            self._step(buffers, reach)
        buffers.logits_BNV.fill_(float("nan"))
        self.tapes.append(tape)
        return tape


ENGINES = {"direct": lambda model: CudaTransformer(model, "cpu"), "recorded": Recorded}


@pytest.fixture(params=ENGINES.values(), ids=ENGINES)
def engine_class(request: pytest.FixtureRequest) -> Callable[[Transformer], CudaTransformer]:
    return request.param


def test_buckets_are_few_and_waste_little() -> None:
    assert sorted({bucket(n) for n in range(1, 100)}) == [
        1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128
    ]  # fmt: skip
    assert all(n <= bucket(n) < 1.5 * n + 1 for n in range(1, 5000))
    assert [bucket(n, 32) for n in (1, 32, 33, 49)] == [32, 32, 48, 64]


@torch.no_grad()
def test_steps_equal_the_core(
    model_of_a_kind: Transformer,
    padded_sentences: Sentences,
    engine_class: Callable[[Transformer], CudaTransformer],
) -> None:
    """Past the first bucket of positions, with hypotheses that change places."""
    source_BS = padded_sentences([7, 3, 5, 9, 4])
    engine = engine_class(model_of_a_kind)
    models = (model_of_a_kind, engine)
    caches = [model.start(model.encode(source_BS), 3, 40) for model in models]
    generator = torch.Generator().manual_seed(3)
    for _ in range(40):
        ids_BN = torch.randint(3, 280, (5, 3), generator=generator)
        core, ours = (
            model.step(ids_BN, cache) for model, cache in zip(models, caches, strict=True)
        )
        assert_close(ours, core, rtol=1e-4, atol=1e-4)
        order_BN = torch.randint(0, 3, (5, 3), generator=generator)
        for cache in caches:
            cache.select(None, order_BN)
    assert core.std() > 1
    if isinstance(engine, Recorded):
        assert len(engine.tapes) == 2  # one that looks back over 32 positions, one over 48


def check_step(
    model: Transformer, source_BS: Tensor, histories_BNT: Tensor, step_BNV: Tensor
) -> None:
    """A step's logits against the whole model over everything each hypothesis has said so far."""
    sentences, hypotheses, length = histories_BNT.shape
    whole = model(
        source_BS.repeat_interleave(hypotheses, dim=0),
        histories_BNT.view(sentences * hypotheses, length),
    )[:, -1].view(sentences, hypotheses, -1)
    assert_close(step_BNV, whole, rtol=1e-4, atol=1e-4)


@given(data=st.data())
@settings(max_examples=25, deadline=None)
@torch.no_grad()
def test_any_selection(
    data: st.DataObject, small_model: Models, padded_sentences: Sentences
) -> None:
    """Sentences leave, hypotheses change places and number, in any order and at any step."""
    model = small_model()
    engine = data.draw(st.sampled_from([*ENGINES.values()]))(model)
    batch = data.draw(st.integers(1, 9))
    source_BS = padded_sentences(
        data.draw(st.lists(st.integers(1, 6), min_size=batch, max_size=batch))
    )
    hypotheses = data.draw(st.integers(1, 3))
    cache = engine.start(engine.encode(source_BS), hypotheses, 5)
    histories_BNT = torch.full((batch, hypotheses, 1), model.config.start)
    for _ in range(4):
        check_step(model, source_BS, histories_BNT, engine.step(histories_BNT[..., -1], cache))
        kept_B = chosen_BN = None
        if data.draw(st.booleans()):
            present = st.sampled_from(range(len(source_BS)))
            kept_B = torch.tensor(data.draw(st.lists(present, min_size=1, unique=True)))
            source_BS, histories_BNT = source_BS[kept_B], histories_BNT[kept_B]
        if data.draw(st.booleans()):
            width = data.draw(st.integers(1, 3))
            column = st.integers(0, histories_BNT.size(1) - 1)
            row = st.lists(column, min_size=width, max_size=width)
            chosen_BN = torch.tensor([data.draw(row) for _ in source_BS])
            histories_BNT = histories_BNT.take_along_dim(chosen_BN[..., None], 1)
        cache.select(kept_B, chosen_BN)
        new_BN1 = torch.randint(3, 280, (*histories_BNT.shape[:2], 1))
        histories_BNT = torch.cat((histories_BNT, new_BN1), dim=-1)


def test_searches_find_what_the_core_finds(
    model_of_a_kind: Transformer,
    padded_sentences: Sentences,
    engine_class: Callable[[Transformer], CudaTransformer],
) -> None:
    source_BS = padded_sentences([7, 3, 5, 9, 1, 12, 2, 8, 30])
    engine = engine_class(model_of_a_kind)
    for options in (BeamOptions(n_best=4, max_length=40), BeamOptions(beam=1, max_length=40)):
        core = beam_search(model_of_a_kind, source_BS, options)
        ours = beam_search(engine, source_BS, options)
        assert [[h.ids for h in one] for one in ours] == [[h.ids for h in one] for one in core]
        for one, other in zip(ours, core, strict=True):
            assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-4)


def test_bundled_model_says_the_same() -> None:
    folder = open_model_folder("en-de")
    model = folder.load_model().eval()
    texts = ["Where is the station?", "Good morning!", "I have two brothers and one sister."]
    rows = folder.tokenizer.encode_ids(texts)
    longest = max(map(len, rows))
    source_BS = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    core = beam_search(model, source_BS)
    ours = beam_search(Recorded(model), source_BS)
    assert [one.ids for [one] in ours] == [one.ids for [one] in core]


NOT_IN_A_RECORDING = ("_local_scalar_dense", "nonzero", "equal", "masked_select", "unique")


def test_a_recorded_step_asks_the_device_nothing(
    model_of_a_kind: Transformer, padded_sentences: Sentences
) -> None:
    engine = Recorded(model_of_a_kind)
    greedy_search(engine, padded_sentences([5, 3]), SearchOptions(max_length=6))
    names = {func.overloadpacket.__name__ for tape in engine.tapes for func, *_ in tape.calls}
    assert "index_copy_" in names
    assert not names & {*NOT_IN_A_RECORDING}


@torch.no_grad()
def test_memory_is_used_again(small_model: Models, padded_sentences: Sentences) -> None:
    engine = Recorded(small_model())
    source_BS = padded_sentences([7, 3, 5, 9, 4, 6])
    addresses, logits = [], []
    for _ in range(3):
        cache = engine.start(engine.encode(source_BS), 2, 9)
        for _ in range(3):
            logits.append(engine.step(torch.full((6, 2), 7), cache))
            cache.select(None, torch.tensor([[1, 0]] * 6))
        cache.select(torch.arange(1), None)
        logits.append(engine.step(torch.full((1, 2), 7), cache))
        addresses.append([b.logits_BNV.data_ptr() for b in engine._pool._buffers])
        del cache
    assert [len(found) for found in addresses] == [2, 2, 2]
    assert {*addresses[0]} == {*addresses[2]}
    assert len(engine.tapes) == 2
    for first, again in zip(logits[:4], logits[8:], strict=True):
        assert torch.equal(first, again)


@torch.no_grad()
def test_two_caches_at_once_have_memory_of_their_own(
    small_model: Models, padded_sentences: Sentences
) -> None:
    model = small_model()
    engine = CudaTransformer(model, "cpu")
    sources = [padded_sentences([5, 4], seed=seed) for seed in (1, 2)]
    caches = [engine.start(engine.encode(source_BS), 1, 4) for source_BS in sources]
    for length in range(1, 4):
        histories_BNT = torch.full((2, 1, length), model.config.start)
        for source_BS, cache in zip(sources, caches, strict=True):
            logits_BNV = engine.step(histories_BNT[..., -1], cache)
            check_step(model, source_BS, histories_BNT, logits_BNV)


@torch.no_grad()
def test_nothing_is_left_of_those_before(small_model: Models, padded_sentences: Sentences) -> None:
    """NaN and infinity in used buffers, which no mask could hide."""
    model = small_model()
    engine = CudaTransformer(model, "cpu")
    source_BS = padded_sentences([5, 3, 4])
    engine.start(engine.encode(source_BS), 2, 4)
    [buffers] = engine._pool._buffers
    for layer in buffers.layers:
        layer.keys_BHTNK.fill_(float("nan"))
        layer.memory_values_BHSK.fill_(float("inf"))
    cache = engine.start(engine.encode(source_BS), 2, 4)
    assert cache.buffers is buffers
    histories_BNT = torch.full((3, 2, 1), model.config.start)
    check_step(model, source_BS, histories_BNT, engine.step(histories_BNT[..., -1], cache))


@torch.no_grad()
def test_an_order_that_stands_is_not_touched(
    small_model: Models, padded_sentences: Sentences
) -> None:
    engine = CudaTransformer(small_model(), "cpu")
    cache = engine.start(engine.encode(padded_sentences([5, 3, 4, 6])), 2, 4)
    engine.step(torch.full((4, 2), 1), cache)
    buffers, places_B = cache.buffers, cache.places_B
    with Tape() as tape:
        cache.select(None, None)
    assert not tape.calls
    cache.select(torch.tensor([2, 0, 1]), torch.tensor([[1, 0]] * 3))
    assert cache.buffers is buffers
    assert places_B[[2, 0, 1]].tolist() == cache.places_B.tolist() == [2, 0, 1]
    cache.select(torch.tensor([0, 2]), None)  # two of four places: moving would not pay
    assert cache.buffers is buffers
    assert cache.places_B.tolist() == [2, 1]
    cache.select(torch.tensor([1]), None)
    assert cache.buffers.shape == Shape(1, 2, 32, 32)
    assert buffers.owner() is None


@torch.no_grad()
def test_a_full_cache_and_ids_that_do_not_fit_are_errors(
    small_model: Models, padded_sentences: Sentences
) -> None:
    model = small_model(max_positions=7)
    engine = CudaTransformer(model, "cpu")
    memory = engine.encode(padded_sentences([4, 6]))
    cache = engine.start(memory, 3, 2)
    with pytest.raises(ShapeError, match=r"2 sentences × 3 hypotheses, not \(3, 2\)"):
        engine.step(torch.ones(3, 2, dtype=torch.long), cache)
    for _ in range(2):
        engine.step(torch.ones(2, 3, dtype=torch.long), cache)
    with pytest.raises(ShapeError, match="the cache was made for 2 steps and is full"):
        engine.step(torch.ones(2, 3, dtype=torch.long), cache)
    cache = engine.start(memory, 1, 50)
    for _ in range(7):
        engine.step(torch.ones(2, 1, dtype=torch.long), cache)
    with pytest.raises(ShapeError, match="the cache was made for 7 steps and is full"):
        engine.step(torch.ones(2, 1, dtype=torch.long), cache)


def test_weights_that_are_not_finite_are_refused(small_model: Models) -> None:
    model = small_model()
    with torch.no_grad():
        model.output.weight[5] = float("inf")
    with pytest.raises(ModelFolderError, match=r"tokens.weight holds NaN or infinity \(16 of"):
        CudaTransformer(model, "cpu")


def test_short_memory_is_the_callers_and_frees_what_is_idle(
    small_model: Models, padded_sentences: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = CudaTransformer(small_model(), "cpu")
    memory = engine.encode(padded_sentences([4, 6]))
    in_use = engine.start(memory, 2, 4)
    engine.start(memory, 3, 4)
    assert len(engine._pool._buffers) == 2

    def too_many(*_: object) -> Buffers:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with monkeypatch.context() as short:
        short.setattr(static_cache, "Buffers", too_many)
        with pytest.raises(torch.OutOfMemoryError, match=r"^CUDA out of memory$"):
            engine.start(memory, 4, 4)
    assert not engine._pool._buffers
    engine.step(torch.ones(2, 2, dtype=torch.long), in_use)
    with monkeypatch.context() as short:
        short.setattr(engine, "_step", too_many)
        engine.start(memory, 3, 4)
        with pytest.raises(torch.OutOfMemoryError):
            engine.step(torch.ones(2, 2, dtype=torch.long), in_use)
    assert not engine._pool._buffers


def test_idle_memory_makes_room_before_the_caller_is_asked(
    small_model: Models, padded_sentences: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = CudaTransformer(small_model(), "cpu")
    memory = engine.encode(padded_sentences([4, 6]))
    engine.start(memory, 3, 4)

    def room_for_one(*arguments: Any) -> Buffers:
        if engine._pool._buffers:
            raise torch.OutOfMemoryError
        return Buffers(*arguments)

    monkeypatch.setattr(static_cache, "Buffers", room_for_one)
    assert engine.start(memory, 4, 4).buffers.shape.hypotheses == 4


def test_only_so_many_buffers_are_kept(
    small_model: Models, padded_sentences: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_cache, "MOST_BUFFERS", 3)
    engine = CudaTransformer(small_model(), "cpu")
    memory = engine.encode(padded_sentences([4]))
    for hypotheses in (1, 2, 3, 1, 4):
        engine.start(memory, hypotheses, 4)
    assert [b.shape.hypotheses for b in engine._pool._buffers] == [3, 1, 4]


def test_attention_by_cudnn_is_switched_off_for_gpus_only() -> None:
    before = torch.backends.cuda.cudnn_sdp_enabled()
    try:
        torch.backends.cuda.enable_cudnn_sdp(True)
        made_ready(torch.device("cpu"))
        assert torch.backends.cuda.cudnn_sdp_enabled()
        made_ready(torch.device("cuda"))
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


@pytest.fixture(scope="module")
def on_gpu() -> tuple[Transformer, CudaTransformer]:
    model = open_model_folder("en-de").load_model().eval()
    return model.to("cuda"), CudaTransformer(model, "cuda")


@needs_gpu
def test_graph_equals_eager_on_the_gpu(
    on_gpu: tuple[Transformer, CudaTransformer], padded_sentences: Sentences
) -> None:
    """Across buckets of positions and of sentences; the core in float32 for comparison."""
    model, recorded = on_gpu
    eager = CudaTransformer(model, "cuda")
    eager.graphs = False
    source_BS = padded_sentences([7, 3, 5, 9, 4]).cuda()
    models = (model, recorded, eager)
    with torch.inference_mode():
        caches = [m.start(m.encode(source_BS), 3, 50) for m in models]
        generator = torch.Generator().manual_seed(3)
        for length in range(50):
            sentences = 5 if length < 40 else 2
            ids_BN = torch.randint(3, 280, (sentences, 3), generator=generator).cuda()
            core, ours, plain = (m.step(ids_BN, c) for m, c in zip(models, caches, strict=True))
            assert_close(ours, plain, rtol=0.02, atol=0.1)
            assert (ours - core).square().mean().sqrt() < 0.1 * core.std()
            kept_B = torch.tensor([3, 1]).cuda() if length == 39 else None
            order_BN = torch.randint(0, 3, (2 if length >= 39 else 5, 3), generator=generator)
            for cache in caches:
                cache.select(kept_B, order_BN.cuda())


@needs_gpu
def test_memory_on_the_gpu_does_not_grow(
    on_gpu: tuple[Transformer, CudaTransformer], padded_sentences: Sentences
) -> None:
    _, engine = on_gpu
    source_BS = padded_sentences([7, 3, 5, 9, 4, 20, 11]).cuda()
    used = []
    for _ in range(4):
        beam_search(engine, source_BS)
        gc.collect()
        torch.cuda.synchronize()
        used.append(torch.cuda.memory_allocated())
    assert used[1] == used[2] == used[3]


@needs_gpu
def test_translations_on_the_gpu_are_the_cores(
    on_gpu: tuple[Transformer, CudaTransformer],
) -> None:
    model, engine = on_gpu
    tokenizer = open_model_folder("en-de").tokenizer
    texts = ["Where is the station?", "Good morning!", "My sister lives in Berlin."]
    for text in texts:
        source_BS = torch.tensor([tokenizer.encode(text).ids]).cuda()
        [[core]], [[ours]] = beam_search(model, source_BS), beam_search(engine, source_BS)
        assert ours.ids == core.ids
