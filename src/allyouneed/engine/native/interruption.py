"""Ends a search of the library early: when a signal handler raises, or another thread asks."""

from collections.abc import Callable, Generator
from threading import Event
from types import TracebackType

from allyouneed.engine.native import bindings


class Interrupted(Exception):
    """The search was ended early, because its result is no longer needed."""


class Watch:
    """Tells the library, which asks between two steps of a search, whether to end the search.
    `let_go` is called each time, before the answer.

    The answer is yes once `left` is set, or once a signal handler has raised. Python runs signal
    handlers only in the main thread and only while that thread runs Python code. During a search on
    the main thread, the only Python code is this answer. No exception may pass through the library,
    so the handler's exception is kept and raised at the end of the `with` block.
    """

    def __init__(self, left: Event, let_go: Callable[[], None]) -> None:
        self._error: BaseException | None = None
        self._answering = self._answers(left, let_go)
        next(self._answering)
        self.interrupted = bindings.Interrupted(self._answering.__next__)

    def _answers(self, left: Event, let_go: Callable[[], None]) -> Generator[int, None, None]:
        # A generator, not a function: Python runs signal handlers where a call begins. In a
        # function that is before the first `try`; in a resumed generator it is inside this `try`.
        while True:
            try:
                yield int(self._error is not None or left.is_set())
                let_go()
            except GeneratorExit:
                return
            except BaseException as error:
                self._error = error

    def __enter__(self) -> "Watch":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._answering.close()  # it refers to this object, which would stay as a cycle
        if isinstance(error, Interrupted) and self._error is not None:
            raise self._error from None
