"""The door: checks, limits and logs that apply to every request and answer."""

import asyncio
import ipaddress
import logging
import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from logging import LogRecord
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from allyouneed.serving.metrics import Metrics
from allyouneed.serving.operation import Handler
from allyouneed.serving.refusal import ClientGone, Refused
from allyouneed.serving.settings import Settings
from allyouneed.serving.visit import SURPLUS, TIMEOUT_HEADER, WHOLE

REQUESTS = logging.getLogger("allyouneed.serving.requests")
ERRORS = logging.getLogger("allyouneed.serving.errors")
TAKE_FILES = ("/translate_file", "/v2/document")
TRANSLATE = ("/translate", "/v1/translate", "/v2/translate")
BODY_SECONDS = 30.0  # that a body may take to arrive
TRACE = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
ALLOWED_HEADERS = "authorization, content-type, request-timeout, traceparent"
SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
KNOWN_HOSTS, KNOWN_ROUTES = 64, 1024  # whose last results are kept
CROWDED_SECONDS = 5  # after which a client may try again whose connection is one too many
CLOSED_BY_CLIENT = 499  # in logs and metrics: the client hung up before the answer


class Door:
    """Checks a request's host and origin, limits its body, counts and logs it, and answers errors
    without details of the code.

    `handlers` answer requests of a method to a path. They are called directly, because Starlette's
    routes cost as much time as the rest of HTTP; `app` gets all other requests. `route_of` gives
    the path of a handler as it stands in the list of operations. `hopeless` gives the refusal of a
    request for a translation that would be late, by the time that it names.
    """

    def __init__(
        self,
        app: ASGIApp,
        handlers: Mapping[tuple[str, str], Handler],
        settings: Settings,
        metrics: Metrics,
        route_of: Callable[[Scope], str],
        hopeless: Callable[[str | None], Refused | None],
    ) -> None:
        self.app = app
        self.handlers = handlers
        self.settings = settings
        self.metrics = metrics
        self.route_of = route_of
        self.hopeless = hopeless
        self.hosts = {host.lower() for host in settings.allow_host}
        self.origins = {origin.lower().rstrip("/") for origin in settings.allow_origin}
        self._host_is_ours = lru_cache(maxsize=KNOWN_HOSTS)(self._is_ours)
        self._timed = lru_cache(maxsize=KNOWN_ROUTES)(self.metrics.request_seconds.labels)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        began = time.perf_counter()
        answer = _Answer(send, self._own_headers(headers))
        self.metrics.active += 1
        try:
            refused = self._refused(scope, headers)
            if refused is not None:
                await refused(scope, receive, answer)
            else:
                await self._handle(scope, self._bounded(receive, scope), answer)
        except ClientGone:
            answer.status = CLOSED_BY_CLIENT
        except Refused as error:
            await self._say(error, scope, receive, answer)
        except Exception as error:
            ERRORS.error(
                "%s",
                type(error).__name__,
                exc_info=error if self.settings.log_texts else None,
                extra={"place": _place(error)},
            )
            if isinstance(error, ExceptionGroup):
                raise
            await self._say(Refused(500, "internal error"), scope, receive, answer)
        finally:
            self.metrics.active -= 1
            self._tell(scope, headers, answer.status, time.perf_counter() - began)

    async def _handle(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        handler = self.handlers.get((scope["method"], scope["path"]))
        if handler is None:
            await self.app(scope, receive, answer)
        else:
            scope["app"] = self.app  # Starlette reads forms otherwise without it
            response = await handler(Request(scope, receive))
            await response(scope, receive, answer)

    def _refused(self, scope: Scope, headers: Mapping[bytes, str]) -> Response | None:
        """The answer to a request that is refused, or to a browser's preflight request."""
        if scope.get(SURPLUS):
            return self._crowded(scope)
        if not self._host_is_ours(headers.get(b"host", "")):
            return error_answer(scope, Refused(403, "this service does not go by that host name"))
        asked = headers.get(b"access-control-request-method")
        if scope["method"] == "OPTIONS" and asked is not None:
            return Response(status_code=204)
        length = headers.get(b"content-length", "0")
        if length.isdecimal() and int(length[:19]) > self._most(scope):
            return error_answer(scope, self._too_large(scope))
        if scope["method"] == "POST" and scope["path"] in TRANSLATE:
            late = self.hopeless(headers.get(TIMEOUT_HEADER.encode()))
            return None if late is None else error_answer(scope, late)
        return None

    def _crowded(self, scope: Scope) -> Response:
        self.metrics.rejected.labels("connections").inc()
        most = self.settings.max_connections
        reason = f"this service has {most} connections, and takes no more; try again later"
        answer = error_answer(scope, Refused(503, reason, CROWDED_SECONDS))
        answer.headers["connection"] = "close"
        return answer

    def _most(self, scope: Scope) -> int:
        """Bytes that a body may have."""
        files = scope["path"] in TAKE_FILES
        return self.settings.max_file if files else self.settings.max_body

    def _too_large(self, scope: Scope) -> Refused:
        return Refused(413, f"the body is larger than {self._most(scope)} bytes")

    def _is_ours(self, host: str) -> bool:
        """On loopback only names of this machine count: another site could let its own name point
        here, to have browsers ask this service (DNS rebinding)."""
        name = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
        name = name.lower().strip("[]")
        if name in self.hosts:
            return True
        if not self.settings.loopback:
            return not self.hosts or _is_address(name)
        return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name).is_loopback)

    def _own_headers(self, headers: Mapping[bytes, str]) -> list[tuple[bytes, bytes]]:
        """The headers that every answer to such a request has."""
        found = list(SAFE)
        trace = headers.get(b"traceparent", "")
        if TRACE.fullmatch(trace):
            found.append((b"traceparent", trace.encode()))
        origin = headers.get(b"origin", "")
        if self.origins:
            found.append((b"vary", b"Origin"))
        if origin.lower() in self.origins:
            found += [
                (b"access-control-allow-origin", origin.encode("latin-1")),
                (b"access-control-allow-methods", b"GET, POST, DELETE"),
                (b"access-control-allow-headers", ALLOWED_HEADERS.encode()),
                (b"access-control-expose-headers", b"retry-after"),
            ]
        return found

    def _bounded(self, receive: Receive, scope: Scope) -> Receive:
        """A `receive` that refuses a body which is too large or takes too long to arrive."""
        until = time.monotonic() + BODY_SECONDS
        size, complete = 0, False

        async def bounded() -> Message:
            nonlocal size, complete
            if complete:
                return await receive()
            # A timer is left out where it would have nothing to wait for: in most requests.
            message = await (receive() if scope.get(WHOLE) else _in_time(receive, until))
            if message["type"] == "http.disconnect":
                raise ClientGone
            size += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if size > self._most(scope):
                raise self._too_large(scope)
            return message

        return bounded

    async def _say(self, error: Refused, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        """The error as an answer, if none has begun."""
        if not answer.begun:
            await error_answer(scope, error)(scope, receive, answer)

    def _tell(self, scope: Scope, headers: Mapping[bytes, str], status: int, took: float) -> None:
        route = self.route_of(scope)
        method = scope["method"] if scope["method"] in ("GET", "POST", "DELETE") else "other"
        self._timed(method, route, str(status)).observe(took)
        if not REQUESTS.isEnabledFor(logging.INFO):
            return
        visit = scope.get("visit")
        told: dict[str, Any] = {"status": status, "ms": round(took * 1000, 1)}
        if visit is not None:
            told |= {"texts": visit.texts, "characters": visit.characters}
            if visit.key is not None:
                told["key"] = visit.key.name
        if trace := TRACE.fullmatch(headers.get(b"traceparent", "")):
            told["trace"] = trace[1]
        record = LogRecord(REQUESTS.name, logging.INFO, "", 0, "%s %s", (method, route), None)
        record.told = told
        REQUESTS.handle(record)  # `info` would also look for the place of this line


class _Answer:
    """A `send` that adds headers and records the answer's status."""

    def __init__(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._send, self._headers = send, headers
        self.begun = False
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun, self.status = True, message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
        await self._send(message)


async def _in_time(receive: Receive, until: float) -> Message:
    try:
        async with asyncio.timeout(max(until - time.monotonic(), 0.0)):
            return await receive()
    except TimeoutError as error:
        raise Refused(408, f"the body did not come within {BODY_SECONDS:.0f} s") from error


def error_answer(scope: Scope, error: Refused) -> Response:
    """The error in the shape that clients of the path's API expect."""
    name = "message" if scope["path"].startswith("/v2/") else "error"
    answer = Response(
        to_json({name: error.reason}), _status(scope, error), media_type="application/json"
    )
    if error.retry_after is not None:
        answer.headers["retry-after"] = str(error.retry_after)
    if error.status in (408, 413):
        answer.headers["connection"] = "close"  # the rest of the body is not read
    return answer


def _status(scope: Scope, error: Refused) -> int:
    if scope["path"].startswith("/v2/"):
        return 403 if error.reason.startswith("Please contact") else error.status
    return 403 if error.status == 456 else error.status


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _place(error: BaseException) -> str:
    """Where an error was raised: module and line, no text."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
