"""The intake: takes orders into the queue, refuses them, and withdraws them."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.serving.guard import ROUNDS
from allyouneed.serving.metrics import Metrics
from allyouneed.serving.order import Order
from allyouneed.serving.post import Post
from allyouneed.serving.queue import Queue
from allyouneed.serving.refusal import Refused
from allyouneed.serving.settings import Settings
from allyouneed.serving.shelf import ShelvedModel
from allyouneed.serving.visit import Visit, seconds_of
from allyouneed.translation.request import TranslationRequest

FEW_CHARACTERS = 1_000  # are cut into tokens in less time than an estimate saves
MANY_CHARACTERS = 20_000  # are prepared in a thread, so that others are answered meanwhile
CHARACTERS_A_TOKEN = 4  # about; an estimate before a text is cut into tokens
USABLE = 0.85  # of the time for a request; the rest is for errors of the estimated wait
MOST_SECONDS = 600  # that a client is told to wait before it tries again


@dataclass(frozen=True, slots=True)
class Ticket:
    """An order in the queue. `answer` is done when the order has ended."""

    order: Order
    answer: "asyncio.Future[None]"
    visit: Visit

    async def wait(self, grown: asyncio.Event | None = None) -> None:
        """Waits until the order has ended, or `grown` is set.

        Raises:
            ClientGone: the client hung up.
            Refused: the time was up, or the order failed.
        """
        await self.visit.wait_for(self.answer, grown)
        if self.order.error is not None:
            raise refusal_of(self.order.error) from self.order.error


class Intake:
    """Used from one event loop."""

    def __init__(self, settings: Settings, queue: Queue, metrics: Metrics) -> None:
        self.settings, self.queue, self.metrics = settings, queue, metrics
        self.post: Post | None = None  # to the event loop that the first request came from

    async def take(
        self,
        model: ShelvedModel,
        texts: Sequence[str],
        asked: TranslationRequest,
        visit: Visit,
        grown: asyncio.Event | None = None,
    ) -> Ticket:
        """Puts an order into the queue. `grown` is set each time that sentences were translated.

        Raises:
            Refused: the queue is full or too long for the deadline, or the texts cannot be cut.
        """
        characters = sum(map(len, texts))
        if characters > FEW_CHARACTERS:
            self._check(characters // CHARACTERS_A_TOKEN + len(texts), visit)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[None] = loop.create_future()

        post = self.post = self.post or Post(loop)

        def on_end(order: Order) -> None:
            if order.error is None:
                self.metrics.characters.inc(characters)
            post.put(partial(_set, answer))

        def on_found(_: Order) -> None:
            if grown is not None:
                post.put(grown.set)

        asked = replace(asked, direction=model.direction, protection=None)
        hear = None if grown is None else on_found
        arguments = (model.translator, texts, asked, visit.client, on_end, hear)
        try:
            if characters > MANY_CHARACTERS:
                order = await asyncio.to_thread(Order, *arguments)
            else:
                order = Order(*arguments)
        except AllYouNeedError as error:
            raise refusal_of(error) from error
        self._check(order.tokens, visit)
        self.queue.put(order)
        return Ticket(order, answer, visit)

    def withdraw(self, tickets: Sequence[Ticket], why: BaseException | None) -> None:
        """Removes the waiting sentences of these orders from the queue. `why` says why their
        request has ended."""
        stage = "late" if isinstance(why, Refused) else "gone"
        for one in tickets:
            if not one.answer.done():
                self.metrics.cancelled.labels(stage).inc(self.queue.cancel(one.order))

    def _check(self, tokens: int, visit: Visit) -> None:
        """Raises Refused if the queue is full, or too long for the request's deadline."""
        wait = self.queue.expected_wait(visit.client, tokens) + visit.to_answer
        if wait > USABLE * visit.seconds_left:
            raise self._refusal("deadline", wait - USABLE * visit.seconds_left)
        if self.queue.tokens + tokens > self.settings.queue_tokens:
            raise self._refusal("full", wait / 2)

    def hopeless(self, named: str | None, lag: float) -> Refused | None:
        """The refusal of a request that would be late whatever it asks for. `named` is its header
        with the seconds that it may take. To refuse it before it is read leaves more time for
        others."""
        try:
            patience = seconds_of(named, self.settings.deadline)
        except Refused:
            return None  # is told when the request is read
        late = self.queue.expected_wait("", 0) + 2 * ROUNDS * lag - USABLE * patience
        return self._refusal("deadline", late) if late > 0 else None

    def _refusal(self, reason: str, after: float) -> Refused:
        self.metrics.rejected.labels(reason).inc()
        return Refused(
            503,
            "too much is waiting to be translated in the time for this request; try again later",
            min(max(1, math.ceil(after)), MOST_SECONDS),
        )


def _set(answer: "asyncio.Future[None]") -> None:
    if not answer.done():
        answer.set_result(None)


def refusal_of(error: Exception) -> Refused:
    """The error that the client gets for an error in its translation."""
    if isinstance(error, ModuleNotFoundError):
        return Refused(501, f"this service lacks {error.name}, which the request needs")
    if isinstance(error, UsageError):
        return Refused(400, str(error))
    return Refused(500, "this text could not be translated")
