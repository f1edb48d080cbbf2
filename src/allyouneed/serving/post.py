"""The post: brings the workers' results to the event loop."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress


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

    def _empty(self) -> None:
        self._awake = False
        while self._calls:
            self._calls.popleft()()
