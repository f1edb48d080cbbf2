"""An order: the texts that one request wants translated by one model."""

import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from allyouneed.text.dressing import Dresser
from allyouneed.translation.found import Found
from allyouneed.translation.job import Job
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.translator import Translator


class Order:
    """The texts are cut into sentences, which may be translated in any order, several at a time.

    `client` names who asked, because the queue is fair between clients. `on_end` is called once,
    from the thread that translated the last sentence, when `translations` or `error` is set;
    `on_found` is called each time that sentences were translated. A cancelled order calls neither.
    """

    def __init__(
        self,
        translator: Translator,
        texts: Sequence[str],
        asked: TranslationRequest,
        client: str,
        on_end: "Callable[[Order], None]",
        on_found: "Callable[[Order], None] | None" = None,
    ) -> None:
        self.translator = translator
        self.job = Job.of(texts, asked, translator.segmenter)
        self.client = client
        # What sentences that are translated together have in common.
        self.lane = (translator, asked.options, asked.alignments, asked.direction, asked.terms)
        self.lengths = [len(ids) for ids in self.job.ids]
        self.tokens = sum(self.lengths)
        self.translations: list[Translation] = []
        self.error: Exception | None = None
        self.cancelled = False
        self._on_end, self._on_found = on_end, on_found
        self._lock = threading.Lock()
        self._found: dict[int, Found] = {}
        self._waiting = sorted(range(len(self.lengths)), key=self.lengths.__getitem__)
        self._taken = [False] * len(self.lengths)
        self._first = 0
        self._shown = self._shown_sentences = 0

    @property
    def exhausted(self) -> bool:
        """Whether every sentence of the order has left the queue."""
        return not self._waiting

    @property
    def waiting(self) -> int:
        """How many of its sentences wait."""
        return len(self._waiting)

    def first_waiting(self) -> int:
        """The number of the sentence that comes first in the texts, of those that wait."""
        while self._taken[self._first]:
            self._first += 1
        return self._first

    def take_like(self, length: int, most: int) -> int | None:
        """Takes out the waiting sentence whose length is nearest to `length`, and returns its
        number; None where that has more than `most` tokens."""
        lengths = self.lengths
        place = bisect_left(self._waiting, length, key=lengths.__getitem__)
        near = range(max(place - 1, 0), min(place + 1, len(self._waiting)))
        best = min(near, key=lambda at: abs(lengths[self._waiting[at]] - length))
        if lengths[self._waiting[best]] > most:
            return None
        return self._out(best)

    def take(self, number: int) -> int:
        """Takes out the sentence of this number."""
        place = bisect_left(self._waiting, self.lengths[number], key=self.lengths.__getitem__)
        return self._out(self._waiting.index(number, place))

    def _out(self, place: int) -> int:
        number = self._waiting.pop(place)
        self._taken[number] = True
        self.tokens -= self.lengths[number]
        return number

    def receive(self, found: Mapping[int, Found]) -> None:
        """Receives the search results of sentences, by the numbers of the sentences."""
        with self._lock:
            self._found.update(found)
            last = len(self._found) == len(self.lengths)
        if self.cancelled or self.error:
            return
        if last:
            self.end()
        elif self._on_found:
            self._on_found(self)

    @cached_property
    def _dresser(self) -> Dresser:
        """Dresses the translation of the first text while it grows."""
        asked = self.job.request
        prefix, language = asked.prefix.lstrip(), asked.direction.target
        return self.translator.segmenter.dresser(self.job.texts[0], prefix, language)

    def grown(self) -> str:
        """What has been translated of the first text from its beginning on, since the last call."""
        texts: list[str] = []
        tokenizer, given = self.translator.tokenizer, self.job.request.searched.given
        for segment in self.job.cuts[0].segments[self._shown :]:
            middle = ""
            if segment.text:
                if (one := self._found.get(self._shown_sentences)) is None:
                    break
                written = one.text(one.hypotheses[0], tokenizer, given)
                middle = segment.finished(written, self._dresser)
                self._shown_sentences += 1
            texts += (segment.before, middle, segment.after)
            self._shown += 1
        return "".join(texts)

    def end(self) -> None:
        """Puts the translations of the sentences together, which must all have been found."""
        try:
            found = [self._found[number] for number in range(len(self.lengths))]
            self.translations = self.job.translations(found, self.translator.segmenter)
        except Exception as error:
            self.error = error
        self._on_end(self)

    def fail(self, error: Exception) -> None:
        """Ends the order without translations."""
        with self._lock:
            first, self.error = self.error is None, self.error or error
        if first and not self.cancelled:
            self._on_end(self)
