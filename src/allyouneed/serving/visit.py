"""A visit: one request, who makes it and how long they wait."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from allyouneed.serving.keys import Key
from allyouneed.serving.refusal import ClientGone, Refused

TIMEOUT_HEADER = "request-timeout"
AT_ONCE = 0.02  # seconds; a client that waits longer is watched for hanging up


@dataclass(slots=True)
class Visit:
    """`request` is None for work that goes on without its client.

    `client` names who asks, because the queue is fair between clients. `until` is the deadline (as
    `time.monotonic` counts). `to_answer` is how many seconds an answer takes that is ready.
    `texts` and `characters` are counted for the log. `streamed` is set where the answer goes on
    after its handler.
    """

    request: Request | None
    client: str
    until: float
    key: Key | None = None
    to_answer: float = 0.0
    texts: int = 0
    characters: int = 0
    streamed: bool = False
    _gone: "asyncio.Task[None] | None" = field(default=None)

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
        if or_else is None:
            await asyncio.wait([answer], timeout=min(AT_ONCE, max(self.seconds_left, 0.0)))
            if answer.done():
                return
        if self._gone is None:
            self._gone = asyncio.ensure_future(_hung_up(self.request))
        event = asyncio.ensure_future(or_else.wait()) if or_else else None
        awaited: list[asyncio.Future[Any]] = [answer, self._gone]
        await asyncio.wait(
            [*awaited, event] if event else awaited,
            timeout=max(self.seconds_left, 0.0),
            return_when=asyncio.FIRST_COMPLETED,
        )
        set_now = or_else is not None and or_else.is_set()
        if event is not None:
            event.cancel()
        if answer.done() or set_now:
            return
        if self._gone.done():
            raise ClientGone
        raise Refused(503, "the time for this request is up before it was translated", 1)

    def end(self) -> None:
        """Stops listening for the client."""
        if self._gone is not None:
            self._gone.cancel()


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
    """The client's address; on this machine, where all have the same, its connection."""
    if request.client is None:
        return ""
    host, port = request.client
    return f"{host}:{port}" if host in ("127.0.0.1", "::1") else host


async def _hung_up(request: Request | None) -> None:
    if request is None:
        await asyncio.Event().wait()
        return
    while (await request.receive())["type"] != "http.disconnect":
        pass
