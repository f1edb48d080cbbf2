"""How `allyouneed serve` does under load, on loopback, in one run with the same sentences:

* the share of the throughput that a file of lines has, with 64 clients of one sentence a request;
* the time of a request at half of the capacity, over that of one sentence alone (arrivals are
  Poisson and do not wait for answers);
* at three times the capacity: accepted work over capacity, and accepted answers in their time;
* one sentence while another client's 5,000 lines run, over alone;
* memory, and the time until /ready;
* FastAPI with CTranslate2 (int8, beam 4, two workers, a thread pool), on the same weights.

    python benchmarks/serve.py SENTENCES [--seconds 20] [--peer]

SENTENCES is a text file of English sentences, one a line. Clients run in this process and take a
part of the same cores. --peer needs fastapi and ctranslate2.
"""

import argparse
import asyncio
import atexit
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

CLIENTS = 64
MANY_LINES = 5000
TIMEOUT = 2.0  # seconds that a request under overload may take
FILE_SPEED = """
import sys, time, allyouneed
lines = open(sys.argv[1]).read().split("\\n")[:-1]
translator = allyouneed.load("en-de", threads=int(sys.argv[2]))
list(translator.translate_lines(lines[:500]))
began = time.perf_counter()
count = sum(1 for _ in translator.translate_lines(lines))
print(count / (time.perf_counter() - began))
"""
PEER = """
import json, sys, uvicorn, ctranslate2, fastapi, pydantic
from allyouneed.model_folder.folder import open_model_folder
tokenizer = open_model_folder("en-de").tokenizer
ids = json.loads(tokenizer.to_json())["model"]["vocab"]
names = sorted(ids, key=ids.__getitem__)
model = ctranslate2.Translator(sys.argv[1], compute_type="int8", inter_threads=2, intra_threads=1)
app = fastapi.FastAPI()
class Body(pydantic.BaseModel):
    q: str
@app.get("/ready")
def ready():
    return {}
@app.post("/translate")
def translate(body: Body):
    pieces = [names[id] for id in tokenizer.encode(body.q).ids]
    [found] = model.translate_batch([pieces], beam_size=4, length_penalty=0.6)
    text = tokenizer.decode([ids[piece] for piece in found.hypotheses[0]])
    return {"translatedText": text.strip()}
uvicorn.run(app, port=int(sys.argv[2]), log_level="error", http="httptools")
"""


class Connection:
    """One keep-alive connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader | None = None

    async def ask(self, body: bytes, timeout: float | None = None) -> tuple[int, bytes]:
        """Status and body of the answer."""
        if self.reader is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        more = f"request-timeout: {timeout}\r\n" if timeout else ""
        self.writer.write(
            b"POST /translate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"%scontent-length: %d\r\n\r\n%s" % (more.encode(), len(body), body)
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        at = head.lower().index(b"content-length: ") + 16
        answer = await self.reader.readexactly(int(head[at : head.index(b"\r", at)]))
        return int(head[9:12]), answer

    def close(self) -> None:
        """Hangs up."""
        if self.reader is not None:
            self.writer.close()


@dataclass
class Arrivals:
    """What came of requests that arrived whatever the service did."""

    seconds: float
    took: list[float] = field(default_factory=list)  # of those that were accepted
    refused: int = 0

    @property
    def per_second(self) -> float:
        return len(self.took) / self.seconds


def body_of(text: str | list[str]) -> bytes:
    return json.dumps({"q": text, "source": "en", "target": "de"}).encode()


async def closed_loop(port: int, sentences: list[str], seconds: float) -> float:
    """Requests a second of 64 clients that each ask as soon as they are answered."""
    until, done = time.perf_counter() + seconds, 0

    async def client(number: int) -> None:
        nonlocal done
        connection = Connection(port)
        draw = random.Random(number)
        while time.perf_counter() < until:
            status, _ = await connection.ask(body_of(draw.choice(sentences)))
            assert status == 200
            done += 1
        connection.close()

    began = time.perf_counter()
    await asyncio.gather(*(client(n) for n in range(CLIENTS)))
    return done / (time.perf_counter() - began)


async def alone(port: int, sentences: list[str], count: int = 200) -> float:
    """The median time of a request while there is no other."""
    connection, took = Connection(port), []
    draw = random.Random(1)
    for _ in range(count):
        began = time.perf_counter()
        await connection.ask(body_of(draw.choice(sentences)))
        took.append(time.perf_counter() - began)
    connection.close()
    return statistics.median(took)


async def open_loop(
    port: int, sentences: list[str], rate: float, seconds: float, timeout: float | None = None
) -> Arrivals:
    """Poisson arrivals of one sentence each; at most 2,000 are under way."""
    draw, free, found = random.Random(2), [], Arrivals(seconds)
    under_way: set[asyncio.Task[None]] = set()

    async def ask() -> None:
        arrived = time.perf_counter()
        connection = free.pop() if free else Connection(port)
        status, _ = await connection.ask(body_of(draw.choice(sentences)), timeout)
        if status == 200:
            found.took.append(time.perf_counter() - arrived)
        else:
            found.refused += 1
        free.append(connection)

    began = time.perf_counter()
    arrival = began
    while arrival < began + seconds:
        arrival += draw.expovariate(rate)
        await asyncio.sleep(max(0.0, arrival - time.perf_counter()))
        if len(under_way) < 2000:
            task = asyncio.create_task(ask())
            under_way.add(task)
            task.add_done_callback(under_way.discard)
    await asyncio.gather(*under_way)
    for connection in free:
        connection.close()
    found.took.sort()
    return found


async def beside_many(port: int, sentences: list[str]) -> float:
    """The median time of one sentence while another client's lines run."""
    lines = [sentences[n % len(sentences)] for n in range(MANY_LINES)]
    big = asyncio.create_task(Connection(port).ask(body_of(lines), 600))
    await asyncio.sleep(0.5)
    connection, took = Connection(port), []
    draw = random.Random(1)
    while not big.done():
        began = time.perf_counter()
        await connection.ask(body_of(draw.choice(sentences)))
        took.append(time.perf_counter() - began)
        await asyncio.sleep(0.02)
    assert (await big)[0] == 200
    return statistics.median(took[:-1])


class Process:
    """A server in a process of its own."""

    def __init__(self, command: list[str], port: int) -> None:
        if is_ready(port):
            sys.exit(f"a server runs on port {port} already; end it, or its figures would be shown")
        began = time.perf_counter()
        self.port = port
        self.process = subprocess.Popen(
            [sys.executable, *command], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        atexit.register(self.process.kill)  # where an error ends the run before `stop`
        while not is_ready(port):
            assert self.process.poll() is None, "the server ended"
            time.sleep(0.01)
        self.ready = time.perf_counter() - began

    @property
    def mebibytes(self) -> float:
        """Resident memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self) -> None:
        """Ends it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def is_ready(port: int) -> bool:
    """Whether /ready answers 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready") as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def quantile(sorted_values: list[float], share: float) -> float:
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


def show(name: str, value: str) -> None:
    print(f"{name:62}{value}", flush=True)


def main() -> None:
    """Measures, and prints a line for each figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--seconds", type=float, default=20, help="of each part (%(default)s)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--peer", action="store_true", help="measure FastAPI with CTranslate2 too")
    given = parser.parse_args()
    sentences = [line for line in given.sentences.read_text("utf-8").split("\n") if line.strip()]
    if not sentences:
        parser.error(f"{given.sentences} has no lines; give a text file with a sentence on each")
    measure: Callable[[Awaitable[float]], float] = asyncio.run  # type: ignore[assignment]

    def file_speed() -> float:
        command = [sys.executable, "-c", FILE_SPEED, str(given.sentences), str(given.threads)]
        return float(subprocess.run(command, capture_output=True, check=True).stdout)

    before = file_speed()
    serve = ["-m", "allyouneed", "serve", "--port", "5071", "--threads", str(given.threads)]
    ours = Process(serve, 5071)
    show("start until /ready", f"{ours.ready:.2f} s")
    measure(closed_loop(ours.port, sentences, 3))
    capacity = measure(closed_loop(ours.port, sentences, given.seconds))
    single = measure(alone(ours.port, sentences))
    after = file_speed()
    of_file = statistics.mean([before, after])
    show("a file of lines", f"{of_file:.0f} sentences/s ({before:.0f}, {after:.0f})")
    show(f"{CLIENTS} clients, over a file of lines", f"{capacity / of_file:.2f} ({capacity:.0f}/s)")
    show("one sentence alone", f"{single * 1000:.1f} ms")
    half = asyncio.run(open_loop(ours.port, sentences, capacity / 2, given.seconds))
    show(
        "half of the capacity: p50, p99 over alone",
        f"{quantile(half.took, 0.5) / single:.2f}, {quantile(half.took, 0.99) / single:.2f}",
    )
    beside = measure(beside_many(ours.port, sentences))
    show(f"one sentence beside {MANY_LINES} lines, over alone", f"{beside / single:.2f}")
    few = ours.mebibytes
    over = asyncio.run(open_loop(ours.port, sentences, 3 * capacity, given.seconds, TIMEOUT))
    show("three times the capacity: accepted over capacity", f"{over.per_second / capacity:.2f}")
    show(
        f"  accepted p99, of {TIMEOUT:.0f} s; refused",
        f"{quantile(over.took, 0.99):.2f} s; {over.refused}",
    )
    measure(closed_loop(ours.port, sentences, given.seconds))
    show(
        "resident memory; growth since before overload",
        f"{ours.mebibytes:.0f} MiB; {ours.mebibytes / few:.2f}",
    )
    ours.stop()
    if given.peer:
        peer(sentences, given.seconds, capacity)


def peer(sentences: list[str], seconds: float, capacity: float) -> None:
    """FastAPI with CTranslate2, the way people write it."""
    from allyouneed.interop.ctranslate2 import export_ctranslate2
    from allyouneed.model_folder.folder import open_model_folder

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        export_ctranslate2(open_model_folder("en-de"), path, "int8")
        theirs = Process(["-c", PEER, str(path), "5072"], 5072)
        asyncio.run(closed_loop(theirs.port, sentences, 3))
        speed = asyncio.run(closed_loop(theirs.port, sentences, seconds))
        theirs.stop()
    show(
        f"{CLIENTS} clients, over FastAPI with CTranslate2",
        f"{capacity / speed:.2f} ({speed:.0f}/s)",
    )


if __name__ == "__main__":
    main()
