"""A lock between processes that is released when its holder ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Locks the file `path` while the `with` block runs. `waiting` is called once if another
    process holds the lock.

    The system releases the lock when the process ends, so the file is never removed.
    """
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
