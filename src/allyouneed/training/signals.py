"""A clean stop: the first signal lets the step end and a checkpoint be written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# What asks a process to end: a user, a closed terminal, the system going down, a scheduler whose
# time is over (it sends SIGUSR1 or SIGUSR2 on request, SIGXCPU by itself).
# Systems without some of them, such as Windows, do without.
INSISTENT = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGQUIT") if hasattr(signal, name)
)
REPEATED = tuple(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU")
    if hasattr(signal, name)
)


class StopRequest:
    """`number` is that of the signal that asked for a stop, or 0."""

    def __init__(self) -> None:
        self.number = 0


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Catches these signals while the block runs; a second SIGINT, SIGTERM or SIGQUIT ends the
    process as usual. The others come again by themselves (SIGHUP from the shell and from the
    system, SIGXCPU every second), and that means no more than the first time.

    What is ignored stays so: `nohup` has its way. Only the main thread can catch signals;
    elsewhere nothing is caught.
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
