"""The front door: a model folder in, then text in, text out."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any, Unpack, overload

from allyouneed.checks import expect_list
from allyouneed.decoding.options import BeamOptions, at_least, check_streamable
from allyouneed.pipeline import ahead
from allyouneed.translation.arguments import check_many, check_prefix, check_tags, texts_of
from allyouneed.translation.found import Found
from allyouneed.translation.job import Job
from allyouneed.translation.keywords import (
    Call,
    Keywords,
    LineKeywords,
    SearchKeywords,
    TextKeywords,
    call_of,
    search_options,
)
from allyouneed.translation.markup.plain_text import Sifted, protection_of
from allyouneed.translation.opened import OpenedModel
from allyouneed.translation.pivot import READ_AHEAD, Relay
from allyouneed.translation.request import Options, TranslationRequest
from allyouneed.translation.result import Score, Translation
from allyouneed.translation.stream import Stream
from allyouneed.translation.terms.files import Terms, glossary_from
from allyouneed.translation.terms.glossary import Glossary

__all__ = ["Score", "Translation", "Translator"]


class Translator(OpenedModel):
    """Translates with one model. Call it with a text or a list of texts.

    The notes on a text are in its translation. The translator's own `notes` say how it was opened.
    """

    @overload
    def __call__(
        self, text: str, beam: int = 4, n_best: int = 1, **keywords: Unpack[Keywords]
    ) -> Translation: ...

    @overload
    def __call__(
        self,
        text: list[str] | tuple[str, ...],
        beam: int = 4,
        n_best: int = 1,
        **keywords: Unpack[Keywords],
    ) -> list[Translation]: ...

    def __call__(
        self,
        text: str | list[str] | tuple[str, ...],
        beam: int = 4,
        n_best: int = 1,
        *,
        options: Options | None = None,
        prefix: str = "",
        alignments: bool = False,
        source: str | None = None,
        target: str | None = None,
        markup: str | None = None,
        ignore_tags: Sequence[str] = (),
        protect: bool | Sequence[str] = True,
        terms: Terms | None = None,
        **search: Unpack[SearchKeywords],
    ) -> Translation | list[Translation]:
        """Translates a text, or a list of them in batches of like length, in order.

        The beam is `beam` wide, and at least `n_best`. `search` are further options by name, such
        as `length_penalty=1.0` or `sample=True` (`SearchKeywords`); `options` say all of it in one
        value instead. Every translation begins with `prefix`. `alignments` also fills `alignment`.
        `source` and `target` name the languages, where the model has more than one direction
        (`directions`). White space around a text and its line ends stay as they are. Each line is
        translated by itself. A line longer than the model knows is translated in parts, with a
        note. A sample follows from the seed and the text alone.

        Addresses, e-mail addresses, placeholders such as `{name}` and `%s`, code in back-ticks,
        hashtags and paths come through to the letter, and so do names (of streets with their
        numbers, files, people) that the model would change. Numbers of two digits or more come
        through as the target language writes them, as do sums, amounts and times. The model
        sees a line that holds such spans sentence by sentence, with a name or a number in the place
        of each. `tokens` and their log-probabilities then belong to the model's own output;
        `alignment` counts the words of `source` and of `text`, as always. A note names each span
        that could not be carried over. `protect=False` gives the model every text as it is, as a
        call with a `prefix` does; `protect=[r"Acme \\w+"]` protects what these regular expressions
        match as well.

        `markup` is "html" or "xml" for texts with tags: sentences are translated whole, and every
        tag comes back around the words that come from its words. The content of elements named in
        `ignore_tags` stays as it is. So do amounts such as "5 kg".

        Where the model has directions from `source` into a third language and from there into
        `target`, but none from `source` into `target`, the text goes through the third language
        (`translate_through`). A note says so.

        `terms` prescribe translations of words, such as {"bike": "Rad|Räder"}: a mapping, a
        `Glossary`, or the path of a .tsv, .csv or .tbx file. A translation's `terms` say where each
        was used.

        Raises:
            UsageError: a text, an option, a prefix, a language or a term that cannot be used.
            DataError: a file of terms that cannot be read.
            AllYouNeedError: memory too short for a single sentence.
        """
        if markup not in (None, "text") or ignore_tags:
            check_tags(markup, ignore_tags, protect, bool(alignments or prefix or n_best > 1))
            how: dict[str, Any] = {"source": source, "target": target}
            known = None if terms is None else self.glossary(terms, **how)
            how |= {"beam": beam, "options": options, "terms": known, **search}
            found = self._marked(texts_of(text), markup or "text", ignore_tags, protect, how)
            return found[0] if isinstance(text, str) else found
        call = Call(
            options=search_options(beam, n_best, options, search),
            prefix=prefix,
            alignments=alignments,
            source=source,
            target=target,
            protect=protect,
            terms=terms,
        )
        texts = texts_of(text)
        if relay := self._relay(call.source, call.target):
            found = relay(texts, **call.keywords)
        else:
            found = self._translated(texts, self._request(call))
        return found[0] if isinstance(text, str) else found

    def _request(self, call: Call) -> TranslationRequest:
        """The call, with its languages, terms and expressions looked up."""
        return TranslationRequest(
            call.options,
            call.prefix,
            call.alignments,
            self.speaks.direction(call.source, call.target),
            protection_of(call.protect),
            None if call.terms is None else self.glossary(call.terms, call.source, call.target),
            set_phrases=self.rules.set_phrases,
        )

    def _marked(
        self,
        texts: list[str],
        markup: str,
        ignore_tags: Sequence[str],
        protect: bool | Sequence[str],
        how: dict[str, Any],
    ) -> list[Translation]:
        """The translations of texts with tags. `how` has the keywords of the calls that translate
        their sentences."""
        from allyouneed.translation.markup.marked_text import translate_marked

        return translate_marked(
            lambda sentences, alignments: self(sentences, alignments=alignments, **how),
            texts,
            markup,
            ignore_tags=ignore_tags,
            protect=() if isinstance(protect, bool) else protect,
            languages=self._languages(how["source"], how["target"]),
        )

    def _languages(self, source: str | None, target: str | None) -> tuple[str, str]:
        """The codes of source and target, "" where the user did not name one that the model can
        choose."""
        if self._relay(source, target):
            return str(source), str(target)
        direction = self.speaks.direction(source, target)
        return direction.source, direction.target

    def _relay(self, source: str | None, target: str | None) -> Relay | None:
        """This translator in two steps, where its model has no direction from `source` into
        `target` but a way through a third language."""
        via = self.speaks.between(source, target)
        return Relay(self, self, source=str(source), via=via, target=str(target)) if via else None

    def _translated(self, texts: Sequence[str], request: TranslationRequest) -> list[Translation]:
        """The translations of texts that are together in memory."""
        sifted = Sifted.of(texts, request, self.segmenter.normaliser)
        job = Job.of(sifted.plain, request, self.segmenter)
        return self._whole(sifted, job, self.search(job))

    def _whole(self, sifted: Sifted, job: Job, found: Sequence[Found]) -> list[Translation]:
        """The translations of texts, from what the search `found` for the parts that hold nothing
        to protect. The other parts are translated here."""

        def translate(texts: list[str], alignments: bool) -> list[Translation]:
            asked = replace(sifted.request, alignments=alignments, protection=None)
            return self._translated(texts, asked)

        return sifted.translations(job.translations(found, self.segmenter), translate)

    def translate_lines(
        self,
        lines: Iterable[str],
        beam: int = 4,
        n_best: int = 1,
        *,
        options: Options | None = None,
        read_ahead: int = READ_AHEAD,
        **keywords: Unpack[LineKeywords],
    ) -> Iterator[Translation]:
        """Translates lines as they arrive, and returns the translations in order. `read_ahead`
        lines are translated together, and at most five times as many are in memory.

        Threads read and tokenise some lines while others are decoded.
        `keywords` are those of a call, without those for markup.

        Raises:
            UsageError: options, a prefix, languages or a `read_ahead` that cannot be used; a single
                text.
        """
        check_many("translate_lines", lines)
        at_least("read_ahead", read_ahead, 1)
        call, remaining = call_of(beam, n_best, options, keywords), iter(lines)
        together = min(read_ahead, sys.maxsize)  # the largest number that `islice` takes
        chunks = iter(lambda: list(islice(remaining, together)), [])
        return (translation for chunk in self._chunks(chunks, call) for translation in chunk)

    def translate_chunks(
        self,
        chunks: Iterable[Sequence[str]],
        options: Options | None = None,
        **keywords: Unpack[TextKeywords],
    ) -> Iterator[list[Translation]]:
        """As `translate_lines`, for lines that arrive in chunks. The lines of a chunk are
        translated together and returned together.

        Raises:
            UsageError: as `translate_lines`.
        """
        expect_list(chunks, "chunks", "lists of texts, one list for each chunk")
        return self._chunks(chunks, Call(options=options or BeamOptions(), **keywords))

    def glossary(
        self, terms: Terms, source: str | None = None, target: str | None = None
    ) -> Glossary:
        """The glossary of `terms`, to be read once and given to many calls. `source` and `target`
        choose the languages of a file that has several.

        Raises:
            UsageError, DataError: as a call.
        """
        if relay := self._relay(source, target):
            relay.glossary(terms)
        direction = self.speaks.direction(source, target)
        return glossary_from(terms, direction.source, direction.target)

    def _chunks(self, chunks: Iterable[Sequence[str]], call: Call) -> Iterator[list[Translation]]:
        """The translations of each chunk. Arguments that cannot be used are refused at once."""
        if relay := self._relay(call.source, call.target):
            texts = (texts_of(chunk) for chunk in chunks)
            return relay.translate_chunks(texts, **call.keywords)
        return self._pipelined(chunks, self._request(call))

    def _pipelined(
        self, chunks: Iterable[Sequence[str]], request: TranslationRequest
    ) -> Iterator[list[Translation]]:
        """The translations of each chunk; the next chunk is tokenised meanwhile."""
        normaliser = self.segmenter.normaliser
        sifted = (Sifted.of(texts_of(chunk), request, normaliser) for chunk in chunks)
        jobs = ((one, Job.of(one.plain, request, self.segmenter)) for one in sifted)
        searching = ((one, job, self.search(job)) for one, job in ahead(jobs))
        with closing(ahead(searching)) as searched:
            for one, job, found in searched:
                yield self._whole(one, job, found)

    def stream(
        self,
        text: str,
        options: Options | None = None,
        *,
        beam: int = 1,
        prefix: str = "",
        source: str | None = None,
        target: str | None = None,
        protect: bool | Sequence[str] = True,
        **search: Unpack[SearchKeywords],
    ) -> Stream:
        """Translates a text and returns the translation piece by piece, as it grows. A piece never
        ends within a character.

        The pieces together are `translator(text, options=options).text`. The iterator's `notes` are
        complete when the iterator is. The search is greedy, or draws one sample; `options` or the
        keywords of a call, such as `temperature=0.8`, choose between them. A line that holds a
        number or something to protect (`protect`, as in a call) comes as one piece, because only
        the whole translation shows whether something was lost.

        Raises:
            UsageError: a search that cannot be streamed, or a prefix or languages that do not fit.
        """
        check_prefix(prefix)
        if relay := self._relay(source, target):
            how: dict[str, Any] = {"options": options, "beam": beam, "prefix": prefix, **search}
            return relay.stream(text, protect=protect, **how)
        request = TranslationRequest(
            search_options(beam, 1, options, search, usual_beam=1),
            prefix,
            direction=self.speaks.direction(source, target),
            protection=protection_of(protect),
            set_phrases=self.rules.set_phrases,
        )
        check_streamable(request.options)
        [text] = texts_of([text])
        sifted = Sifted.of([text], request, self.segmenter.normaliser)
        if sifted.is_parted:

            def whole(line: str) -> Translation:
                return self._translated([line], request)[0]

            def growing(line: str) -> Stream:
                return self.stream(
                    line, request.options, source=source, target=target, protect=False
                )

            return Stream.of_lines(sifted.growing_lines(), whole, growing, sifted.notes[0])
        engine = self.active_engine
        job = Job.of([text], request, self.segmenter)
        return Stream.of_job(job, engine, self.segmenter, self.search, self._about(engine))
