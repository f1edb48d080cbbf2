"""The desk: takes texts from handlers, has them translated, gives the translations back."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.serving.detection import MISSING, Detector, Guess, decided, unsure
from allyouneed.serving.metrics import Metrics
from allyouneed.serving.order import Order
from allyouneed.serving.queue import Queue
from allyouneed.serving.refusal import ClientGone, Refused
from allyouneed.serving.settings import Settings
from allyouneed.serving.shelf import Shelf, ShelvedModel
from allyouneed.serving.visit import Visit
from allyouneed.text.language_names import match, name_of
from allyouneed.translation.joining import joined
from allyouneed.translation.markup.carrying import Translate
from allyouneed.translation.markup.plain_text import ALWAYS, Sifted
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.terms.glossary import Glossary

AUTO = "auto"
GREEDY = TranslationRequest(BeamOptions(beam=1))
MANY_CHARACTERS = 20_000  # are cut in a thread, so that others are answered meanwhile
READERS = 32  # requests with tags, or with text to protect, that are put together at a time
CHARACTERS_A_TOKEN = 4  # about, to judge a text before it is cut


@dataclass(frozen=True, slots=True)
class Found:
    """A text's translation, and its language where that was detected."""

    translation: Translation
    source: str
    detected: Guess | None


class Desk:
    """Where requests meet the models. One for each process; used from one event loop."""

    def __init__(
        self, settings: Settings, shelf: Shelf, queue: Queue, detector: Detector, metrics: Metrics
    ) -> None:
        self.settings = settings
        self.shelf = shelf
        self.queue = queue
        self.detector = detector
        self.metrics = metrics
        self.readers = ThreadPoolExecutor(READERS, "allyouneed readers")

    def asked(
        self,
        n_best: int = 1,
        prefix: str = "",
        alignments: bool = False,
        *,
        beam: int | None = None,
        protect: bool = True,
        terms: Glossary | None = None,
    ) -> TranslationRequest:
        """What a handler asks for, with the service's beam unless it names another. With `protect`
        addresses, placeholders, code and numbers come through as they are."""
        return TranslationRequest(
            BeamOptions(beam=max(beam or self.settings.beam, n_best), n_best=n_best),
            prefix,
            alignments,
            protection=ALWAYS if protect else None,
            terms=terms,
        )

    def source(self, code: str) -> str:
        """The source language that a client's code means; AUTO if it is to be detected.

        Raises:
            Refused: there is no model for it.
        """
        if code.lower() == AUTO:
            if not self.detector.available and len(self.shelf.sources) > 1:
                raise Refused(400, MISSING)
            return AUTO
        return self._known(code)

    def target(self, code: str) -> str:
        """The target language that a client's code means.

        Raises:
            Refused: there is no model for it.
        """
        return self._known(code)

    def model(self, source: str, target: str) -> ShelvedModel:
        """The model of these languages.

        Raises:
            Refused: there is none.
        """
        found = self.shelf.models.get((source, target))
        if found is None:
            raise Refused(
                400,
                f"{name_of(target)} ({target}) is not available as a target language from "
                f"{name_of(source)} ({source})",
            )
        return found

    def _known(self, code: str) -> str:
        found = match(code, self.shelf.codes)
        if found is None:
            raise Refused(400, f"{code[:20]} is not supported")
        return found

    def check_size(self, texts: Sequence[str], visit: Visit) -> None:
        """Counts the texts.

        Raises:
            Refused: too many characters or texts for one request.
        """
        visit.texts, visit.characters = len(texts), sum(map(len, texts))
        for count, most in (
            (visit.characters, self.settings.max_characters),
            (visit.texts, self.settings.max_texts),
        ):
            if count > most:
                raise Refused(
                    400, f"Invalid request: request ({count}) exceeds text limit ({most})"
                )

    async def detect(self, text: str, visit: Visit) -> list[Guess]:
        """Languages that the text may be in, the likeliest first.

        A few words are decided by the translation models too: whichever knows best what they mean.
        """
        if self.detector.loaded:
            guesses = self.detector.rank(text)
        else:
            guesses = await asyncio.to_thread(self.detector.rank, text)
        close = unsure(text, guesses) if text.strip() else []
        if len(close) < 2:
            return guesses
        targets = dict(self.shelf.models.keys())  # one for each source
        tried = await asyncio.gather(
            *(
                self.translate([text], one.language, targets[one.language], GREEDY, visit)
                for one in close
            )
        )
        likelihoods = {
            one.language: found.translation.average_log_likelihood
            for one, [found] in zip(close, tried, strict=True)
        }
        return decided(close, likelihoods)

    async def translate(
        self,
        texts: Sequence[str],
        source: str,
        target: str,
        asked: TranslationRequest,
        visit: Visit,
    ) -> list[Found]:
        """The texts' translations, in order; with AUTO each text has a language of its own.

        Raises:
            Refused: no model for these languages, too much to do in the time that there is.
            ClientGone: nobody waits for the answer any more.
        """
        found: list[Found | None] = [None] * len(texts)
        async for number, one in self.translate_each(texts, source, target, asked, visit):
            found[number] = one
        return [one for one in found if one is not None]

    async def translate_each(
        self,
        texts: Sequence[str],
        source: str,
        target: str,
        asked: TranslationRequest,
        visit: Visit,
    ) -> AsyncIterator[tuple[int, Found]]:
        """As `translate`, languages by turns: (number, translation) as they are there."""
        detected = [
            (await self.detect(text, visit))[0] if source == AUTO else None for text in texts
        ]
        languages = [guess.language if guess else source for guess in detected]
        by_language: dict[str, list[int]] = {}
        for number, language in enumerate(languages):
            by_language.setdefault(language, []).append(number)
        for language in by_language:
            if language != target:
                self.model(language, target)
        ordered: list[tuple[list[int], Sifted, Order, asyncio.Future[None]]] = []
        stage = "late"
        try:
            for language, numbers in by_language.items():
                mine = [texts[number] for number in numbers]
                if language == target:
                    for number, text in zip(numbers, mine, strict=True):
                        yield number, Found(_copied(text), language, detected[number])
                else:
                    sifted = await self._sifted(mine, language, target, asked)
                    placed = await self._order(sifted.plain, language, target, asked, visit)
                    ordered.append((numbers, sifted, *placed))
            for numbers, sifted, order, answer in ordered:
                await visit.wait_for(answer)
                if order.error is not None:
                    raise _refusal(order.error) from order.error
                language = languages[numbers[0]]
                whole = await self._whole(sifted, order, language, target, visit)
                for number, translation in zip(numbers, whole, strict=True):
                    yield number, Found(translation, languages[number], detected[number])
        except ClientGone:
            stage = "gone"
            raise
        finally:
            for _, _, order, answer in ordered:
                if not answer.done():
                    self.metrics.cancelled.labels(stage).inc(self.queue.cancel(order))

    async def _sifted(
        self, texts: Sequence[str], source: str, target: str, asked: TranslationRequest
    ) -> Sifted:
        """The texts, parted into what is translated as it is and what has to be carried."""
        normaliser = self.model(source, target).translator.segmenter.normaliser
        if sum(map(len, texts)) > MANY_CHARACTERS:
            return await asyncio.to_thread(Sifted.of, texts, asked, normaliser)
        return Sifted.of(texts, asked, normaliser)

    async def _whole(
        self, sifted: Sifted, order: Order, source: str, target: str, visit: Visit
    ) -> list[Translation]:
        """The translations of sifted texts, whose plain lines an order has translated. Only where
        more has to be translated, this takes a thread of its own."""
        try:
            return sifted.translations(order.translations, _nobody)
        except _MoreIsAsked:
            translate = self.from_thread(source, target, sifted.request, visit)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(
                self.readers, sifted.translations, order.translations, translate
            )

    def from_thread(
        self, source: str, target: str, asked: TranslationRequest, visit: Visit
    ) -> Translate:
        """What translates sentences for readers of tags and documents, which run in other threads:
        it waits there until they are translated. Called in the event loop."""
        loop = asyncio.get_running_loop()

        def translate(sentences: list[str], alignments: bool) -> list[Translation]:
            wanted = replace(asked, alignments=alignments, protection=None)
            work = self.translate(sentences, source, target, wanted, visit)
            found = asyncio.run_coroutine_threadsafe(work, loop).result()
            return [one.translation for one in found]

        return translate

    async def stream(
        self, text: str, source: str, target: str, asked: TranslationRequest, visit: Visit
    ) -> AsyncIterator[str | Found]:
        """The translation of a text as it grows, in pieces, and at the end all about it.

        A text with something to protect, or with a number that has to be there, grows by lines.

        Raises:
            As `translate`.
        """
        detected = (await self.detect(text, visit))[0] if source == AUTO else None
        language = detected.language if detected else source
        if language == target:
            yield text
            yield Found(_copied(text), language, detected)
            return
        sifted = await self._sifted([text], language, target, asked)
        if sifted.is_parted:
            async for one in self._stream_lines(sifted, language, target, visit):
                yield one if isinstance(one, str) else replace(one, detected=detected)
            return
        grown = asyncio.Event()
        order, answer = await self._order([text], language, target, asked, visit, grown)
        try:
            while not answer.done():
                grown.clear()
                if piece := order.grown():
                    yield piece
                await visit.wait_for(answer, grown)
            if order.error is not None:
                raise _refusal(order.error) from order.error
            if piece := order.grown():
                yield piece
            yield Found(order.translations[0], language, detected)
        finally:
            if not answer.done():
                self.metrics.cancelled.labels("gone").inc(self.queue.cancel(order))

    async def _stream_lines(
        self, sifted: Sifted, source: str, target: str, visit: Visit
    ) -> AsyncIterator[str | Found]:
        """As `stream`, for a text in lines, which are translated at the same time."""
        [text], asked = sifted.texts, sifted.request
        several = isinstance(asked.options, BeamOptions) and asked.options.n_best > 1
        if asked.alignments or several:  # are known of the whole alone
            [found] = await self.translate([text], source, target, asked, visit)
            yield found.translation.text
            yield found
            return
        lines = [(line, end) for line, end, _ in sifted.growing_lines()]
        tasks = [
            asyncio.create_task(self.translate([line], source, target, asked, visit))
            for line, _ in lines
        ]
        made: list[Translation] = []
        try:
            for task, (_, end) in zip(tasks, lines, strict=True):
                [one] = await task
                made.append(one.translation)
                yield one.translation.text + end
        finally:
            for task in tasks:
                task.cancel()
        ends = [end for _, end in lines]
        yield Found(joined(text, made, ends, sifted.notes[0]), source, None)

    async def _order(
        self,
        texts: Sequence[str],
        source: str,
        target: str,
        asked: TranslationRequest,
        visit: Visit,
        grown: asyncio.Event | None = None,
    ) -> "tuple[Order, asyncio.Future[None]]":
        """An order in the queue, and what is done when it is; `grown` is set as it grows."""
        characters = sum(map(len, texts))
        self._check_queue(characters // CHARACTERS_A_TOKEN + len(texts), visit)
        loop = asyncio.get_running_loop()
        answer = loop.create_future()

        def on_end(_: Order) -> None:
            loop.call_soon_threadsafe(_set, answer)

        def on_found(_: Order) -> None:
            if grown is not None:
                loop.call_soon_threadsafe(grown.set)

        model = self.model(source, target)
        asked = replace(asked, direction=model.direction, protection=None)
        hear = on_found if grown is not None else None
        arguments = (model.translator, texts, asked, visit.client, on_end, hear)
        try:
            if characters > MANY_CHARACTERS:
                order = await asyncio.to_thread(Order, *arguments)
            else:
                order = Order(*arguments)
        except AllYouNeedError as error:
            raise _refusal(error) from error
        self._check_queue(order.tokens, visit)
        self.queue.put(order)
        return order, answer

    def _check_queue(self, tokens: int, visit: Visit) -> None:
        """Raises Refused if the queue is full, or too long for the request's deadline."""
        wait = self.queue.expected_wait(visit.client, tokens)
        if wait > visit.seconds_left:
            reason, after = "deadline", wait - visit.seconds_left
        elif self.queue.tokens + tokens > self.settings.queue_tokens:
            reason, after = "full", wait / 2
        else:
            return
        self.metrics.rejected.labels(reason).inc()
        raise Refused(
            503,
            "too much is waiting to be translated in the time for this request; try again later",
            min(max(1, math.ceil(after)), 600),
        )


def _set(answer: "asyncio.Future[None]") -> None:
    if not answer.done():
        answer.set_result(None)


def _copied(text: str) -> Translation:
    return Translation(source=text, text=text, tokens=(), token_log_probabilities=())


class _MoreIsAsked(Exception):
    """More has to be translated."""


def _nobody(sentences: list[str], alignments: bool) -> list[Translation]:
    """Translates nothing."""
    raise _MoreIsAsked


def _refusal(error: Exception) -> Refused:
    """What the client is told of an error in its translation."""
    if isinstance(error, ModuleNotFoundError):
        return Refused(501, f"this service lacks {error.name}, which the request needs")
    if isinstance(error, UsageError):
        return Refused(400, str(error))
    return Refused(500, "this text could not be translated")
