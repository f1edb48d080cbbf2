"""How `allyouneed serve` does under load, on loopback, in one run with the same sentences.

    zcat ../shared/data/tatoeba/valid.en-de.tsv.gz | cut -f1 > sentences.txt
    python benchmarks/serve.py sentences.txt              all parts: 5 to 12 minutes on two cores
    python benchmarks/serve.py sentences.txt --part start --part memory
    python benchmarks/serve.py sentences.txt --seconds 2 --memory-sentences 2000    a quick try

The file has an English sentence on each line; 3,000 lines are read. The parts are

    start     the time until /ready of five fresh processes; the median counts
    clients   64 clients of one sentence a request, over the speed of a file of the same lines
    half      p50 and p99 at half of the capacity, over the time of one sentence alone
    beside    one sentence while another client's 5,000 lines run, over one sentence alone
    overload  three times the capacity: accepted work over capacity, and its p99
    memory    resident memory after 10,000 and after 100,000 sentences, en-de and de-en in turn,
              and some seconds of rest; the same with all bundled models open
    peers     64 clients, over FastAPI with CTranslate2 (int8, beam 4, two workers)

`half` and `overload` let requests arrive at random times (Poisson), whether or not earlier ones
are answered. The clients run in this process and take a part of the same cores. `peers` needs
fastapi and ctranslate2. Measure on a machine that does nothing else.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path

from load.clients import (
    CLIENTS,
    Connection,
    beside,
    closed_loop,
    one_by_one,
    open_loop,
    quantile,
    request_of,
)
from load.rows import Row, table
from load.servers import PEERS, Process, our_service

STARTS = 5
ROUNDS = 3  # of two things that are measured in turn
LINES = 3000  # read of the file
MANY_LINES = 5000  # of the client that a single sentence is translated beside
ALONE = 200  # requests
DEADLINE = 2.0  # seconds that a request under overload may take
OVERLOAD = 3  # times the length of the other parts
WARM_UP = 3.0  # seconds
A_REQUEST = 100  # sentences, where memory is measured
REST = 6.0  # seconds; the service gives freed memory back every five
EARLY = 0.1  # the share of the sentences after which memory is measured first
PORT = 5071
FILE_SPEED = """
import sys, time, allyouneed
lines = open(sys.argv[1], encoding="utf-8").read().split("\\n")[:-1]
translator = allyouneed.load("en-de", threads=int(sys.argv[2]))
list(translator.translate_lines(lines[:500]))
began = time.perf_counter()
count = sum(1 for _ in translator.translate_lines(lines))
print(count / (time.perf_counter() - began))
"""


@dataclass
class Bench:
    """What the parts share: the sentences, a running service and its capacity."""

    sentences: list[str]
    seconds: float
    threads: int
    memory_sentences: int

    @property
    def memory_requests(self) -> int:
        """The number of requests after which memory is measured."""
        return max(2, self.memory_sentences // A_REQUEST)

    @cached_property
    def requests(self) -> list[bytes]:
        """A request for each sentence."""
        return [request_of(sentence) for sentence in self.sentences]

    @cached_property
    def service(self) -> Process:
        """A service that several parts ask."""
        return our_service(PORT, self.threads)

    @cached_property
    def warm(self) -> Process:
        """The service, after a while under load."""
        asyncio.run(closed_loop(self.service.port, self.requests, WARM_UP))
        return self.service

    @cached_property
    def capacity(self) -> float:
        """Sentences a second with 64 clients."""
        return self.speed(self.warm, self.seconds)

    def speed(self, process: Process, seconds: float) -> float:
        """Sentences a second that a server translates for 64 clients."""
        return asyncio.run(closed_loop(process.port, self.requests, seconds))

    def in_rounds(self, other: Callable[[], float]) -> tuple[float, float, float]:
        """The service's speed with 64 clients, the other speed, and the first over the second.
        They are measured in turn, because the machine's own speed changes. Medians."""
        found = [(self.speed(self.warm, self.seconds / ROUNDS), other()) for _ in range(ROUNDS)]
        ours, others = zip(*found, strict=True)
        ratios = [one / its for one, its in found]
        return statistics.median(ours), statistics.median(others), statistics.median(ratios)

    @cached_property
    def alone(self) -> float:
        """The median time of a request while there is no other, in seconds."""
        took = asyncio.run(one_by_one(self.warm.port, self.requests, ALONE))
        return statistics.median(took)

    def file_speed(self) -> float:
        """Lines a second of the same sentences as a file."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
            file.write("".join(f"{sentence}\n" for sentence in self.sentences))
            file.flush()
            command = [sys.executable, "-c", FILE_SPEED, file.name, str(self.threads)]
            return float(subprocess.run(command, capture_output=True, check=True).stdout)


def start(bench: Bench) -> Iterator[Row]:
    """The time until /ready."""
    took = []
    for _ in range(STARTS):
        process = our_service(PORT + 1, bench.threads)
        took.append(process.ready)
        process.stop()
    yield Row("start until /ready, s", statistics.median(took), 1.0, 0.4, most=True)


def clients(bench: Bench) -> Iterator[Row]:
    """64 clients over a file of lines."""
    ours, of_file, ratio = bench.in_rounds(bench.file_speed)
    yield Row("a file of lines, sentences a second", of_file)
    yield Row(f"{CLIENTS} clients, sentences a second", ours)
    yield Row(f"{CLIENTS} clients over a file of lines", ratio, 0.75, 0.95)


def half(bench: Bench) -> Iterator[Row]:
    """Latency at half of the capacity."""
    alone = bench.alone
    found = asyncio.run(
        open_loop(bench.service.port, bench.requests, bench.capacity / 2, bench.seconds)
    )
    p50, p99 = (quantile(found.took, share) / alone for share in (0.5, 0.99))
    yield Row("one sentence alone, ms", alone * 1000)
    yield Row("half of the capacity: p50 over alone", p50, 2, 1.3, most=True)
    yield Row("half of the capacity: p99 over alone", p99, 6, 3, most=True)
    yield Row("  the clients were late by at most, s", found.late)


def many(bench: Bench) -> Iterator[Row]:
    """One sentence beside 5,000 lines."""
    alone = bench.alone
    lines = [bench.sentences[n % len(bench.sentences)] for n in range(MANY_LINES)]
    heavy = request_of(lines, timeout=600)
    took = asyncio.run(beside(bench.service.port, bench.requests, heavy))
    figure = statistics.median(took) / alone
    yield Row(f"one sentence beside {MANY_LINES} lines, over alone", figure, 4, 2, most=True)


def overload(bench: Bench) -> Iterator[Row]:
    """Three times the capacity."""
    asked = [request_of(sentence, timeout=DEADLINE) for sentence in bench.sentences]
    rate, seconds = 3 * bench.capacity, OVERLOAD * bench.seconds
    found = asyncio.run(open_loop(bench.service.port, asked, rate, seconds))
    share = found.per_second / bench.capacity
    yield Row("three times the capacity: accepted over capacity", share, 0.9, 0.98)
    late = quantile(found.took, 0.99)
    yield Row("  p99 of the accepted, s (their deadline)", late, DEADLINE, DEADLINE, most=True)
    yield Row("  refused", found.refused)
    yield Row("  never sent, because 2,000 were under way", found.unsent)
    yield Row("  the clients were late by at most, s", found.late)


def memory(bench: Bench) -> Iterator[Row]:
    """Resident memory of two services, each of which translates both ways: with the two models that
    this takes, and with all bundled models."""
    early = max(1, int(EARLY * bench.memory_requests))
    after, before = bench.memory_requests * A_REQUEST, early * A_REQUEST
    first, last = _memory(bench, ("en-de", "de-en"), early)
    yield Row(f"resident memory after {after:,} sentences, MiB", last, 200, 120, most=True)
    yield Row(f"memory after {after:,} over after {before:,}", last / first, 1.03, 1.0, most=True)
    yield Row("  all bundled models, MiB", _memory(bench, (), early)[1])


def _memory(bench: Bench, models: Sequence[str], early: int) -> tuple[float, float]:
    """Mebibytes of a service of its own after `early` requests and after all."""
    process = our_service(PORT + 2, bench.threads, models)
    english = _chunks(bench.sentences)
    german = asyncio.run(in_turn(process.port, [request_of(one, timeout=600) for one in english]))
    asked = [
        request
        for one, other in zip(english, german, strict=True)
        for request in (
            request_of(one, timeout=600),
            request_of(other, "de", "en", timeout=600),
        )
    ]
    found = []
    for count in (early, bench.memory_requests - early):
        asyncio.run(in_turn(process.port, [asked[n % len(asked)] for n in range(count)]))
        time.sleep(REST)
        found.append(process.mebibytes)
    process.stop()
    return found[0], found[1]


def _chunks(sentences: list[str]) -> list[list[str]]:
    return [sentences[n : n + A_REQUEST] for n in range(0, len(sentences), A_REQUEST)]


async def in_turn(port: int, requests: list[bytes], clients: int = 4) -> list[list[str]]:
    """The translations of requests with many texts, which a few clients send in turn."""
    found: list[list[str]] = [[] for _ in requests]
    numbers = iter(range(len(requests)))

    async def client() -> None:
        connection = Connection(port)
        for number in numbers:
            status, answer = await connection.ask(requests[number])
            assert status == 200, answer[:200]
            found[number] = json.loads(answer)["translatedText"]
        connection.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return found


def peers(bench: Bench) -> Iterator[Row]:
    """FastAPI with CTranslate2, the way people write it, and with asynchronous batches."""
    if missing := [name for name in ("fastapi", "ctranslate2") if find_spec(name) is None]:
        print(f"peers: left out; pip install {' '.join(missing)}", flush=True)
        return
    from allyouneed.interop.ctranslate2 import export_ctranslate2
    from allyouneed.model_folder.folder import open_model_folder

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        export_ctranslate2(open_model_folder("en-de"), path, "int8")
        for name, program in PEERS.items():
            process = Process(["-c", program, str(path), str(PORT + 3)], PORT + 3)
            try:
                bench.speed(process, WARM_UP)
                _, _, ratio = bench.in_rounds(partial(bench.speed, process, bench.seconds / ROUNDS))
            except (asyncio.IncompleteReadError, OSError) as error:
                print(f"peers: {name}: hung up on its clients, left out: {error}", flush=True)
                continue
            finally:
                process.stop()
            what = f"{CLIENTS} clients over FastAPI with CTranslate2, {name}"
            yield Row(what, ratio, 4, 8)


Part = Callable[[Bench], Iterator[Row]]
PARTS: dict[str, Part] = {
    "start": start,
    "clients": clients,
    "half": half,
    "beside": many,
    "overload": overload,
    "memory": memory,
    "peers": peers,
}


def main() -> None:
    """Measures the parts that are asked for, and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sentences", type=Path, help="a text file, a sentence on each line")
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="this part; again for more (all)"
    )
    parser.add_argument("--seconds", type=float, default=20, help="of a load (%(default)s)")
    parser.add_argument(
        "--memory-sentences",
        type=int,
        default=100_000,
        help="translated where memory is measured (%(default)s)",
    )
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="(%(default)s)"
    )
    given = parser.parse_args()
    lines = given.sentences.read_text("utf-8").split("\n")
    sentences = [line for line in lines if line.strip()][:LINES]
    if not sentences:
        parser.error(f"{given.sentences} has no lines; give a text file with a sentence on each")
    bench = Bench(sentences, given.seconds, given.threads, given.memory_sentences)
    rows: list[Row] = []
    began = time.perf_counter()
    for name in given.part or PARTS:
        for row in PARTS[name](bench):
            rows.append(row)
            print(f"{name}: {'  '.join(cell for cell in row.cells() if cell)}", flush=True)
    if "service" in vars(bench):
        bench.service.stop()
    took = time.perf_counter() - began
    print(f"\n{_processor()}, {given.threads} threads, {len(sentences)} sentences, {took:.0f} s\n")
    print(table(rows))


def _processor() -> str:
    """The processor's name."""
    with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
