"""HTTP/1.1 with bounds on what a connection may do before its request is there."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from allyouneed.serving.visit import LEFT, SURPLUS, WHOLE

HEADER_BYTES = 32 * 1024
HEADER_SECONDS = 20.0
# Of connections beyond the most that there may be: how many are told so, when their request has
# come, and how many seconds they are given to send it.
TOLD, SURPLUS_SECONDS = 32, 2.0
ANSWER, GO_ON = b"HTTP/1.1 ", b"HTTP/1.1 100 "  # what an answer begins with; this one has no body


class Gathering:
    """A connection that sends an answer's headers together with the first part of its body. They
    then need one system call, and wake the client once."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._headers = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Sends data; headers with the next data."""
        if not self._headers and data.startswith(ANSWER) and not data.startswith(GO_ON):
            self._headers = data
        else:
            self._transport.write(self._headers + data)
            self._headers = b""

    def close(self) -> None:
        """Sends what was written, then hangs up."""
        self.flush()
        self._transport.close()

    def flush(self) -> None:
        """Sends headers that no body follows."""
        if self._headers:
            self.write(b"")


class BoundedProtocol(HttpToolsProtocol):
    """Closes a connection whose headers are larger than 32 KiB, or do not come within 20 s.

    Requests of connections beyond `limit_concurrency` of the configuration are marked as SURPLUS.
    Many more connections are closed at once, because they could use up the descriptors.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # uvicorn would refuse requests with a text that clients cannot read, and one too early.
        self.limit_concurrency = None
        self._surplus = False
        self._bytes = self._named = 0  # read while headers are incomplete; of complete headers
        self._in_headers = True
        self._patience: asyncio.TimerHandle | None = None
        self._left: asyncio.Future[None] = self.loop.create_future()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        self._gathering = Gathering(transport)
        super().connection_made(self._gathering)  # type: ignore[arg-type]
        surplus = len(self.connections) - (self.config.limit_concurrency or len(self.connections))
        self._surplus = surplus > 0
        if surplus > TOLD:
            transport.abort()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """A client has gone."""
        self._wait_no_more()
        super().connection_lost(exc)
        self._left.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Bytes have come; those of headers that are not complete yet are counted."""
        if self._in_headers:
            self._bytes += len(data)
        super().data_received(data)
        if not self._in_headers:
            return
        if self._patience is None:
            self._wait()
        if self._bytes > HEADER_BYTES and self.transport:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Notes that a request begins: the client has to send its headers in time."""
        if not self._in_headers:
            self._in_headers, self._bytes = True, 0
        super().on_message_begin()
        self._named = 0
        self.scope[LEFT] = self._left  # type: ignore[literal-required]
        self.scope[SURPLUS] = self._surplus  # type: ignore[literal-required]

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header is there; an error here is answered by 400 and the end of the connection."""
        super().on_header(name, value)
        self._named += len(name) + len(value)
        if self._named + len(self.url) > HEADER_BYTES:
            raise ValueError("headers are too large")

    def on_headers_complete(self) -> None:
        """All headers are there."""
        self._in_headers = False
        self._wait_no_more()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """All of a request has come."""
        self.scope[WHOLE] = True  # type: ignore[literal-required]
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """An answer was written."""
        self._gathering.flush()
        super().on_response_complete()

    def _wait(self) -> None:
        seconds = SURPLUS_SECONDS if self._surplus else HEADER_SECONDS
        self._patience = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        if self.transport and not self.transport.is_closing():
            self.transport.abort()

    def _wait_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
