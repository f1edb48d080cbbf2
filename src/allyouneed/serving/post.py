"""The post: brings the workers' results to the event loop."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

ROUNDS = 3  # of the event loop: it hears of answers, sends them, and reads what clients send next
PATIENCE = 0.05  # seconds


class Post:
    """Calls of other threads, which the event loop makes in order. Calls that come together wake
    the event loop once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: deque[Callable[[], object]] = deque()
        self._awake = False  # whether the loop was notified and has not yet looked

    def put(self, call: Callable[[], object]) -> None:
        """Makes the event loop call a function, unless the loop has ended."""
        self._calls.append(call)
        if not self._awake:
            self._awake = True
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._empty)

    def let_answer(self) -> None:
        """Waits while the event loop answers the clients whose results `put` brought, and reads
        their next requests. The sentences of these requests can then be translated together. Waits
        0.05 seconds at the most."""
        answered = threading.Event()
        self.put(lambda: self._after(ROUNDS, answered.set))
        answered.wait(PATIENCE)

    def _empty(self) -> None:
        self._awake = False
        while self._calls:
            self._calls.popleft()()

    def _after(self, rounds: int, call: Callable[[], None]) -> None:
        """Makes a call after so many rounds of the event loop."""
        if rounds:
            self._loop.call_soon(self._after, rounds - 1, call)
        else:
            call()
