"""The crew: threads that translate the sentences that wait in the queue."""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event

from allyouneed.engine.leaving import ended_by
from allyouneed.serving.order import Order
from allyouneed.serving.queue import LaneBatch, Queue
from allyouneed.translation.found import Found
from allyouneed.translation.job import Job

STOP_SECONDS = 30.0  # given to what runs when a service ends
NICE = 3  # added to the niceness of a worker's thread; threads with a lower one go first

OnBatch = Callable[[LaneBatch, float], None]


class Crew:
    """`threads` workers, and one more for light clients while all of them work for heavy ones.

    Each worker translates one batch at a time, on one core. `on_batch` is called with
    every batch and its seconds. If a batch of several sentences fails, they are translated again
    one by one, so that only the sentence at fault fails.
    """

    def __init__(self, queue: Queue, threads: int, on_batch: OnBatch | None = None) -> None:
        self.queue = queue
        self._on_batch = on_batch
        queue.workers = threads
        self._threads = [
            threading.Thread(target=self._work, args=(n == threads,), daemon=True)
            for n in range(threads + 1)
        ]

    def start(self) -> None:
        """Begins to work."""
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float | None = None) -> None:
        """Translates what is waiting, then ends. Returns after `seconds` at the latest."""
        self.queue.close()
        until = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))

    def _work(self, express: bool) -> None:
        if not express:
            step_back()
        while (batch := self.queue.take(express)) is not None:
            began = time.perf_counter()
            try:
                self._translate(batch.sentences, batch.left)
            except Exception as error:  # outside of a search; the worker goes on
                for order in batch.orders:
                    order.fail(error)
            finally:
                seconds = time.perf_counter() - began
                self.queue.done(batch, seconds)
                if self._on_batch:
                    self._on_batch(batch, seconds)

    def _translate(self, sentences: list[tuple[Order, int]], left: Event) -> None:
        sentences = [one for one in sentences if not one[0].cancelled]
        if not sentences:
            return
        try:
            with ended_by(left, lambda number: _is_gone(sentences, number)):
                found = sentences[0][0].translator.search(together(sentences))
        except Exception as error:
            if len(sentences) == 1:
                sentences[0][0].fail(error)
                return
            for one in sentences:
                self._translate([one], left)
            return
        by_order: dict[Order, dict[int, Found]] = {}
        for (order, number), result in zip(sentences, found, strict=True):
            by_order.setdefault(order, {})[number] = result
        for order, own in by_order.items():
            order.receive(own)


def _is_gone(sentences: list[tuple[Order, int]], number: int) -> bool:
    """Whether the sentence of this number in a search has been cancelled. Higher numbers are
    lower-case copies, which are never cancelled."""
    return number < len(sentences) and sentences[number][0].cancelled


def step_back() -> None:
    """Gives the threads that answer, and that serve light clients, precedence over this one."""
    if sys.platform == "linux":
        with suppress(OSError):
            thread = threading.get_native_id()
            own = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, own + NICE)


def together(sentences: list[tuple[Order, int]]) -> Job:
    """Sentences of several orders of one lane, as one job."""
    orders = dict.fromkeys(order for order, _ in sentences)
    first = next(iter(orders))
    with_prefix = any(order.job.prefixes for order in orders)
    return Job(
        first.job.request,
        (),
        (),
        [order.job.segments[number] for order, number in sentences],
        [order.job.ids[number] for order, number in sentences],
        [order.job.prefixes[number] if order.job.prefixes else [] for order, number in sentences]
        if with_prefix
        else None,
    )
