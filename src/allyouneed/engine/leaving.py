"""A search that another thread can end, or end for some sentences, whose results nobody needs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event


def _nobody(sentence: int) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Leaving:
    """What a running search asks between its steps, at least every 50 ms.

    Once `every` is set, the whole search ends. `is_gone` tells whether the result of the sentence
    with this number, counted from 0 in the search, is no longer needed.
    """

    every: Event = field(default_factory=Event)
    is_gone: Callable[[int], bool] = _nobody

    def of(self, numbers: "list[int]") -> "Leaving":
        """The same for a part of the search, which has the sentences of these numbers."""
        if self.is_gone is _nobody:
            return self
        return Leaving(self.every, lambda sentence: self.is_gone(numbers[sentence]))


_LEAVING: ContextVar[Leaving | None] = ContextVar("leaving", default=None)


@contextmanager
def ended_by(every: Event, is_gone: Callable[[int], bool] = _nobody) -> Iterator[None]:
    """Searches that this thread begins within the block end as `Leaving` says.

    A sentence that is gone leaves its batch, and gets hypotheses that end anywhere. A search that
    ends as a whole returns no hypotheses for the sentences that it has not finished. The beam
    search of the compiled engine asks; other searches go on to their ends.
    """
    token = _LEAVING.set(Leaving(every, is_gone))
    try:
        yield
    finally:
        _LEAVING.reset(token)


def leaving_here() -> Leaving:
    """What ends the search that begins here: that of `ended_by`, or a new one."""
    return _LEAVING.get() or Leaving()
