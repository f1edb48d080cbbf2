"""The front door: a model folder in, then text in, text out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack, overload

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.links import Alignment
from allyouneed.decoding.options import BeamOptions, check_streamable
from allyouneed.decoding.terms import WantedTerms
from allyouneed.engine.engine import Engine
from allyouneed.errors import UsageError, needs_torch
from allyouneed.pipeline import ahead
from allyouneed.text.clean import clean
from allyouneed.text.conversation import History
from allyouneed.text.languages import Languages
from allyouneed.text.normaliser import normaliser_named
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.assembly import Found
from allyouneed.translation.job import Job
from allyouneed.translation.keywords import SearchKeywords, search_options
from allyouneed.translation.markup.plain_text import Sifted, protection_of
from allyouneed.translation.request import Options, TranslationRequest
from allyouneed.translation.result import Score, Translation
from allyouneed.translation.segments import Segmenter
from allyouneed.translation.stream import Stream
from allyouneed.translation.terms.files import Terms, glossary_from
from allyouneed.translation.terms.glossary import Glossary
from allyouneed.translation.terms.spelling import TermSpeller

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allyouneed.core.transformer import Transformer

__all__ = ["Score", "Translation", "Translator"]

READ_AHEAD = 512  # lines taken together by `translate_lines`, so that like lengths meet in a batch


class Translator:
    """Translates with one model. Call it with a text or a list of texts.

    `engine` runs the model. `tokenizer` and `config` are those of the model folder. `model` is the
    core model with the folder's weights; it is loaded when it is first asked for. `notes` say how
    the translator was opened, such as an engine that is missing; what concerns one text stands in
    the notes of its translation.

    Many threads may call one translator at the same time; each gets what it would get alone.
    """

    def __init__(
        self,
        engine: Engine,
        tokenizer: AnyTokenizer,
        core: "Callable[[], Transformer]",
        *,
        device: str = "cpu",
        trained_length: int | None = None,
        history: History | None = None,
        normaliser: str | None = None,
        language: str = "",
        alignment_heads: AlignmentHeads | None = None,
        speaks: Languages | None = None,
        name: str = "a model in memory",
        notes: Sequence[str] = (),
        reopen: "Callable[[], Translator] | None" = None,
    ) -> None:
        """`core` gives the core model, on `device`. `trained_length` is the source length, in
        tokens, that training covered well. `history` is how a model that replies sees a
        conversation (`Chat` is for that). `normaliser` names how texts are written for the model
        (None: as they are typed). `language` is the language of translations, where `speaks`, the
        languages that can be asked for, do not say it. `alignment_heads` are those that alignments
        are read from (None: all of the last layer). `reopen` opens the
        same model again, for copies in other processes."""
        self.alignment_heads = alignment_heads or AlignmentHeads()
        self.engine = engine
        self.tokenizer = tokenizer
        self.device = device
        self.history = history
        self.speaks = speaks or Languages()
        self.name = name
        self.notes = tuple(notes)
        self._reopen = reopen
        self._load_model = core
        self._model: Transformer | None = None
        longest = engine.config.max_positions // 2  # leaves a translation room to be longer
        self.segmenter = Segmenter(
            tokenizer,
            min(trained_length or longest, longest),
            normaliser_named(normaliser),
            language,
        )
        self._speller = TermSpeller(tokenizer.target, self.segmenter.normaliser)

    @classmethod
    def of_model(
        cls,
        model: "Transformer",
        tokenizer: AnyTokenizer,
        *,
        trained_length: int | None = None,
        history: History | None = None,
        normaliser: str | None = None,
        language: str = "",
    ) -> "Translator":
        """Translates with a model in memory, by the core engine, on the device that it is on."""
        with needs_torch("a model in torch"):
            from allyouneed.engine.torch_engine import core_engine

        engine = core_engine(model.eval())
        return cls(
            engine,
            tokenizer,
            lambda: model,
            device=str(engine.device),
            trained_length=trained_length,
            history=history,
            normaliser=normaliser,
            language=language,
        )

    def __repr__(self) -> str:
        return f"<Translator of {self.name} by {self.engine.name}: {self.engine.description}>"

    def __reduce__(self) -> "tuple[Callable[[], Translator], tuple[()]]":
        """A copy, or a translator in another process, opens the model folder again.

        Raises:
            UsageError: the model is in memory alone.
        """
        if self._reopen is None:
            raise UsageError(
                f"{self!r} cannot be copied: it has no folder to be opened from; save the model "
                "(save_model_folder) and load it"
            )
        return self._reopen, ()

    @property
    def model(self) -> "Transformer":
        """The core model; the first use loads it, and torch with it."""
        if self._model is None:
            self._model = self._load_model()
        return self._model

    @property
    def config(self) -> TransformerConfig:
        """The shape of the model."""
        return self.engine.config

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages that `source` and `target` can name; none where the model's
        folder names none."""
        return self.speaks.codes

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """All (source, target) that can be asked for."""
        return tuple(self.speaks.directions())

    @property
    def known_length(self) -> int:
        """A line of more tokens than this is translated in parts."""
        return self.segmenter.known_length

    @overload
    def __call__(
        self,
        text: str,
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
    ) -> Translation: ...

    @overload
    def __call__(
        self,
        text: list[str] | tuple[str, ...],
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
        value instead. `prefix` is what every translation has to begin with. `alignments` also fills
        `alignment`. `source` and `target` name the languages, where the model has more than one
        direction (`directions`). White space around a text and its line ends stay as they are.
        Each line is translated by itself. A line longer than the model knows is translated in
        parts, with a note. A sample follows from the seed and the text alone.

        Addresses, e-mail addresses, placeholders such as `{name}` and `%s`, code in back-ticks,
        hashtags and paths come through to the letter, and so do numbers of two digits or more that
        the model would change. The model sees a line that holds such spans sentence by sentence,
        with a name or a number in the place of each. `tokens` and their log-probabilities are those
        of what the model says then; `alignment` counts the words of `source` and of `text`, as
        always. A note names what could not be carried. `protect=False` gives the model every text
        as it is, as a call with a `prefix` does; `protect=[r"Acme \\w+"]` protects what these
        regular expressions match as well.

        `markup` is "html" or "xml" for texts with tags: sentences are translated whole, and every
        tag comes back around the words that come from its words. What elements named in
        `ignore_tags` hold is carried over as it is, as are amounts such as "5 kg".

        `terms` prescribe translations of words, such as {"bike": "Rad|Räder"}: a mapping, a
        `Glossary`, or the path of a .tsv, .csv or .tbx file. A translation's `terms` say where each
        was used.

        Raises:
            UsageError: a text, an option, a prefix, a language or a term that cannot be used.
            DataError: a file of terms that cannot be read.
            AllYouNeedError: memory too short for a single sentence.
        """
        if markup not in (None, "text") or ignore_tags:
            return self._marked(
                text,
                markup or "text",
                (ignore_tags, protect),
                {
                    "beam": beam,
                    "options": options,
                    "source": source,
                    "target": target,
                    "terms": None if terms is None else self.glossary(terms, source, target),
                    **search,
                },
                bool(alignments or prefix or n_best > 1),
            )
        request = TranslationRequest(
            search_options(beam, n_best, options, search),
            prefix,
            alignments,
            self.speaks.direction(source, target),
            protection_of(protect),
            None if terms is None else self.glossary(terms, source, target),
        )
        found = self._translated(_texts(text, prefix), request)
        return found[0] if isinstance(text, str) else found

    def _translated(self, texts: Sequence[str], request: TranslationRequest) -> list[Translation]:
        """The translations of texts that are together in memory."""
        sifted = Sifted.of(texts, request, self.segmenter.normaliser)
        job = Job.of(sifted.plain, request, self.segmenter)
        return self._whole(sifted, job, self.search(job))

    def _whole(self, sifted: Sifted, job: Job, found: Sequence[Found]) -> list[Translation]:
        """The translations of texts, once the search is through with those that hold nothing to
        protect."""

        def translate(texts: list[str], alignments: bool) -> list[Translation]:
            asked = replace(sifted.request, alignments=alignments, protection=None)
            return self._translated(texts, asked)

        return sifted.translations(job.translations(found, self.segmenter), translate)

    def _marked(
        self,
        text: str | list[str] | tuple[str, ...],
        markup: str,
        carried: tuple[Sequence[str], bool | Sequence[str]],
        how: Mapping[str, Any],
        whole: bool,
    ) -> Translation | list[Translation]:
        """Texts with tags; `carried` are the tags to ignore and the expressions to protect."""
        from allyouneed.translation.markup.marked_text import translate_marked

        ignore_tags, protect = carried
        if markup == "text":
            raise UsageError(
                f"ignore_tags={list(ignore_tags)!r} is for texts with tags; say which kind: "
                'markup="html" or "xml"'
            )
        if protect is False:
            raise UsageError(
                "protect=False is of plain text; with tags, what they hold has to be carried"
            )
        if whole:
            raise UsageError(
                "n_best, prefix and alignments are of plain text; leave them out with markup"
            )

        def translate(texts: list[str], alignments: bool) -> list[Translation]:
            return self(texts, alignments=alignments, protect=False, **how)

        patterns = () if isinstance(protect, bool) else protect
        texts = _texts(text, "")
        found = translate_marked(
            translate, texts, markup, ignore_tags=ignore_tags, protect=patterns
        )
        return found[0] if isinstance(text, str) else found

    def translate_lines(
        self,
        lines: Iterable[str],
        beam: int = 4,
        n_best: int = 1,
        *,
        options: Options | None = None,
        prefix: str = "",
        alignments: bool = False,
        source: str | None = None,
        target: str | None = None,
        protect: bool | Sequence[str] = True,
        terms: Terms | None = None,
        read_ahead: int = READ_AHEAD,
        **search: Unpack[SearchKeywords],
    ) -> Iterator[Translation]:
        """Translates lines as they come, in order, `read_ahead` of them together; no more than
        five times as many are held.

        Lines are read and tokenised, decoded, and given out at the same time, in threads. `protect`
        is as in a call.

        Raises:
            UsageError: options, a prefix, languages or a `read_ahead` that cannot be used; a single
                text.
        """
        _check_many("translate_lines", lines)
        if read_ahead < 1:
            raise UsageError(f"read_ahead={read_ahead} must be at least 1")
        options, remaining = search_options(beam, n_best, options, search), iter(lines)
        chunks = iter(lambda: list(islice(remaining, read_ahead)), [])
        found = self.translate_chunks(
            chunks,
            options,
            prefix=prefix,
            alignments=alignments,
            source=source,
            target=target,
            protect=protect,
            terms=terms,
        )
        return (translation for chunk in found for translation in chunk)

    def translate_chunks(
        self,
        chunks: Iterable[Sequence[str]],
        options: Options | None = None,
        *,
        prefix: str = "",
        alignments: bool = False,
        source: str | None = None,
        target: str | None = None,
        protect: bool | Sequence[str] = True,
        terms: Terms | None = None,
    ) -> Iterator[list[Translation]]:
        """As `translate_lines`, for lines that come in chunks: each is translated together, and
        given out as soon as it is done.

        Raises:
            UsageError: as `translate_lines`.
        """
        request = TranslationRequest(
            options or BeamOptions(),
            prefix,
            alignments,
            self.speaks.direction(source, target),
            protection_of(protect),
            None if terms is None else self.glossary(terms, source, target),
        )
        return self._chunks(chunks, request)

    def glossary(
        self, terms: Terms, source: str | None = None, target: str | None = None
    ) -> Glossary:
        """Terms as calls take them, read once for many calls; `source` and `target` are the
        languages, where a file has several.

        Raises:
            UsageError, DataError: as a call.
        """
        direction = self.speaks.direction(source, target)
        return glossary_from(terms, direction.source, direction.target)

    def _chunks(
        self, chunks: Iterable[Sequence[str]], request: TranslationRequest
    ) -> Iterator[list[Translation]]:
        normaliser = self.segmenter.normaliser
        sifted = (Sifted.of(chunk, request, normaliser) for chunk in chunks)
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
        prefix: str = "",
        source: str | None = None,
        target: str | None = None,
        protect: bool | Sequence[str] = True,
    ) -> Stream:
        """Translates a text and gives it out as it grows, whole characters only.

        Joined, the pieces are `translator(text, options=options).text`. The iterator's `notes` are
        complete at its end. `options` are a beam of one, which is greedy (None), or one sample. A
        line with something to protect (`protect`, as in a call), or with a number, comes in one
        piece: whether all of it is there is known at its end.

        Raises:
            UsageError: a search that cannot be streamed, or a prefix or languages that do not fit.
        """
        request = TranslationRequest(
            options or BeamOptions(beam=1),
            prefix,
            direction=self.speaks.direction(source, target),
            protection=protection_of(protect),
        )
        check_streamable(request.options)
        [text] = _texts([text], prefix)
        sifted = Sifted.of([text], request, self.segmenter.normaliser)
        if sifted.is_parted:

            def whole(line: str) -> Translation:
                return self._translated([line], request)[0]

            def growing(line: str) -> Stream:
                return self.stream(line, options, source=source, target=target, protect=False)

            return Stream.of_lines(sifted.growing_lines(), whole, growing, sifted.notes[0])
        engine = self.active_engine
        job = Job.of([text], request, self.segmenter)
        return Stream.of_job(job, engine, self.segmenter, self.search, self._about(engine))

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        source: str | None = None,
        target: str | None = None,
    ) -> list[Score]:
        """Log-probabilities of given translations under the core model, in order; white space
        around texts is left out. `source` and `target` name the languages.

        Raises:
            UsageError: lists of different lengths; single texts; languages that cannot be used.
            DataError: a pair that does not fit into the model's positions, by its number.
        """
        with needs_torch("scoring given translations"):
            from allyouneed.translation.teacher_forcing import token_scores

        _check_many("score", sources, targets)
        if len(sources) != len(targets):
            raise UsageError(
                f"{len(sources)} sources and {len(targets)} targets; each source needs its target"
            )
        direction = self.speaks.direction(source, target)
        given = len(direction.target_mark)
        source_ids = self._ids(self.tokenizer, sources, direction.source_mark)
        target_ids = self._ids(self.tokenizer.target, targets, direction.target_mark)
        found = token_scores(self.model, source_ids, target_ids)
        return [
            Score(
                tokens=_pieces(self.tokenizer.target, ids[given:]),
                token_log_probabilities=scores[given:],
            )
            for ids, scores in zip(target_ids, found, strict=True)
        ]

    def attention(
        self, source: str, target: str
    ) -> "tuple[list[str], list[str], NDArray[np.float32]]":
        """Cross-attention of a finished translation, found by teacher forcing.

        Returns the source's pieces, the target's pieces and the weights TS of the model's
        alignment heads, averaged; white space around the texts is left out.

        Raises:
            ShapeError: a text that does not fit into the model's positions.
        """
        [source_ids] = self._ids(self.tokenizer, [source])
        [target_ids] = self._ids(self.tokenizer.target, [target])
        weights_TS = self.active_engine.attention(source_ids, target_ids, self.alignment_heads)
        if weights_TS is None:
            from allyouneed.translation.teacher_forcing import attention_map

            map_TS = attention_map(self.model, source_ids, target_ids, self.alignment_heads)
            weights_TS = map_TS.numpy(force=True)
        source_pieces = _pieces(self.tokenizer, source_ids)
        return list(source_pieces), list(_pieces(self.tokenizer.target, target_ids)), weights_TS

    @property
    def active_engine(self) -> Engine:
        """The engine that searches now: `engine`, or the core's while a probe or a hook is set
        anywhere in the core model."""
        if self._model is None:
            return self.engine
        from allyouneed.engine.torch_engine import unless_probed

        return unless_probed(self.engine, self._model)

    def _ids(
        self, tokenizer: AnyTokenizer, texts: Sequence[str], mark: Sequence[int] = ()
    ) -> list[list[int]]:
        """Ids of each text behind the mark of its language."""
        plain = self.segmenter.normaliser.plain
        found = tokenizer.encode_ids([plain(clean(text)[0].strip()).text for text in texts])
        return [[*mark, *ids] for ids in found]

    def search(self, job: Job) -> list[Found]:
        """What the search finds for each segment of a job.

        A job may hold the texts of many clients who ask for the same options. A segment in capitals
        is searched in small letters too, and the more probable of the two translations is taken.
        """
        engine = self.active_engine
        both, small = job.with_small_letters(self.tokenizer)
        notes = [list(self._about(engine)) for _ in both.segments]
        heads = self.alignment_heads if job.request.alignments else None
        hypotheses = engine.search(
            both.ids,
            job.request.searched,
            both.prefixes,
            both.numbers(),
            heads,
            note=lambda n, text: notes[n].append(text),
            terms=self._wanted(both),
        )
        taken = list(range(len(job.segments)))
        for other, number in enumerate(small, len(taken)):
            if hypotheses[other][0].log_probability > hypotheses[number][0].log_probability:
                taken[number] = other
        found = [hypotheses[n] for n in taken]
        alignments: list[Alignment | None] = [None] * len(taken)
        if heads and taken:
            searched = replace(job, ids=[both.ids[n] for n in taken])
            alignments = [*self._alignments(searched, [one[0] for one in found], heads)]
        return [
            Found(one, alignment, tuple(notes[n]), in_capitals=n >= len(taken))
            for n, one, alignment in zip(taken, found, alignments, strict=True)
        ]

    def _wanted(self, job: Job) -> WantedTerms | None:
        """The terms that the search of a job has to use."""
        terms = [segment.terms for segment in job.segments]
        spans: list[list[tuple[int, int]]] = [[] for _ in terms]
        told = len(job.request.direction.source_mark)
        for n, (segment, ids) in enumerate(zip(job.segments, job.ids, strict=True)):
            if segment.terms:
                own = self.tokenizer.spans(ids[told:])
                before = len(self.tokenizer.decode(ids[told:])) - len(segment.seen)
                spans[n] = [(-1, -1)] * told + [(b - before, e - before) for b, e in own]
        return self._speller.wanted(terms, spans, self.alignment_heads)

    def _alignments(
        self, job: Job, best: Sequence[Hypothesis], heads: AlignmentHeads
    ) -> list[Alignment]:
        """The alignment of each segment's best hypothesis: by the attention that the search has
        kept, or by the core model's where the engine keeps none."""
        if any(one.attention_TS is None for one in best):
            from allyouneed.translation.teacher_forcing import align

            targets = [one.ids for one in best]
            return align(self.model, self.tokenizer, job.segments, job.ids, targets, heads)
        return [
            segment.alignment(one.attention_TS, ids, one.ids, self.tokenizer)
            for segment, ids, one in zip(job.segments, job.ids, best, strict=True)
            if one.attention_TS is not None
        ]

    def _about(self, engine: Engine) -> tuple[str, ...]:
        """What a user should know about the engine that searches."""
        if engine is self.engine:
            return ()
        return (f"the model is probed: the core engine ran, not {self.engine.name}",)


def _check_many(method: str, *texts: Iterable[str]) -> None:
    """Raises UsageError for a text in the place of several: Python would take its letters."""
    if any(isinstance(one, str) for one in texts):
        raise UsageError(f"{method} takes lists of texts; put a single one in brackets")


def _texts(text: str | Iterable[str], prefix: str) -> list[str]:
    """The texts of a call.

    Raises:
        UsageError: something that is no text.
    """
    if isinstance(text, bytes) or not isinstance(text, Iterable):
        raise UsageError(f"{text!r} is no text; give a str, or a list of them")
    texts = [text] if isinstance(text, str) else list(text)
    for one in (*texts, prefix):
        if not isinstance(one, str):
            raise UsageError(f"{one!r} is no text; give a str, or a list of them")
    return texts


def _pieces(tokenizer: AnyTokenizer, ids: Iterable[int]) -> tuple[str, ...]:
    return tuple(tokenizer.piece(id) for id in ids)
