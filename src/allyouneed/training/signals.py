"""A clean stop: the first SIGINT or SIGTERM lets the step end and a checkpoint be written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """`name` is the signal that asked for a stop, or None."""

    def __init__(self) -> None:
        self.name: str | None = None


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Catches SIGINT and SIGTERM while the block runs; a second one ends the process as usual.

    Only the main thread can catch signals; elsewhere nothing is caught.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:
        request.name = signal.Signals(number).name
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, ask)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
