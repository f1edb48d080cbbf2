"""The native engine at its limits: what does not fit, what fails, who else is there."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.terms import WantedTerms
from allyouneed.engine.leaving import ended_by
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.engine.native.worker import Worker
from allyouneed.errors import AllYouNeedError, ShapeError
from allyouneed.model_folder.folder import ModelFolder, open_model_folder
from allyouneed.pipeline import processors

OPTIONS = BeamOptions(beam=3, n_best=3, extra_length=6)
Make = Callable[..., NativeEngine]


@pytest.fixture
def engine(odd_model: Callable[..., Transformer], native: Make) -> NativeEngine:
    """One thread, so that batches come one after the other."""
    return native(odd_model())


@pytest.fixture
def sources(engine: NativeEngine, sentences: Callable[..., Any]) -> list[list[int]]:
    return sentences(engine.config, [1 + n % 11 for n in range(24)])


def search_at_most(most: int, begun: list[int]) -> Callable[..., Any]:
    """`Worker.search` with memory for so many sentences; `begun` tells the sizes of batches."""
    search = Worker.search

    def limited(self: Worker, sources: Any, *more: Any) -> Any:
        begun.append(len(sources))
        if len(sources) > most:
            raise MemoryError
        return search(self, sources, *more)

    return limited


def test_a_worker_that_could_not_begin_anew_is_not_kept(
    engine: NativeEngine, sources: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = engine.search(sources, OPTIONS)

    def no_memory(self: Worker) -> None:
        self._free()
        raise AllYouNeedError("1 threads cannot be started")

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "search", search_at_most(0, []))
        patch.setattr(Worker, "begin_anew", no_memory)
        with pytest.raises(AllYouNeedError, match="cannot be started"):
            engine.search(sources, OPTIONS)
    assert engine.search(sources, OPTIONS) == wanted


def test_few_workers_wait_for_the_next_search(
    odd_model: Callable[..., Transformer], native: Make, sentences: Callable[..., Any]
) -> None:
    engine = native(odd_model())
    engine.threads = 6
    for count in (1, 2, 3, 4, 5, 6, 2, 1):
        engine.search(sentences(engine.config, [4] * count), OPTIONS)
    idle = {threads: len(workers) for (_, threads), workers in engine._idle.items()}
    assert len(idle) <= 3
    assert all(count * threads <= 6 for threads, count in idle.items())


def test_batches_halve_where_memory_is_short(
    engine: NativeEngine, sources: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = engine.search(sources, OPTIONS)
    begun: list[int] = []
    monkeypatch.setattr(Worker, "search", search_at_most(7, begun))
    notes: Counter[str] = Counter()
    assert engine.search(sources, OPTIONS, note=lambda _, text: notes.update([text])) == wanted
    assert begun == [24, 12, 6, 6, 12, 6, 6]
    told = "memory ran short for a batch of {} sentences; it was split in halves"
    assert notes == {told.format(n): 24 for n in (24, 12)}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_sentence_that_does_not_fit_by_itself(
    threads: int,
    engine: NativeEngine,
    sources: list[list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine.threads = threads
    monkeypatch.setattr(Worker, "search", search_at_most(0, []))
    with pytest.raises(AllYouNeedError, match="sentence alone does not fit into memory; translate"):
        engine.search(sources, OPTIONS)
    monkeypatch.undo()
    assert all(engine.search(sources, OPTIONS))


SHORT_OF_MEMORY = """
import resource, sys
from pathlib import Path
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.model_folder.folder import open_model_folder

engine = NativeEngine.open(open_model_folder(Path(sys.argv[1])), "float32", threads=2)
options = BeamOptions(beam=2, max_length=3)
sources = [[5 + n % 7] * 59 + [2] for n in range(1000)]
few = engine.search(sources[:7], options)
engine.search(sources[:1], options)
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20),) * 2)
engine.batch_tokens, engine.batch_hypotheses, engine.workers = 10**9, 10**9, 1
notes = []
found = engine.search(sources, options, note=lambda n, text: notes.append(text))
print(notes[0])
print([hypotheses[0].ids for hypotheses in found[:7]] == [h[0].ids for h in few])
print(len(found), all(found))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux for the memory used")
@pytest.mark.usefixtures("library")
def test_memory_that_is_short_indeed(model_folder: Path) -> None:
    note, same, found = run_python(SHORT_OF_MEMORY, str(model_folder)).splitlines()
    assert note == "memory ran short for a batch of 1000 sentences; it was split in halves"
    assert same == "True", "the first sentences have other translations than alone"
    assert found == "1000 True", "a sentence has no translation"


def run_python(script: str, *arguments: str) -> str:
    """What a Python of its own, with neither torch nor pytest in it, prints for this script."""
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_weights_with_nan_are_refused_by_folder_and_name(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, library: object
) -> None:
    folder = open_model_folder(model_folder)
    arrays = {name: array.copy() for name, array in folder.load_arrays().items()}
    arrays["decoder.layers.0.self_attention.W_V.weight"][3, 5] = np.nan
    monkeypatch.setattr(ModelFolder, "load_arrays", lambda self: arrays)
    with pytest.raises(AllYouNeedError) as error:
        NativeEngine.open(folder)
    assert str(error.value) == (
        f"{model_folder}: the weights cannot be packed: "
        "decoder.layers.0.self_attention.W_V.weight holds NaN or infinity"
    )


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("beam", [1, 3])
def test_weights_that_lead_to_nan(
    beam: int, precision: str, odd_model: Callable[..., Transformer], native: Make
) -> None:
    """Finite ones, but for one word their products are not; the engine is of use afterwards."""
    model = odd_model(norm="rms", residual="pre-norm", positions="none")
    with torch.no_grad():
        model.encoder.embeddings.tokens.weight[9] = 1e38
    options = BeamOptions(beam=beam, max_length=5)
    engine = native(model, precision)
    [wanted] = engine.search([[5, 6, 2]], options)
    for sources in ([[5, 9, 2]], [[5, 6, 2], [7, 9, 2]]):
        with pytest.raises(AllYouNeedError, match="log-probabilities are not finite; check its"):
            engine.search(sources, options)
    assert engine.search([[5, 6, 2]], options) == [wanted]


def test_sources_that_cannot_be(engine: NativeEngine, sources: list[list[int]]) -> None:
    wanted = engine.search(sources, OPTIONS)
    with pytest.raises(ShapeError, match=r"41 tokens do not fit into max_positions=40; split"):
        engine.search([*sources, [5] * 40 + [2]], OPTIONS)
    for source, why in (
        ([47, 2], "id 47 is not in a vocabulary of 47"),
        ([-1, 2], "id -1 is not in a vocabulary of 47"),
        ([], r"a source has 0 tokens; the model takes 1 \.\.\. 40"),
    ):
        with pytest.raises(AllYouNeedError, match=why):
            engine.search([*sources, source], OPTIONS)
    assert engine.search(sources, OPTIONS) == wanted


@pytest.mark.parametrize("threads", [1, 2])
def test_several_threads_of_python_search_at_once(
    threads: int, engine: NativeEngine, sources: list[list[int]]
) -> None:
    engine.threads = threads
    questions = [sources[n : n + 1 + n % 4] for n in range(len(sources))] * 4
    wanted = [[[h.ids for h in row] for row in engine.search(q, OPTIONS)] for q in questions]
    gate = threading.Barrier(4)

    def ask(question: list[list[int]]) -> list[list[tuple[int, ...]]]:
        return [[h.ids for h in row] for row in engine.search(question, OPTIONS)]

    with ThreadPoolExecutor(4, initializer=gate.wait) as pool:
        assert list(pool.map(ask, questions)) == wanted
    assert sum(map(len, engine._idle.values())) <= 4 * 3  # workers are used again


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_begins_no_further_batch(
    threads: int,
    engine: NativeEngine,
    sources: list[list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine.threads, engine.batch_tokens = threads, 1
    wanted = engine.search(sources, OPTIONS)
    begun: list[int] = []
    search = Worker.search

    def failing(self: Worker, given: Any, *more: Any) -> Any:
        begun.append(len(given))
        if len(begun) == 3:
            raise AllYouNeedError("no more")
        return search(self, given, *more)

    monkeypatch.setattr(Worker, "search", failing)
    with pytest.raises(AllYouNeedError, match="no more"):
        engine.search(sources, OPTIONS)
    assert len(begun) <= 2 + threads
    monkeypatch.undo()
    assert engine.search(sources, OPTIONS) == wanted


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt(
    threads: int,
    engine: NativeEngine,
    sources: list[list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Control-C ends the search after the batches that have begun, and the engine goes on."""
    engine.threads, engine.batch_tokens = threads, 1
    wanted = engine.search(sources, OPTIONS)
    begun: list[int] = []
    search = Worker.search

    def interrupted(self: Worker, given: Any, *more: Any) -> Any:
        begun.append(len(given))
        if len(begun) == 1:
            _thread.interrupt_main()
        time.sleep(0.1)
        return search(self, given, *more)

    monkeypatch.setattr(Worker, "search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.search(sources, OPTIONS)
    assert len(begun) < 10
    monkeypatch.undo()
    assert engine.search(sources, OPTIONS) == wanted


@pytest.mark.parametrize("precision", ["int8", "float32"])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_a_search_between_two_steps(
    threads: int,
    precision: str,
    odd_model: Callable[..., Transformer],
    native: Make,
    sentences: Callable[..., Any],
) -> None:
    """A sentence for each thread: one is searched in the main thread, two are in others."""
    engine = native(odd_model(end=-1e9, max_positions=600), precision, threads)
    engine.batch_tokens = 1
    short = BeamOptions(beam=20, max_length=20, loop_guard=False)
    long = replace(short, max_length=600)
    sources = sentences(engine.config, [9] * threads)
    wanted = engine.search(sources, short)
    began = time.monotonic()
    engine.search(sources, long)
    whole = time.monotonic() - began
    main = threading.main_thread().ident
    threading.Timer(whole / 10, signal.pthread_kill, (main, signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        engine.search(sources, long)
    assert time.monotonic() - began < whole / 2
    assert engine.search(sources, short) == wanted


def test_a_search_that_another_thread_ends(
    odd_model: Callable[..., Transformer], native: Make, sentences: Callable[..., Any]
) -> None:
    engine = native(odd_model(end=-1e9, max_positions=600))
    long = BeamOptions(beam=20, max_length=600, loop_guard=False)
    sources = sentences(engine.config, [9])
    began = time.monotonic()
    wanted = engine.search(sources, long)
    whole = time.monotonic() - began
    left = threading.Event()
    threading.Timer(whole / 10, left.set).start()
    began = time.monotonic()
    with ended_by(left):
        assert engine.search(sources, long) == [[]]
    assert time.monotonic() - began < whole / 2
    assert engine.search(sources, long) == wanted


@pytest.mark.parametrize("terms", [False, True])
def test_a_sentence_that_leaves_a_running_batch(
    terms: bool, odd_model: Callable[..., Transformer], native: Make, sentences: Callable[..., Any]
) -> None:
    engine = native(odd_model(end=-1e9, max_positions=1000))
    engine.batch_tokens = 25  # two batches
    long = BeamOptions(beam=8, max_length=1000, loop_guard=False)
    sources = sentences(engine.config, [9, 9, 9])
    wanted = WantedTerms([()] * 3, bytes(engine.config.vocabulary)) if terms else None
    whole = engine.search(sources, long, terms=wanted)
    asked: list[int] = []

    def is_gone(number: int) -> bool:
        asked.append(number)
        return number == 1

    with ended_by(threading.Event(), is_gone):
        found = engine.search(sources, long, terms=wanted)
    assert set(asked) == {0, 1, 2}
    assert (found[0], found[2]) == (whole[0], whole[2])
    assert 0 < len(found[1][0].ids) < len(whole[1][0].ids) / 2


FORKED = """
import os, signal, sys
from pathlib import Path
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.model_folder.folder import open_model_folder

engine = NativeEngine.open(open_model_folder(Path(sys.argv[1])), "int8", threads=2)
found = engine.search([[5, 6, 2]], BeamOptions())
child = os.fork()
if not child:
    signal.alarm(20)
    same = engine.search([[5, 6, 2]], BeamOptions()) == found
    del engine
    os._exit(0 if same else 1)
_, status = os.waitpid(child, 0)
print(status, engine.search([[5, 6, 2]], BeamOptions()) == found)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
@pytest.mark.usefixtures("library")
def test_a_forked_process_searches_with_threads_of_its_own(model_folder: Path) -> None:
    status_of_child, same_in_parent = run_python(FORKED, str(model_folder)).split()
    assert status_of_child == "0", "the child found another result, or was ended after 20 s"
    assert same_in_parent == "True"


ONE_PROCESSOR = """
import os, sys, time
from pathlib import Path
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.pipeline import processors
from allyouneed.model_folder.folder import open_model_folder

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
assert processors() == 1
folder = open_model_folder(Path(sys.argv[1]))
options = BeamOptions(max_length=40, min_length=38)

def seconds(engine):
    begin = time.perf_counter()
    for _ in range(3):
        engine.search([[5, 6, 7, 2]], options)
    return time.perf_counter() - begin

engines = [NativeEngine.open(folder, "int8", threads) for threads in (1, 2, 4)]
alone, *teams = (min(seconds(engine) for _ in range(5)) for engine in engines)
print(*(team / alone for team in teams))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="asks for one processor")
@pytest.mark.usefixtures("library")
def test_threads_that_share_a_processor_do_not_wait_for_each_other(model_folder: Path) -> None:
    """One that spins until another has done its share, on the processor that the other needs,
    would make a team some fifty times as slow as one thread."""
    two, four = map(float, run_python(ONE_PROCESSOR, str(model_folder)).split())
    assert two < 6
    assert four < 10


SHORT_OF_THREADS = """
import resource, sys
from pathlib import Path
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.choice import choose
from allyouneed.model_folder.folder import open_model_folder

folder = open_model_folder(Path(sys.argv[1]))
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + 2**30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
chosen = choose("cpu-int8", folder, threads=1000)
engine = chosen.engine
assert engine.description.endswith(f", {engine.threads} threads")
engine.search([[5, 6, 2]], BeamOptions(beam=2))
[[worker]] = engine._idle.values()
print(engine.threads, worker.threads, *chosen.notes, sep=";")
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits the address space")
@pytest.mark.usefixtures("library")
def test_the_threads_that_run_are_told_where_memory_for_more_is_short(model_folder: Path) -> None:
    reported, run, note = run_python(SHORT_OF_THREADS, str(model_folder)).rstrip().split(";", 2)
    assert reported == run
    assert 1 <= int(run) < 1000
    assert note == (
        f"only {run} of 1000 threads run, because memory is short; free some, or use fewer threads"
    )


@pytest.mark.parametrize("most", [0, 2])
def test_batches_are_searched_by_the_threads_that_python_can_start(
    most: int, engine: NativeEngine, sources: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = engine.search(sources, OPTIONS)
    engine.threads, engine.batch_tokens = 5, 1
    begin, begun = threading.Thread.start, []

    def start(thread: threading.Thread) -> None:
        if len(begun) == most:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    assert engine.search(sources, OPTIONS) == wanted
    assert len(begun) <= most


def test_as_many_threads_as_processors(model_folder: Path, library: object) -> None:
    folder = open_model_folder(model_folder)
    assert NativeEngine.open(folder).threads == processors() >= 1
    assert NativeEngine.open(folder, threads=3).description.endswith(", 3 threads")
    assert NativeEngine.open(folder, threads=1).description.endswith(", 1 thread")
