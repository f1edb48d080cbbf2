"""A clean stop: after the first signal the step ends and a checkpoint is written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# The signals that ask a process to end. They come from a user, a closed terminal, a system that
# shuts down, or a scheduler whose time limit is reached (SIGUSR1 or SIGUSR2 on request, SIGXCPU by
# itself). Some systems, such as Windows, lack some of them.
INSISTENT = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGQUIT") if hasattr(signal, name)
)
REPEATED = tuple(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU")
    if hasattr(signal, name)
)


class StopRequest:
    """Whether a signal has asked for a stop: `number` is the signal's number, or 0."""

    def __init__(self) -> None:
        self.number = 0


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Catches these signals while the `with` block runs.

    A second SIGINT, SIGTERM or SIGQUIT ends the process as usual. A repetition of another signal
    has no effect, because systems repeat these (SIGHUP from both the shell and the system, SIGXCPU
    every second). Signals that are ignored stay ignored, so `nohup` works. Only the main thread can
    catch signals; in another thread nothing is caught.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    handlers = {number: signal.getsignal(number) for number in (*INSISTENT, *REPEATED)}
    before = {n: handler for n, handler in handlers.items() if handler is not signal.SIG_IGN}

    def ask(number: int, frame: FrameType | None) -> None:
        request.number = request.number or number
        if number in INSISTENT:
            signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, ask)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
