"""Work in stages, each in a thread of its own, so that one stage need not wait for another."""

import os
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

THREADS = "allyouneed stage"
PARTING = 0.2  # seconds that a thread may take to end when its results are no longer needed

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _End:
    """Marks the end of the items; holds the error that ended them, if any."""

    error: BaseException | None = None


def ahead(items: Iterable[Item], room: int = 1) -> Generator[Item, None, None]:
    """The items in their order, made by a thread of their own, at most `room` + 1 ahead.

    An error comes after the items that were made before it. The thread begins when the first item
    is asked for. When this iterator is closed, it makes no more than the item it is at.
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
        except BaseException as error:  # whatever it is, it is raised where the items are used
            end = _End(error)
        finally:
            if hasattr(source, "close"):  # stages before this one end too
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
    """Whether a stage whose items are no longer needed is still running or waits for input."""
    return any(thread.name == THREADS for thread in threading.enumerate())


def processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
