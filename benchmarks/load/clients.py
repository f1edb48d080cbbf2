"""Clients of a translation service: those that wait for an answer, and those that do not."""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

CLIENTS = 64
MOST_UNDER_WAY = 2000  # requests of an open loop
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


class Connection:
    """One keep-alive connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader | None = None

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        if self.reader is None:
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1", self.port, limit=1 << 24
            )
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        at = head.lower().index(b"content-length: ") + 16
        answer = await self.reader.readexactly(int(head[at : head.index(b"\r", at)]))
        return int(head[9:12]), answer

    def close(self) -> None:
        """Hangs up."""
        if self.reader is not None:
            self.writer.close()


async def closed_loop(port: int, requests: Sequence[bytes], seconds: float) -> float:
    """Requests a second of 64 clients that each ask as soon as they are answered."""
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
    """The seconds of so many requests of one client, sorted."""
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
    """The seconds of one client's requests while another client waits for `heavy`, sorted."""
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
    because 2,000 others were under way.
    """

    seconds: float
    took: list[float] = field(default_factory=list)
    refused: int = 0
    unsent: int = 0

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

    arrival = began = time.perf_counter()
    while (arrival := arrival + draw.expovariate(rate)) < began + seconds:
        if (wait := arrival - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        if len(under_way) >= MOST_UNDER_WAY:
            found.unsent += 1
            await asyncio.sleep(0)
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
