"""The server: a service on a port, until it is told to end."""

import asyncio
import errno
import logging
import os
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType

import uvicorn

from allyouneed.errors import UsageError
from allyouneed.serving.app import Service
from allyouneed.serving.ending import ANSWER_SECONDS
from allyouneed.serving.protocol import BoundedProtocol
from allyouneed.serving.settings import Settings

LOG = logging.getLogger("allyouneed.serving")
KEEP_ALIVE_SECONDS = 60
HANDSHAKE_SECONDS = 10.0  # that a client may take for a TLS handshake
INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended
SWITCH_SECONDS = 0.001  # after which Python code of a worker yields to the event loop
WAITING_CONNECTIONS = 2048  # that the system holds until they are accepted
ACCEPTED_AT_ONCE = 32  # in a round of the event loop; those too many are closed some rounds later


class Server(uvicorn.Server):
    """Serves until SIGTERM or SIGINT, then finishes what runs. Meanwhile it goes on to answer:
    clients can fetch their documents, and probes see that the service is not ready. SIGHUP loads
    the models and keys again."""

    def __init__(self, config: uvicorn.Config, service: Service, on_start: Callable[[], None]):
        super().__init__(config)
        self.service = service
        self._on_start = on_start
        self._told = False  # to end
        self._reloading: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to accept connections."""
        if self.config.ssl:  # uvicorn would leave asyncio's 60 s for a handshake
            loop = asyncio.get_running_loop()
            bounded = partial(loop.create_server, ssl_handshake_timeout=HANDSHAKE_SECONDS)
            loop.create_server = bounded  # type: ignore[method-assign]
        await super().startup(sockets)
        for opened in sockets or ():  # asyncio has made them hold as many as it accepts at once
            opened.listen(WAITING_CONNECTIONS)
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, self._reload)
        if self.started:
            self._on_start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Lets the running requests finish. A second Ctrl-C ends the process at once, because the
        workers' threads could be waited for only until their batches are translated."""
        if self._told and sig == signal.SIGINT:
            self.service.abandon()
            os._exit(INTERRUPTED)
        self._told = True
        self.service.drain()

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop listening; asked ten times a second."""
        if self.service.may_end:
            self.should_exit = True
            self.service.guard.ending.give_up()
        return await super().on_tick(counter)

    def _reload(self) -> None:
        if self._reloading is None or self._reloading.done():
            self._reloading = asyncio.create_task(self.service.reload())


def open_socket(settings: Settings) -> socket.socket:
    """An open socket at the host and port of the settings.

    Raises:
        UsageError: the port is taken, this user may not open it, or there is no such host.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(address)
            opened.listen(WAITING_CONNECTIONS)
        except OSError:
            opened.close()
            raise
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "is taken by another program" if taken else f"cannot be opened: {error.strerror}"
        raise UsageError(
            f"port {settings.port} of {settings.host} {reason}; choose another with --port"
        ) from error
    return opened


def address_of(settings: Settings, opened: socket.socket) -> str:
    """The service's address for a browser. For a service that listens at all addresses this is
    the address on its own machine."""
    scheme = "http" if settings.tls_certificate is None else "https"
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{opened.getsockname()[1]}"


def configuration(service: Service) -> uvicorn.Config:
    """uvicorn's configuration for the service.

    Raises:
        UsageError: TLS files that cannot be used.
    """
    settings = service.settings
    config = uvicorn.Config(
        service.app,
        http=BoundedProtocol,
        loop="asyncio",  # uvloop accepts one connection a round: under load new clients wait long
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=settings.max_connections,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=ANSWER_SECONDS,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        lifespan="on",
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"{settings.tls_certificate} and {settings.tls_key} cannot be used for TLS: {error}"
        ) from error
    return config


def serve(service: Service, opened: socket.socket, on_start: Callable[[], None]) -> None:
    """Runs the service until the process is told to end; `on_start` is called when it answers.

    Raises:
        UsageError: TLS files that cannot be used.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    Server(configuration(service), service, on_start).run([opened])
