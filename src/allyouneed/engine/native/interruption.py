"""Ends a search of the library early: when a signal handler raises, or another thread gives up."""

from collections.abc import Generator
from threading import Event
from types import TracebackType

from allyouneed.engine.native import bindings


class Interrupted(Exception):
    """The search was ended because nobody wants its result any more."""


class Watch:
    """Answers the library, which asks between two steps of a search whether to end it.

    The answer is yes once `left` is set, or once a signal handler has raised. Python runs signal
    handlers in the main thread alone, and only while it runs Python code: in a search on the main
    thread that is while it answers. No exception may pass through the library, so the handler's
    exception is kept, and raised when the `with` block ends.
    """

    def __init__(self, left: Event) -> None:
        self._error: BaseException | None = None
        answers = self._answers(left)
        next(answers)
        self.interrupted = bindings.Interrupted(answers.__next__)

    def _answers(self, left: Event) -> Generator[int, None, None]:
        # A generator and not a function: Python runs signal handlers where a call begins, which is
        # before the first `try` of a function, but within this one where a generator goes on.
        while True:
            try:
                yield int(self._error is not None or left.is_set())
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
        if isinstance(error, Interrupted) and self._error is not None:
            raise self._error from None
