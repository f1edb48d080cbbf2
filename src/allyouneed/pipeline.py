"""Pipelines: each stage of the work runs in a thread of its own, at the same time as the others."""

import os
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

THREADS = "allyouneed stage"
PARTING = 0.2  # seconds to wait for a thread to end when its items are no longer needed

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the items, with the error that ended them, if any."""

    error: BaseException | None = None


def ahead(items: Iterable[Item], room: int = 1) -> Generator[Item, None, None]:
    """Yields the items in order. A thread of their own produces them, at most `room` + 1 ahead.

    The thread starts when the first item is requested. An error of `items` is raised after the
    items before it. When this iterator is closed, the thread ends after its present item.
    """
    ready: SimpleQueue[tuple[Item] | _End] = SimpleQueue()
    free, left = threading.Semaphore(room), threading.Event()

    def work() -> None:
        end = _End()
        source = iter(items)
        try:
            for item in source:
                free.acquire()
                if left.is_set():
                    break
                ready.put((item,))
        except BaseException as error:  # raised again where the items are used
            end = _End(error)
        finally:
            if hasattr(source, "close"):  # ends the stages before this one
                source.close()
            ready.put(end)

    thread = threading.Thread(target=work, name=THREADS, daemon=True)
    thread.start()
    try:
        while not isinstance(got := ready.get(), _End):
            free.release()
            yield got[0]
        thread.join()
        if got.error is not None:
            raise got.error
    finally:
        left.set()
        free.release()
        thread.join(PARTING)


def at_work() -> bool:
    """Whether the thread of any stage is still running."""
    return any(thread.name == THREADS for thread in threading.enumerate())


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
