"""HTTP/1.1 with bounds on what a connection may do before its request is there."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_BYTES = 32 * 1024
HEADER_SECONDS = 20.0
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\r\n"


class BoundedProtocol(HttpToolsProtocol):
    """Closes a connection whose headers are larger than 32 KiB, or do not come within 20 s."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._header_bytes = 0
        self._in_headers = True
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        self._patience = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """A client has gone."""
        self._patient_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        if self._in_headers:
            self._header_bytes += min(len(data), HEADER_BYTES + 1)
        super().data_received(data)
        if self._in_headers and self._header_bytes > HEADER_BYTES and self.transport:
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def on_headers_complete(self) -> None:
        """The headers of a request are there."""
        self._in_headers, self._header_bytes = False, 0
        self._patient_no_more()
        super().on_headers_complete()

    def on_message_begin(self) -> None:
        """Another request begins, the headers of which are waited for."""
        self._in_headers = True
        if self._patience is None:
            self._patience = self.loop.call_later(HEADER_SECONDS, self._give_up)
        super().on_message_begin()

    def _give_up(self) -> None:
        self._patience = None
        if self.transport and not self.transport.is_closing():
            self.transport.close()

    def _patient_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
