"""Measures the live view's budgets with the bundled model. Prints each measurement with its limit.
The exit code is 1 if a limit is exceeded.

- From click to new translation: at most twice the time in which the core engine decodes the
  sentence, plus 100 ms. Each head is switched off in turn, over HTTP, alternating with decoding.
- The page is ready within 1 s after the model is loaded.
- With 256 tokens, less than 5 MB are transferred before the first view.
- A saved file of 30 tokens has less than 2 MB.

Times are measured over HTTP until the last byte, without the time that a browser needs to draw.

    python benchmarks/look.py [--threads N] [--rounds N]
"""

import argparse
import json
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import torch

from allyouneed.insight.names import heads
from allyouneed.loading import load
from allyouneed.translation.translator import Translator
from allyouneed.widget.page import Start
from allyouneed.widget.saved import save
from allyouneed.widget.server import PageServer
from allyouneed.widget.session import Session

SENTENCE = "A man in a blue shirt is standing on a ladder cleaning a window."
THIRTY = (
    "A man in a blue shirt is standing on a ladder cleaning a window while two women are talking "
    "to each other in the street near the old station."
)
CLICK_RATIO, CLICK_MORE = 2.0, 0.1  # seconds
READY = 1.0  # seconds
FIRST_VIEW, SAVED = 5_000_000, 2_000_000  # bytes


def main() -> None:
    """Measures every budget and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    translator = load("en-de", engine="core")
    kept = [
        click(translator, arguments.rounds),
        ready(translator, arguments.rounds),
        first_view(translator),
        saved_file(translator),
    ]
    sys.exit(0 if all(kept) else 1)


def click(translator: Translator, rounds: int) -> bool:
    """Switches off one head after the other, over HTTP, alternating with decoding the sentence."""
    begin = Start.of([SENTENCE], 4, 1)
    budgets: list[float] = []
    ratios: list[float] = []
    with served(translator, begin) as page:
        page.first_view(begin)
        for head in heads(translator.model)[: rounds + 1]:
            decoding = seconds(lambda: translator(SENTENCE, beam=4))
            state = begin.states[0].without(head).to_json()
            new = seconds(lambda state=state: page.ask("translate", {"state": state}))
            ratios.append(new / decoding)
            budgets.append(new / (CLICK_RATIO * decoding + CLICK_MORE))
    return told(
        "click to new translation / decoding it",
        f"{spread(ratios[1:])}; share of the limit {spread(budgets[1:])}",
        statistics.median(budgets[1:]) <= 1,
    )


def ready(translator: Translator, rounds: int) -> bool:
    """The time from starting a new server and session until the whole first view is received."""
    begin = Start.of([SENTENCE], 4, 1)
    took = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        with served(translator, begin) as page:
            page.first_view(begin)
            took.append(time.perf_counter() - began)
    return told(
        f"page ready / {READY:.0f} s", spread(took[1:]), statistics.median(took[1:]) <= READY
    )


def first_view(translator: Translator) -> bool:
    """The bytes transferred for a text of as many tokens as fit, up to 256."""
    words = (THIRTY + " ") * 20
    longest = min(256, translator.config.max_positions)
    while len(translator.tokenizer.encode(words.strip()).ids) > longest:
        words = words.strip().rpartition(" ")[0]
    begin = Start.of([words], 1, 1)
    with served(translator, begin) as page:
        page.first_view(begin)
        moved = page.moved
    tokens = len(translator.tokenizer.encode(words).ids)
    return told(
        f"{tokens} tokens, before the first view", f"{moved / 1e6:.2f} MB of 5", moved < FIRST_VIEW
    )


def saved_file(translator: Translator) -> bool:
    """The size of the file that --html writes."""
    begin = Start.of([THIRTY], 4, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "view.html"
        save(Session([translator], ["en-de"]), begin, path)
        size = path.stat().st_size
    tokens = len(translator.tokenizer.encode(THIRTY).ids)
    return told(f"saved file, {tokens} tokens", f"{size / 1e6:.2f} MB of 2", size < SAVED)


class Page:
    """Sends a browser's requests to the server, and counts the bytes received."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.moved = 0

    def first_view(self, begin: Start) -> None:
        """Requests everything for the first view: the page, a translation, its small maps, and the
        first head's matrix."""
        for part in ("", "view.css", "start.js", "view.js"):
            self.get(part)
        self.ask("about", {})
        id = self.ask("translate", {"state": begin.states[0].to_json()})["id"]
        for kind in ("encoder", "decoder", "cross"):
            self.ask("maps", {"id": id, "kind": kind, "lens": "raw"})
        self.ask("metrics", {"id": id})
        self.ask("attention", {"id": id, "kind": "cross", "layer": 0, "lens": "raw"})

    def ask(self, kind: str, payload: dict[str, Any]) -> Any:
        """The JSON of an answer."""
        body = json.dumps({"kind": kind, "payload": payload}).encode()
        packed = self.get("ask?page=1", body)
        (length,) = struct.unpack_from("<I", packed)
        answer = json.loads(packed[4 : 4 + length])["json"]
        if "error" in answer:
            raise SystemExit(answer["error"])
        return answer

    def get(self, part: str, body: bytes | None = None) -> bytes:
        """The bytes of an answer."""
        headers = {"Content-Type": "application/json"} if body else {}
        with urlopen(Request(self.address + part, body, headers), timeout=60) as answer:
            found: bytes = answer.read()
        self.moved += len(found) + len(body or b"")
        return found


@contextmanager
def served(translator: Translator, begin: Start) -> Iterator[Page]:
    """A new server with a new session."""
    session = Session([translator], ["en-de"])
    with PageServer(session.ask, begin) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Page(server.address)
        finally:
            server.shutdown()
            thread.join()


def seconds(deed: Any) -> float:
    """The seconds that deed() takes."""
    began = time.perf_counter()
    deed()
    return time.perf_counter() - began


def spread(values: list[float]) -> str:
    """Median and range."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} … {max(values):.2f})"


def told(what: str, found: str, kept: bool) -> bool:
    """Prints a budget's line. Returns whether the limit was kept."""
    print(f"{what}: {found}: {'kept' if kept else 'BROKEN'}", flush=True)
    return kept


if __name__ == "__main__":
    main()
