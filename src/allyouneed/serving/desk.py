"""The desk: takes texts from handlers, has them translated, gives the translations back."""

import asyncio
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache

from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import UsageError
from allyouneed.serving.detection import MISSING, Detector, Guess, decided, likelihood, unsure
from allyouneed.serving.intake import MANY_CHARACTERS, Intake, Ticket
from allyouneed.serving.metrics import Metrics
from allyouneed.serving.order import Order
from allyouneed.serving.queue import Queue
from allyouneed.serving.refusal import Refused
from allyouneed.serving.settings import Settings
from allyouneed.serving.shelf import Shelf, ShelvedModel
from allyouneed.serving.visit import Visit
from allyouneed.text.language_names import match, name_of
from allyouneed.translation.markup.carrying import Translate
from allyouneed.translation.markup.plain_text import ALWAYS, Sifted
from allyouneed.translation.pivot import joined_steps, options_of_the_first, refuse_terms
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.terms.glossary import Glossary

AUTO = "auto"
GREEDY = TranslationRequest(BeamOptions(beam=1), judged=False)
DETECTED_AT_A_TIME = 50  # texts, before other requests have a turn
READERS = 32  # requests with tags that are put together at a time; so many with text to protect


@dataclass(frozen=True, slots=True)
class TranslatedText:
    """A text's translation, and its language where that was detected."""

    translation: Translation
    source: str
    detected: Guess | None


class Desk:
    """Translates texts for all handlers: detects their languages, chooses the models, and waits
    for the queue. A process has one desk, which is used from one event loop."""

    def __init__(
        self, settings: Settings, shelf: Shelf, queue: Queue, detector: Detector, metrics: Metrics
    ) -> None:
        self.settings = settings
        self.shelf = shelf
        self.detector = detector
        self.intake = Intake(settings, queue, metrics)
        self.readers = ThreadPoolExecutor(READERS, "allyouneed readers")
        # A reader's thread waits while a text of its request is carried over. If the carriers ran
        # in the readers' threads too, all threads could wait, and none would be left to carry.
        self.carriers = ThreadPoolExecutor(READERS, "allyouneed carriers")

    def asked(
        self,
        n_best: int = 1,
        prefix: str = "",
        alignments: bool = False,
        *,
        beam: int | None = None,
        protect: bool = True,
        terms: Glossary | None = None,
        judged: bool = True,
    ) -> TranslationRequest:
        """A request to a translator, with the service's beam unless `beam` names another. With
        `protect`, addresses, placeholders, code and numbers stay as they are. Handlers whose
        answers show no confidence and no notes ask for translations that are not `judged`."""
        return TranslationRequest(
            _beam(max(beam or self.settings.beam, n_best), n_best),
            prefix,
            alignments,
            protection=ALWAYS if protect else None,
            terms=terms,
            judged=judged,
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

    def check_direction(self, source: str, target: str) -> None:
        """Raises Refused if there is no model for these languages, and no way through a third."""
        if (source, target) not in self.shelf.pivoted:
            self.model(source, target)

    def model(self, source: str, target: str) -> ShelvedModel:
        """The model of these languages.

        Raises:
            Refused: there is none.
        """
        found = self.shelf.models.get((source, target))
        if found is None and (via := self.shelf.pivoted.get((source, target))):
            raise Refused(
                400,
                f"{name_of(source)} is translated into {name_of(target)} through {name_of(via)}, "
                "which is possible for texts and documents alone",
            )
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
        """Counts texts and characters for the log, and checks them against the limits.

        Raises:
            Refused: too many characters or texts for one request.
        """
        self.check_characters(texts, visit)
        _check(visit.texts, self.settings.max_texts)

    def check_characters(self, texts: Sequence[str], visit: Visit) -> None:
        """As `check_size`, for the passages of a document, which may be any number.

        Raises:
            Refused: too many characters for one request.
        """
        visit.texts, visit.characters = len(texts), sum(map(len, texts))
        _check(visit.characters, self.settings.max_characters)

    async def detect(self, text: str, visit: Visit) -> list[Guess]:
        """Languages that the text may be in, the likeliest first.

        For a text of a few words the translation models help to decide: the likelier a model finds
        its own translation, the likelier is its source language.
        """
        if self.detector.loaded:
            guesses = self.detector.rank(text)
        else:
            guesses = await asyncio.to_thread(self.detector.rank, text)
        close = unsure(text, guesses) if text.strip() else []
        if len(close) < 2:
            return guesses
        targets = dict(reversed(self.shelf.models.keys()))  # the first, of the model of fewest
        tried = await asyncio.gather(
            *(
                self.translate([text], one.language, targets[one.language], GREEDY, visit)
                for one in close
            )
        )
        likelihoods = {
            one.language: likelihood(text, found.translation)
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
    ) -> list[TranslatedText]:
        """The texts' translations, in order; with AUTO each text has a language of its own.

        Raises:
            Refused: there is no model for these languages, or too much waits for the deadline.
            ClientGone: the client hung up.
        """
        detected = await self._detected(texts, visit) if source == AUTO else [None] * len(texts)
        languages = [guess.language if guess else source for guess in detected]
        by_language: dict[str, list[int]] = {}
        for number, language in enumerate(languages):
            by_language.setdefault(language, []).append(number)
        for language in by_language:
            if language != target:
                self.check_direction(language, target)
        pivoted = self.shelf.pivoted.keys()
        direct = [one for one in by_language if one != target and (one, target) not in pivoted]
        models = {language: self.model(language, target) for language in direct}
        made = {number: copied(texts[number]) for number in by_language.get(target, ())}
        waiting: list[tuple[list[int], Sifted, Ticket]] = []
        try:
            for language, model in models.items():
                numbers = by_language[language]
                mine = [texts[number] for number in numbers]
                sifted = await self.sifted(mine, language, target, asked)
                ticket = await self.intake.take(model, sifted.plain, asked, visit)
                waiting.append((numbers, sifted, ticket))
            for language, numbers in by_language.items():
                if (language, target) in pivoted:
                    mine = [texts[number] for number in numbers]
                    whole = await self._through(mine, language, target, asked, visit)
                    made |= zip(numbers, whole, strict=True)
            for numbers, sifted, ticket in waiting:
                await ticket.wait()
                language = languages[numbers[0]]
                whole = await self._whole(sifted, ticket.order, language, target, visit)
                made |= zip(numbers, whole, strict=True)
        finally:
            self.intake.withdraw([ticket for _, _, ticket in waiting], sys.exception())
        return [
            TranslatedText(made[number], language, detected[number])
            for number, language in enumerate(languages)
        ]

    async def _through(
        self,
        texts: Sequence[str],
        source: str,
        target: str,
        asked: TranslationRequest,
        visit: Visit,
    ) -> list[Translation]:
        """The texts' translations through a third language, as `translate_through` makes them."""
        via = self.shelf.pivoted[source, target]
        try:
            refuse_terms(asked.terms, source, via, target)
        except UsageError as error:
            raise Refused(400, str(error)) from error
        plain = replace(asked, options=options_of_the_first(asked.options), prefix="")
        begun = [one.translation for one in await self.translate(texts, source, via, plain, visit)]
        between = [one.text for one in begun]
        ended = await self.translate(between, via, target, asked, visit)
        return [
            joined_steps(one, other.translation, via)
            for one, other in zip(begun, ended, strict=True)
        ]

    async def _detected(self, texts: Sequence[str], visit: Visit) -> list[Guess | None]:
        """The language of each text. Other requests have their turns between texts."""
        found: list[Guess | None] = []
        for number, text in enumerate(texts):
            if number % DETECTED_AT_A_TIME == 0:
                await asyncio.sleep(0)
            found.append((await self.detect(text, visit))[0])
        return found

    async def sifted(
        self, texts: Sequence[str], source: str, target: str, asked: TranslationRequest
    ) -> Sifted:
        """The texts, sorted into plain lines and lines with something to carry over."""
        translator = self.model(source, target).translator
        normaliser = translator.segmenter.normaliser
        asked = replace(asked, set_phrases=translator.rules.set_phrases)
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
            asked = replace(sifted.request, protection=None)  # as `Translator` translates again
            translate = self.from_thread(source, target, asked, visit)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(
                self.carriers, sifted.translations, order.translations, translate
            )

    def from_thread(
        self, source: str, target: str, asked: TranslationRequest, visit: Visit
    ) -> Translate:
        """A function that translates sentences for readers of tags and documents. They run in other
        threads, which the function blocks until the sentences are translated. This method itself
        is called in the event loop."""
        loop = asyncio.get_running_loop()

        def translate(sentences: list[str], alignments: bool) -> list[Translation]:
            wanted = replace(asked, alignments=alignments)
            work = self.translate(sentences, source, target, wanted, visit)
            found = asyncio.run_coroutine_threadsafe(work, loop).result()
            return [one.translation for one in found]

        return translate


def _check(count: int, most: int) -> None:
    if count > most:
        raise Refused(400, f"Invalid request: request ({count}) exceeds text limit ({most})")


@lru_cache(maxsize=64)
def _beam(beam: int, n_best: int) -> BeamOptions:
    return BeamOptions(beam=beam, n_best=n_best)


def copied(text: str) -> Translation:
    """The translation of a text that is in the target language already."""
    return Translation(source=text, text=text, tokens=(), token_log_probabilities=())


class _MoreIsAsked(Exception):
    """More has to be translated."""


def _nobody(sentences: list[str], alignments: bool) -> list[Translation]:
    """Translates nothing."""
    raise _MoreIsAsked
