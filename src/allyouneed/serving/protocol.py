"""HTTP/1.1 with bounds on what a connection may do before its request is there."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_BYTES = 32 * 1024
HEADER_SECONDS = 20.0


class BoundedProtocol(HttpToolsProtocol):
    """Closes a connection whose headers are larger than 32 KiB, or do not come within 20 s."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._bytes = 0
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """A client has gone."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes have come; those of headers that are not complete yet are counted."""
        if self._patience is not None:
            self._bytes += len(data)
        super().data_received(data)
        if self._patience is not None and self._bytes > HEADER_BYTES and self.transport:
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Notes that a request begins: the client has to send its headers in time."""
        if self._patience is None:
            self._wait()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header is there; an error here is answered by 400 and the end of the connection."""
        super().on_header(name, value)
        if sum(len(n) + len(v) for n, v in self.headers) + len(self.url) > HEADER_BYTES:
            raise ValueError("headers are too large")

    def on_headers_complete(self) -> None:
        """All headers are there."""
        self._wait_no_more()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._bytes = 0
        self._patience = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self.transport and not self.transport.is_closing():
            self.transport.abort()

    def _wait_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
