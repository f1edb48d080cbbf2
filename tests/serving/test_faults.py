"""Broken and hostile clients, many at once: all others get their answers, and memory is bounded."""

import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from allyouneed.core.config import BASE
from allyouneed.engine.native import why_not

IDLE = 2000
HUGE = 1 << 30  # bytes of a body
MORE_MEMORY = 80 << 20  # bytes that all of this may take
SENTENCES = [f"The dog sleeps under the table for {n} hours." for n in range(2, 10)]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux shows it"),
    pytest.mark.skipif(why_not(BASE) is not None, reason="the native engine does not run here"),
    pytest.mark.skipif(
        resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2 * IDLE, reason="too few open files"
    ),
]


@dataclass
class Served:
    port: int
    process: int

    @property
    def memory(self) -> int:
        """Resident bytes."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        return pages * resource.getpagesize()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "allyouneed", "serve", "--model", "en-de", "--port", str(port)],
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 120
        while True:
            assert process.poll() is None
            assert time.monotonic() < until
            try:
                address = f"http://127.0.0.1:{port}/ready"
                if httpx.get(address, trust_env=False).status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield Served(port, process.pid)
    finally:
        process.terminate()
        process.wait(60)


async def translated(port: int, times: int) -> list[list[str]]:
    """What an honest client gets, again and again."""
    async with httpx.AsyncClient(trust_env=False, timeout=120) as client:
        found = []
        for _ in range(times):
            body = {"q": SENTENCES, "source": "en", "target": "de"}
            answer = await client.post(f"http://127.0.0.1:{port}/translate", json=body)
            assert answer.status_code == 200, answer.text
            found.append(answer.json()["translatedText"])
        return found


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connected(port: int) -> Connection:
    return await asyncio.open_connection("127.0.0.1", port)


def head(length: int | str) -> bytes:
    size = "Transfer-Encoding: chunked" if length == "chunked" else f"Content-Length: {length}"
    return (
        "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"{size}\r\n\r\n"
    ).encode()


async def status_of(port: int, request: bytes) -> int:
    reader, writer = await connected(port)
    writer.write(request)
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


async def huge_body(port: int) -> int:
    """Sends chunks until the service has had enough; the status of its answer."""
    reader, writer = await connected(port)
    writer.write(head("chunked"))
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    try:
        for _ in range(HUGE // 0x10000):
            writer.write(piece)
            await writer.drain()
    except ConnectionError:
        pass
    try:
        line = await reader.readline()
    except ConnectionError:
        line = b""
    writer.close()
    return int(line.split()[1]) if line else 0


async def slow_body(port: int, until: asyncio.Event) -> None:
    _, writer = await connected(port)
    writer.write(head(10_000) + b'{"q": "')
    try:
        while not until.is_set():
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0.2)
    except ConnectionError:
        pass
    writer.close()


async def vanishing(port: int) -> None:
    """Asks for much and leaves."""
    body = json.dumps({"q": SENTENCES * 40, "source": "en", "target": "de"}).encode()
    _, writer = await connected(port)
    writer.write(head(len(body)) + body)
    await writer.drain()
    await asyncio.sleep(0.1)
    writer.transport.abort()


async def under_attack(port: int, wanted: list[str]) -> None:
    deep = b"[" * 10_000 + b"]" * 10_000
    broken = b'{"q": "\xff\xfe\x80", "source": "en", "target": "de"}'
    idle = [await connected(port) for _ in range(IDLE)]
    done = asyncio.Event()
    slow = [asyncio.create_task(slow_body(port, done)) for _ in range(20)]
    honest = [asyncio.create_task(translated(port, 5)) for _ in range(4)]
    for _ in range(20):
        assert await status_of(port, head(len(deep)) + deep) == 400
        assert await status_of(port, head(len(broken)) + broken) == 400
        assert await status_of(port, head(HUGE)) == 413
    assert {await huge_body(port) for _ in range(3)} <= {413, 0}
    await asyncio.gather(*(vanishing(port) for _ in range(20)))
    for answers in await asyncio.gather(*honest):
        assert answers == [wanted] * 5
    done.set()
    await asyncio.gather(*slow)
    for _, writer in idle:
        writer.close()


def test_others_get_their_answers_and_memory_is_bounded(service: Served) -> None:
    [wanted] = asyncio.run(translated(service.port, 1))
    asyncio.run(translated(service.port, 20))
    before = service.memory
    asyncio.run(under_attack(service.port, wanted))
    assert asyncio.run(translated(service.port, 1)) == [wanted]
    assert service.memory < before + MORE_MEMORY, (before, service.memory)
    counters = httpx.get(f"http://127.0.0.1:{service.port}/metrics", trust_env=False).text
    assert "allyouneed_queue_texts 0.0" in counters
    assert 'allyouneed_cancelled_total{stage="gone"}' in counters
