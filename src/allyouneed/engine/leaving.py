"""A search that another thread can end, because nobody needs its result any more."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

_LEFT: ContextVar[Event | None] = ContextVar("left", default=None)


@contextmanager
def ended_by(left: Event) -> Iterator[None]:
    """Searches that this thread begins within the block end within a step once `left` is set.

    Such a search returns no hypotheses for the sentences that it has not finished. The compiled
    engine looks at `left`; other engines finish their searches.
    """
    token = _LEFT.set(left)
    try:
        yield
    finally:
        _LEFT.reset(token)


def left_here() -> Event:
    """What ends the search that begins here: the event of `ended_by`, or a new one."""
    return _LEFT.get() or Event()
