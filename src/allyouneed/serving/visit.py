"""A visit: one request, who makes it and how long they wait."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from allyouneed.serving.keys import Key
from allyouneed.serving.refusal import ClientGone, Refused

TIMEOUT_HEADER = "request-timeout"
# In the scope of a request: a future that is done when the client left, whether all of the request
# has come, and whether its connection is one too many.
LEFT, WHOLE, SURPLUS = "allyouneed.left", "allyouneed.whole", "allyouneed.surplus"


@dataclass(slots=True)
class Visit:
    """`request` is None for work that goes on without its client.

    `client` names who asks, because the queue is fair between clients. `until` is the deadline (as
    `time.monotonic` counts). `to_answer` is how many seconds an answer takes that is ready.
    `texts` and `characters` are counted for the log. `charged` are the characters that its key was
    charged with; None: it was not charged. `streamed` is set where the answer goes on after its
    handler.
    """

    request: Request | None
    client: str
    until: float
    key: Key | None = None
    to_answer: float = 0.0
    texts: int = 0
    characters: int = 0
    charged: int | None = None
    streamed: bool = False
    _left: "asyncio.Future[None] | None" = field(default=None)

    @classmethod
    def of(cls, request: Request, client: str, patience: float, key: Key | None) -> "Visit":
        """The visit of a request. A request that names no time may take `patience` seconds.

        Raises:
            Refused: the request names a time that is no number of seconds above 0.
        """
        named = request.headers.get(TIMEOUT_HEADER)
        return cls(request, client, time.monotonic() + seconds_of(named, patience), key)

    @property
    def seconds_left(self) -> float:
        """Until the answer is due."""
        return self.until - time.monotonic()

    async def wait_for(
        self, answer: "asyncio.Future[None]", or_else: asyncio.Event | None = None
    ) -> None:
        """Waits until the answer is there, or the event is set.

        Raises:
            ClientGone: the client hung up before.
            Refused: the time was up before.
        """
        if answer.done():
            return
        left = self._left = self._left or self._leaving()
        event = asyncio.ensure_future(or_else.wait()) if or_else else None
        awaited = [one for one in (answer, left, event) if one is not None]
        await _first_of(awaited, self.seconds_left)
        set_now = or_else is not None and or_else.is_set()
        if event is not None:
            event.cancel()
        if answer.done() or set_now:
            return
        if left is not None and left.done():
            raise ClientGone
        raise Refused(503, "the time for this request is up before it was translated", 1)

    def _leaving(self) -> "asyncio.Future[None] | None":
        """A future that is done when the client hangs up. The server's protocol has one; with
        another server a task listens. None where no client waits."""
        if self.request is None:
            return None
        known: asyncio.Future[None] | None = self.request.scope.get(LEFT)
        return known or asyncio.ensure_future(_hung_up(self.request))

    def end(self) -> None:
        """Stops listening for the client, and lets go of the request: the request refers to this
        visit, too, and would stay in memory until Python collects such circles."""
        self.request = None
        if isinstance(self._left, asyncio.Task):
            self._left.cancel()


async def _first_of(awaited: "Sequence[asyncio.Future[Any]]", seconds: float) -> None:
    """Waits until one of these is done, or the seconds are over: as `asyncio.wait`, in half of its
    time."""
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(max(seconds, 0.0), wake)
    for one in awaited:
        one.add_done_callback(wake)
    try:
        await waiter
    finally:
        timer.cancel()
        for one in awaited:
            one.remove_done_callback(wake)


def seconds_of(named: str | None, patience: float) -> float:
    """The seconds that a request may take, from its header; `patience` without a header.

    Raises:
        Refused: the header is no number of seconds above 0.
    """
    if named is None:
        return patience
    try:
        patience = float(named)
    except ValueError:
        patience = -1.0
    if not 0 < patience <= 3600:
        raise Refused(400, "Request-Timeout must be a number of seconds, 0 to 3600")
    return patience


def address(request: Request) -> str:
    """The client's address; "" where it is not known."""
    return request.client.host if request.client else ""


def place_in_queue(request: Request) -> str:
    """What tells clients without a key apart who take turns: the address; on this machine, where
    all have the same, the connection."""
    if request.client is None or request.client.host not in ("127.0.0.1", "::1"):
        return address(request)
    return f"{request.client.host}:{request.client.port}"


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
