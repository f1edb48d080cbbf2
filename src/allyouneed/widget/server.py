"""A small HTTP server on localhost for the page of the live view.

It listens on 127.0.0.1, and its address holds a random token. It refuses requests of other sites'
pages (by their Host, Origin and content type). It serves a fixed list of files, so no path can
lead elsewhere. Text that is typed into the page never becomes part of a document.
"""

import errno
import json
import secrets
import socket
import socketserver
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from io import BufferedReader, RawIOBase
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from allyouneed.errors import UsageError
from allyouneed.widget.packing import ViewAnswer, pack
from allyouneed.widget.page import Start, live_page, start_script, static

LOCALHOST = "127.0.0.1"
LARGEST_BODY = 1 << 20  # bytes: enough for a state with every cell of a 256 × 256 matrix
SECONDS_FOR_A_REQUEST = 5  # the time to receive a whole request; slower connections are closed

Ask = Callable[[str, Any, int], ViewAnswer]
"""ask(kind, payload, page) → answer. A wrong question gives an answer with an error."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # because the address contains the token
    "X-Content-Type-Options": "nosniff",
}


class RequestRefused(Exception):
    """A request is refused, with an HTTP status and a reason in one line."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class PageServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Serves the live view at `address` until `shutdown`; `ask` answers its questions.

    `port` 0 takes any free one.

    Raises:
        UsageError: the port is in use, or this user may not open it.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, ask: Ask, start: Start, port: int = 0) -> None:
        self.ask, self.start_with = ask, start
        self.token = secrets.token_urlsafe(24)
        self.pages = count(1)
        try:
            super().__init__((LOCALHOST, port), Handler)
        except (OSError, OverflowError) as error:
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            reason = "is used by another program" if taken else f"cannot be opened ({error})"
            raise UsageError(
                f"port {port} {reason}; choose another, or leave it out for a free one"
            ) from error

    @property
    def address(self) -> str:
        """The address of the page. Anybody on this machine who knows it can ask the model."""
        return f"http://{LOCALHOST}:{self.port}/{self.token}/"

    @property
    def port(self) -> int:
        """The port that is open."""
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores a browser that closes its connection early."""


class Arriving(RawIOBase):
    """The bytes of a connection that arrive by the time `until`.

    A time limit for each single read would let a client send one byte every few seconds for ever.

    Raises:
        TimeoutError: the time has passed.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.until = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long to arrive")
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(room)
        finally:
            self._connection.settimeout(None)


class Handler(BaseHTTPRequestHandler):
    """One connection of the page."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = "allyouneed"
    sys_version = ""

    def setup(self) -> None:
        """Sets up the connection with a time limit for reading."""
        super().setup()
        self._arriving = Arriving(self.connection)
        self.rfile = BufferedReader(self._arriving)

    def handle_one_request(self) -> None:
        """Waits for the next request of this connection, and answers it."""
        self._arriving.until = time.monotonic() + SECONDS_FOR_A_REQUEST
        super().handle_one_request()

    def do_GET(self) -> None:
        """Sends the page or one of its files."""
        self._respond(self._part)

    def do_POST(self) -> None:
        """Answers a question of the page."""
        self._respond(self._answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing about requests."""

    def _respond(self, content: Callable[[str], tuple[str, bytes]]) -> None:
        try:
            kind, body = content(self._place())
            status = HTTPStatus.OK
        except RequestRefused as refused:
            kind, body, status = "text/plain", f"{refused}\n".encode(), refused.status
            self.close_connection = True  # an unread body would be read as the next request
        self.send_response(status)
        self.send_header(
            "Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
        )
        self.send_header("Content-Length", str(len(body)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _place(self) -> str:
        """The part of the address after the token.

        Raises:
            RequestRefused: the request names another host, comes from another site, or has no
            token.
        """
        hosts = {f"{name}:{self.server.port}" for name in (LOCALHOST, "localhost")}
        if self.headers.get("Host") not in hosts:
            raise RequestRefused(HTTPStatus.FORBIDDEN, f"this page is only at {LOCALHOST}")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            raise RequestRefused(HTTPStatus.FORBIDDEN, "other sites may not ask questions")
        first, slash, place = urlsplit(self.path).path.removeprefix("/").partition("/")
        if not slash or not secrets.compare_digest(first.encode(), self.server.token.encode()):
            raise RequestRefused(
                HTTPStatus.NOT_FOUND, "there is no page here; use the address as it was printed"
            )
        return place

    def _part(self, place: str) -> tuple[str, bytes]:
        if place == "":
            return "text/html", live_page().encode()
        if place == "start.js":
            page = next(self.server.pages)
            return "text/javascript", start_script(self.server.start_with, page).encode()
        try:
            return static(place)
        except KeyError:
            raise RequestRefused(HTTPStatus.NOT_FOUND, "there is no such file") from None

    def _answer(self, place: str) -> tuple[str, bytes]:
        if place != "ask":
            raise RequestRefused(HTTPStatus.NOT_FOUND, "post questions to ask")
        asked = self._body()
        page = parse_qs(urlsplit(self.path).query).get("page", ["0"])[0]
        if not (isinstance(asked, dict) and asked.keys() == {"kind", "payload"}):
            raise RequestRefused(HTTPStatus.BAD_REQUEST, "a question must be {kind, payload}")
        number = int(page) if page.isdecimal() else 0
        answer = self.server.ask(str(asked["kind"]), asked["payload"], number)
        return "application/octet-stream", pack(answer)

    def _body(self) -> Any:
        if self.headers.get_content_type() != "application/json":
            raise RequestRefused(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a question must be application/json"
            )
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise RequestRefused(HTTPStatus.LENGTH_REQUIRED, "a question needs a Content-Length")
        if len(length) > 9 or int(length) > LARGEST_BODY:
            raise RequestRefused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"a question of {length[:12]} bytes is too long; the limit is {LARGEST_BODY:,}",
            )
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise RequestRefused(HTTPStatus.BAD_REQUEST, "a question must be JSON") from None
