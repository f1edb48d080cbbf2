"""Clients of a translation service. Some wait for an answer before they ask again (a closed loop),
others do not wait (an open loop)."""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

CLIENTS = 64
MOST_UNDER_WAY = 2000  # requests of an open loop
LOOK = 0.002  # seconds after which a late open loop pauses to receive answers
HEAD = (
    b"POST /translate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    b"%scontent-length: %d\r\n\r\n%s"
)


def request_of(
    text: str | Sequence[str],
    source: str = "en",
    target: str = "de",
    timeout: float | None = None,
) -> bytes:
    """The request for a text's translation, as bytes; `timeout` in seconds."""
    body = json.dumps({"q": text, "source": source, "target": target}).encode()
    limit = b"" if timeout is None else b"request-timeout: %g\r\n" % timeout
    return HEAD % (limit, len(body), body)


class Connection(asyncio.Protocol):
    """One keep-alive connection. It is about three times as fast as asyncio's streams, which
    matters because the clients share the cores with the service."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._data = b""

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        loop = asyncio.get_running_loop()
        if self._transport is None:
            self._transport, _ = await loop.create_connection(lambda: self, "127.0.0.1", self.port)
        self._answer = loop.create_future()
        self._transport.write(request)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        """A part of the answer has come."""
        self._data = data = self._data + data
        end = data.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        at = data.lower().index(b"content-length: ", 0, end) + 16
        whole = end + int(data[at : data.index(b"\r", at)])
        if len(data) >= whole and self._answer is not None:
            self._data = b""
            self._answer.set_result((int(data[9:12]), data[end:whole]))

    def connection_lost(self, error: Exception | None) -> None:
        """The service hung up."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionResetError("hung up"))
        self._transport = None

    def close(self) -> None:
        """Hangs up."""
        if self._transport is not None:
            self._transport.close()


async def closed_loop(port: int, requests: Sequence[bytes], seconds: float) -> float:
    """The requests per second of 64 clients. Each client sends a request as soon as its last one is
    answered."""
    until, done = time.perf_counter() + seconds, 0

    async def client(number: int) -> None:
        nonlocal done
        connection = Connection(port)
        draw = random.Random(number)
        while time.perf_counter() < until:
            status, _ = await connection.ask(draw.choice(requests))
            assert status == 200
            done += 1
        connection.close()

    began = time.perf_counter()
    await asyncio.gather(*(client(n) for n in range(CLIENTS)))
    return done / (time.perf_counter() - began)


async def one_by_one(
    port: int, requests: Sequence[bytes], count: int, pause: float = 0.0
) -> list[float]:
    """The seconds that each of `count` requests of one client took, sorted."""
    connection, took = Connection(port), []
    draw = random.Random(1)
    for _ in range(count):
        began = time.perf_counter()
        await connection.ask(draw.choice(requests))
        took.append(time.perf_counter() - began)
        await asyncio.sleep(pause)
    connection.close()
    return sorted(took)


async def beside(
    port: int, requests: Sequence[bytes], heavy: bytes, pause: float = 0.02
) -> list[float]:
    """The seconds that each request of one client took while another client waited for the answer
    to `heavy`, sorted."""
    other = Connection(port)
    task = asyncio.create_task(other.ask(heavy))
    await asyncio.sleep(0.3)
    took: list[float] = []
    while not task.done():
        took += await one_by_one(port, requests, 1)
        await asyncio.sleep(pause)
    status, _ = await task
    assert status == 200
    other.close()
    return sorted(took[:-1])


@dataclass
class Arrivals:
    """What became of requests that arrived whatever the service did.

    `took` are the seconds of the accepted ones, sorted. `unsent` are requests that did not leave
    because 2,000 others were under way. `late` is by how many seconds the clients themselves sent
    requests too late, at the most; the service can do nothing about it.
    """

    seconds: float
    took: list[float] = field(default_factory=list)
    refused: int = 0
    unsent: int = 0
    late: float = 0.0

    @property
    def per_second(self) -> float:
        """Accepted requests a second."""
        return len(self.took) / self.seconds


async def open_loop(port: int, requests: Sequence[bytes], rate: float, seconds: float) -> Arrivals:
    """Poisson arrivals, `rate` a second. A request's time counts from its arrival."""
    draw, found = random.Random(2), Arrivals(seconds)
    free: list[Connection] = []
    under_way: set[asyncio.Task[None]] = set()

    async def ask(arrived: float) -> None:
        connection = free.pop() if free else Connection(port)
        status, _ = await connection.ask(draw.choice(requests))
        if status == 200:
            found.took.append(time.perf_counter() - arrived)
        else:
            found.refused += 1
        free.append(connection)

    arrival = began = looked = time.perf_counter()
    while (arrival := arrival + draw.expovariate(rate)) < began + seconds:
        now = time.perf_counter()
        if arrival > now or now > looked + LOOK:
            await asyncio.sleep(max(arrival - now, 0.0))
            looked = time.perf_counter()
        found.late = max(found.late, time.perf_counter() - arrival)
        if len(under_way) >= MOST_UNDER_WAY:
            found.unsent += 1
            continue
        task = asyncio.create_task(ask(arrival))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
    await asyncio.gather(*under_way)
    for connection in free:
        connection.close()
    found.took.sort()
    return found


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of sorted values lies."""
    return values[min(len(values) - 1, int(share * len(values)))]
