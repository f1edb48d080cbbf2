"""The front door: a model folder in, then text in, text out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, overload

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.options import BeamOptions, check_streamable
from allyouneed.engine.engine import Engine
from allyouneed.errors import UsageError, needs_torch
from allyouneed.pipeline import ahead
from allyouneed.text.clean import clean
from allyouneed.text.conversation import History
from allyouneed.text.languages import Languages
from allyouneed.text.normaliser import normaliser_named
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.job import Job, Options, Wishes
from allyouneed.translation.result import Score, Translation
from allyouneed.translation.segments import CUT_OFF, Segmenter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allyouneed.core.transformer import Transformer

__all__ = ["Score", "Translation", "Translator"]

READ_AHEAD = 512  # lines taken together by `translate_lines`, so that like lengths meet in a batch


class Translator:
    """Translates with one model. Call it with a text or a list of texts.

    `engine` is the road that runs; `tokenizer` and `config` are what the folder holds, and
    `model` is the core model with the folder's weights, loaded when it is first asked for.
    `notes` are what its user should know about how it runs: an engine that is missing, memory
    that ran short, what was done to a text that was streamed; whoever tells them takes them out.
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
    ) -> None:
        """`core` gives the core model, on `device`; `trained_length` is the source length, in
        tokens, that training covered well; `history` how a model that replies sees a conversation
        (`Chat` is for that); `normaliser` names how texts are written for the model (None: as they
        are typed), and `language` is that of translations, whose quotes they get, where `speaks`,
        the languages that can be asked for, do not say it; `alignment_heads` are those that
        alignments are read from (None: all of the last layer)."""
        self.alignment_heads = alignment_heads or AlignmentHeads()
        self.engine = engine
        self.tokenizer = tokenizer
        self.device = device
        self.history = history
        self.speaks = speaks or Languages()
        self.notes: list[str] = []
        self._load_model = core
        self._model: Transformer | None = None
        longest = engine.config.max_positions // 2  # leaves a translation room to be longer
        self.segmenter = Segmenter(
            tokenizer,
            min(trained_length or longest, longest),
            normaliser_named(normaliser),
            language,
        )

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
    ) -> Translation | list[Translation]:
        """Translates a text, or a list of them in batches of like length, in order.

        The beam is `beam` wide, and at least `n_best`; `options` say everything about the search
        instead of these two. `prefix` is what every translation has to begin with; `alignments`
        also fills `alignment`; `source` and `target` name the languages, where the model has more
        than one direction (`directions`). White space around a text and its line ends stay as they
        are. Each line is translated by itself, and one longer than the model knows in parts, with a
        note. A sample follows from the seed and the text alone.

        Raises:
            UsageError: options, a prefix or languages that cannot be used.
            AllYouNeedError: memory too short for a single sentence.
        """
        direction = self.speaks.direction(source, target)
        wishes = Wishes(_options(beam, n_best, options), prefix, alignments, direction)
        texts = [text] if isinstance(text, str) else list(text)
        for one in (*texts, prefix):
            if not isinstance(one, str):
                raise UsageError(f"{one!r} is no text; give a str, or a list of them")
        job = self.searched(Job.of(texts, wishes, self.segmenter))
        found = job.translations(self.segmenter)
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
        read_ahead: int = READ_AHEAD,
    ) -> Iterator[Translation]:
        """Translates lines as they come, in order, `read_ahead` of them together; no more than
        five times as many are held.

        Lines are read and tokenised, decoded, and given out at the same time, in threads.

        Raises:
            UsageError: options, a prefix, languages or a `read_ahead` that cannot be used; a single
                text.
        """
        _check_many("translate_lines", lines)
        if read_ahead < 1:
            raise UsageError(f"read_ahead={read_ahead} must be at least 1")
        options, remaining = _options(beam, n_best, options), iter(lines)
        chunks = iter(lambda: list(islice(remaining, read_ahead)), [])
        found = self.translate_chunks(
            chunks, options, prefix=prefix, alignments=alignments, source=source, target=target
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
    ) -> Iterator[list[Translation]]:
        """As `translate_lines`, for lines that come in chunks: each is translated together, and
        given out as soon as it is done.

        Raises:
            UsageError: as `translate_lines`.
        """
        direction = self.speaks.direction(source, target)
        wishes = Wishes(options or BeamOptions(), prefix, alignments, direction)
        return self._chunks(chunks, wishes)

    def _chunks(
        self, chunks: Iterable[Sequence[str]], wishes: Wishes
    ) -> Iterator[list[Translation]]:
        jobs = (Job.of(chunk, wishes, self.segmenter) for chunk in chunks)
        with closing(ahead(self.searched(job) for job in ahead(jobs))) as searched:
            for job in searched:
                yield job.translations(self.segmenter)

    def stream(
        self,
        text: str,
        options: Options | None = None,
        *,
        prefix: str = "",
        source: str | None = None,
        target: str | None = None,
    ) -> Iterator[str]:
        """Translates a text and gives it out as it grows, whole characters only; joined, the
        pieces are `translator(text, options=options).text`.

        `options` are a beam of one, which is greedy (None), or one sample.

        Raises:
            UsageError: a search that cannot be streamed, or a prefix or languages that do not fit.
        """
        direction = self.speaks.direction(source, target)
        wishes = Wishes(options or BeamOptions(beam=1), prefix, direction=direction)
        check_streamable(wishes.options)
        return self._streamed(Job.of([text], wishes, self.segmenter))

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
        weights_TS = self.road.attention(source_ids, target_ids, self.alignment_heads)
        if weights_TS is None:
            from allyouneed.translation.teacher_forcing import attention_map

            map_TS = attention_map(self.model, source_ids, target_ids, self.alignment_heads)
            weights_TS = map_TS.numpy(force=True)
        source_pieces = _pieces(self.tokenizer, source_ids)
        return list(source_pieces), list(_pieces(self.tokenizer.target, target_ids)), weights_TS

    def _ids(
        self, tokenizer: AnyTokenizer, texts: Sequence[str], mark: Sequence[int] = ()
    ) -> list[list[int]]:
        """Ids of each text behind the mark of its language."""
        plain = self.segmenter.normaliser.plain
        found = tokenizer.encode_ids([plain(clean(text)[0].strip()).text for text in texts])
        return [[*mark, *ids] for ids in found]

    def searched(self, job: Job) -> Job:
        """The job, its segments' hypotheses and alignments found.

        A job may be made of sentences of several others that have the same wishes: whoever serves
        many at once translates them together so.
        """
        engine, options = self._road(job), job.wishes.searched
        heads = self.alignment_heads if job.wishes.alignments else None
        found = engine.search(job.ids, options, job.prefixes, job.numbers(), heads)
        while engine.notes:
            self.notes.append(engine.notes.pop(0))
        for segment, hypotheses in zip(job.to_do, found, strict=True):
            segment.hypotheses = hypotheses
        if heads and job.to_do:
            self._align(job, heads)
        return job

    def _align(self, job: Job, heads: AlignmentHeads) -> None:
        """Sets the alignments: by the attention that the search has kept, where its engine keeps
        any, or else by the core model's."""
        if any(segment.hypotheses[0].attention_TS is None for segment in job.to_do):
            from allyouneed.translation.teacher_forcing import align

            align(self.model, self.tokenizer, job.ids, job.to_do, heads)
            return
        for ids, segment in zip(job.ids, job.to_do, strict=True):
            attention_TS = segment.hypotheses[0].attention_TS
            assert attention_TS is not None
            segment.align(attention_TS, ids, self.tokenizer)

    @property
    def road(self) -> Engine:
        """The engine, or the core's while a probe or a hook is set anywhere in the core model."""
        if self._model is None:
            return self.engine
        from allyouneed.engine.torch_engine import unless_probed

        return unless_probed(self.engine, self._model)

    def _road(self, job: Job) -> Engine:
        """`road`, with a word about it to the job where it is not the engine."""
        road = self.road
        if road is not self.engine:
            for _, notes in job.cut:
                notes.append(f"the model is probed: the core engine ran, not {self.engine.name}")
        return road

    def _streamed(self, job: Job) -> Iterator[str]:
        engine = self._road(job)
        sentences = zip(job.ids, job.prefixes or [[]] * len(job.ids), job.numbers(), strict=True)
        [text], [(segments, notes)] = job.texts, job.cut
        wishes, options = job.wishes, job.wishes.searched
        self.notes += notes
        target = wishes.direction.target
        dresser = self.segmenter.dresser(text, wishes.prefix.lstrip(), target)
        cut_off = False
        for segment in segments:
            yield segment.before
            if segment.text:
                ids, prefix, number = next(sentences)
                growing, newest = self.tokenizer.target.growing(), -1
                found = engine.stream(ids, options, prefix, number)
                for newest in islice(found, options.given, None):
                    yield dresser.add(growing.add(newest))
                yield dresser.add(growing.end())
                yield dresser.end()
                cut_off = cut_off or newest != self.config.end
            yield segment.after
        if cut_off:
            self.notes.append(CUT_OFF)


def _check_many(method: str, *texts: Iterable[str]) -> None:
    """Raises UsageError for a text in the place of several: Python would take its letters."""
    if any(isinstance(one, str) for one in texts):
        raise UsageError(f"{method} takes lists of texts; put a single one in brackets")


def _options(beam: int, n_best: int, options: Options | None) -> Options:
    if options is None:
        return BeamOptions(beam=n_best if 0 < beam < n_best else beam, n_best=n_best)
    if (beam, n_best) != (4, 1):
        raise UsageError(
            f"beam={beam}, n_best={n_best} and options were given; say it in options alone"
        )
    if not isinstance(options, Options):
        raise UsageError(f"options={options!r} must be BeamOptions or SamplingOptions")
    return options


def _pieces(tokenizer: AnyTokenizer, ids: Iterable[int]) -> tuple[str, ...]:
    return tuple(tokenizer.piece(id) for id in ids)
