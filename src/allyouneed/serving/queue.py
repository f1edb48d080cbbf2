"""The queue: sentences of all requests, until a worker is free to translate them together."""

import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from allyouneed.serving.order import Order

BATCH_TOKENS = 768  # source tokens translated together
BATCH_SENTENCES = 32
HEAVY = BATCH_TOKENS  # waiting tokens; a client with more of them counts as heavy


@dataclass(frozen=True, slots=True, eq=False)
class LaneBatch:
    """Sentences of one lane (model and asked) that are translated together: (order, number).

    `left` is set when nobody needs any of them any more.
    """

    sentences: list[tuple[Order, int]]
    tokens: int
    heavy: bool
    left: threading.Event = field(default_factory=threading.Event)

    @property
    def orders(self) -> list[Order]:
        """Each order that has a sentence in the batch, once."""
        return list(dict.fromkeys(order for order, _ in self.sentences))


class Queue:
    """Holds orders and gives batches to free workers, at once: no batch waits to become fuller.

    A batch has at most a worker's share of the waiting sentences, because it ends for all of its
    sentences at once: those that it leaves are translated sooner by the worker that is free next.

    Clients take turns. The client whose turn it is begins a batch with its first sentence; the
    batch is filled with sentences of like length, one from each client in turn. A light
    client is not held up by a heavy one: light and heavy clients share no batch, and
    `take(express=True)` serves light clients while all workers are busy with heavy ones.
    """

    def __init__(
        self, batch_tokens: int = BATCH_TOKENS, batch_sentences: int = BATCH_SENTENCES
    ) -> None:
        self.batch_tokens, self.batch_sentences = batch_tokens, batch_sentences
        self.tokens = 0  # that wait
        self.sentences = 0
        self.workers = 0
        self.closed = False
        self.rate = Rate()
        self._clients: OrderedDict[str, deque[Order]] = OrderedDict()
        self._running: set[LaneBatch] = set()  # that were taken and are not done
        lock = threading.RLock()
        self._free = threading.Condition(lock)  # workers wait for sentences
        self._light = threading.Condition(lock)  # the worker for light clients waits for its turn

    @property
    def running(self) -> int:
        """Batches that are being translated."""
        return len(self._running)

    def put(self, order: Order) -> None:
        """Adds an order behind those of its client. One without sentences ends at once."""
        if order.exhausted:
            order.end()
            return
        with self._free:
            self._clients.setdefault(order.client, deque()).append(order)
            self.tokens += order.tokens
            self.sentences += len(order.lengths)
            self._wake(all=len(order.lengths) > 1)

    def cancel(self, order: Order) -> int:
        """Takes an order's waiting sentences out, and returns their number.

        A search that works for cancelled orders alone ends within a step. A search that also works
        for other orders goes on for these alone (`engine.leaving`).
        """
        with self._free:
            order.cancelled = True
            for batch in self._running:
                if all(one.cancelled for one in batch.orders):
                    batch.left.set()
            orders = self._clients.get(order.client)
            if orders is None or order not in orders:
                return 0
            orders.remove(order)
            if not orders:
                del self._clients[order.client]
            self.tokens -= order.tokens
            self.sentences -= order.waiting
            return order.waiting

    def take(self, express: bool = False) -> LaneBatch | None:
        """Waits for the next batch and returns it; None when the queue is closed and empty."""
        with self._free:
            while True:
                batch = self._light_batch() if express else self._next_batch()
                if batch is not None:
                    self._running.add(batch)
                    if batch.heavy or self.closed:  # something new for those who wait in `take`
                        self._wake()
                    return batch
                if self.closed and not self._clients:
                    return None
                (self._light if express else self._free).wait()

    def done(self, batch: LaneBatch, seconds: float) -> None:
        """Takes note that a batch was translated, and of the seconds that this took."""
        with self._free:
            self._running.remove(batch)
            if not batch.left.is_set():
                self.rate.add(batch.tokens, seconds)

    def close(self) -> None:
        """No more orders come; `take` gives out what waits, and then None."""
        with self._free:
            self.closed = True
            self._wake()

    def expected_wait(self, client: str, tokens: int) -> float:
        """Estimated seconds until a new order with this number of tokens would be done. The
        estimate is 0 before the first batch.

        Clients take turns by sentences, so a short order waits for a sentence of each of them.
        """
        with self._free:
            own = sum(order.tokens for order in self._clients.get(client, ())) + tokens
            others = self.tokens + tokens
            clients = len(self._clients) + (client not in self._clients)
            speed = self.rate.tokens_per_second * max(self.workers, 1)
            turn = max(own, self.tokens / max(self.sentences, 1))
        return min(others, turn * clients) / speed if speed else 0.0

    def _wake(self, all: bool = True) -> None:
        """Wakes all workers who wait, or one of them; and the one for light clients if there is
        work for it. Each thread that wakes in vain takes time from those that answer."""
        self._free.notify(max(self.workers, 1) if all else 1)
        if self.closed or self._all_are_heavy():
            self._light.notify()

    def _all_are_heavy(self) -> bool:
        """Whether all workers are busy with heavy clients."""
        return sum(batch.heavy for batch in self._running) >= self.workers

    def _next_batch(self) -> LaneBatch | None:
        client = next(iter(self._clients), None)
        return None if client is None else self._batch(client)

    def _light_batch(self) -> LaneBatch | None:
        if not self._all_are_heavy():
            return None
        client = next((client for client in self._clients if not self._is_heavy(client)), None)
        return None if client is None else self._batch(client)

    def _is_heavy(self, client: str) -> bool:
        tokens = 0
        for order in self._clients[client]:
            tokens += order.tokens
            if tokens > HEAVY:
                return True
        return False

    def _batch(self, first: str) -> LaneBatch:
        """A batch that this client begins."""
        heavy = self._is_heavy(first)
        most = min(self.batch_sentences, -(-self.sentences // max(self.workers, 1)))
        order = self._clients[first][0]
        number = order.take(order.first_waiting())
        length = order.lengths[number]
        sentences, tokens = [(order, number)], length
        served = {first: None}  # in the order in which they were served
        self._count_out(first, order, length)
        turn = [*(client for client in self._clients if client != first), first]
        while turn:
            remaining: list[str] = []
            for client in turn:
                if len(sentences) >= most or tokens >= self.batch_tokens:
                    remaining = []
                    break
                if client not in self._clients or self._is_heavy(client) != heavy:
                    continue
                found = self._like(client, order.lane, length, self.batch_tokens - tokens)
                if found is None:
                    continue
                sentences.append(found)
                taken = found[0].lengths[found[1]]
                tokens += taken
                served[client] = None
                self._count_out(client, found[0], taken)
                remaining.append(client)
            turn = remaining
        for client in served:
            if client in self._clients:
                self._clients.move_to_end(client)
        return LaneBatch(sentences, tokens, heavy)

    def _like(self, client: str, lane: object, length: int, most: int) -> tuple[Order, int] | None:
        """A waiting sentence of the client for a batch of this lane, near to this length."""
        for order in self._clients[client]:
            if order.lane == lane:
                number = order.take_like(length, most)
                return None if number is None else (order, number)
        return None

    def _count_out(self, client: str, order: Order, tokens: int) -> None:
        self.tokens -= tokens
        self.sentences -= 1
        if order.exhausted:
            orders = self._clients[client]
            orders.remove(order)
            if not orders:
                del self._clients[client]


class Rate:
    """Source tokens that a worker translates in a second, averaged over the last batches."""

    def __init__(self, memory: float = 0.98) -> None:
        self.memory = memory
        self._tokens = self._seconds = 0.0

    @property
    def tokens_per_second(self) -> float:
        """0 before the first batch."""
        return self._tokens / self._seconds if self._seconds else 0.0

    def add(self, tokens: int, seconds: float) -> None:
        """Takes in one batch."""
        self._tokens = self._tokens * self.memory + tokens
        self._seconds = self._seconds * self.memory + seconds
