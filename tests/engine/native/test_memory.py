"""What a search leaves behind: nothing that Python has to look for, and workers for later ones."""

import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest

from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native import engine as engine_module
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.engine.native.worker import Worker

SOURCES = [[5, 6, 7, 2], [8, 9, 2]]


def test_a_search_leaves_no_reference_cycles(
    native: Callable[..., NativeEngine], odd_model: Callable[..., Any]
) -> None:
    """Cycles would hold the arrays of each batch until Python looks for cycles."""
    engine = native(odd_model())
    engine.search(SOURCES, BeamOptions(beam=2))
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            engine.search(SOURCES, BeamOptions(beam=2))
        left = gc.collect()
    finally:
        gc.enable()
    assert left < 20


def test_searches_at_the_same_time_leave_a_worker_for_each(
    native: Callable[..., NativeEngine],
    odd_model: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a service, whose engine has one thread and is used by a thread for each processor."""
    monkeypatch.setattr(engine_module, "processors", lambda: 2)
    engine = native(odd_model(), threads=1)
    both = threading.Barrier(2)
    made: list[Worker] = []
    search, begin = Worker.search, Worker.begin_anew

    def together(worker: Worker, *given: Any, **named: Any) -> Any:
        both.wait(30)
        found = search(worker, *given, **named)
        both.wait(30)
        return found

    def counted(worker: Worker) -> None:
        made.append(worker)
        begin(worker)

    monkeypatch.setattr(Worker, "search", together)
    monkeypatch.setattr(Worker, "begin_anew", counted)
    for _ in range(3):
        threads = [
            threading.Thread(target=engine.search, args=(SOURCES, BeamOptions(beam=2)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(made) == 2
