"""An opened model, which can search, score translations and show its attention."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from allyouneed.checks import expect
from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.links import Aligned
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.terms import WantedTerms
from allyouneed.engine.engine import Engine
from allyouneed.errors import UsageError, needs_torch
from allyouneed.text.clean import clean
from allyouneed.text.conversation import History
from allyouneed.text.languages import Languages
from allyouneed.text.normaliser import normaliser_named
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.arguments import check_many, texts_of
from allyouneed.translation.assembly import Found
from allyouneed.translation.job import Job
from allyouneed.translation.request import Options
from allyouneed.translation.result import Score
from allyouneed.translation.rules import TextRules
from allyouneed.translation.segments import Segmenter
from allyouneed.translation.terms.spelling import TermSpeller

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allyouneed.core.transformer import Transformer


WIDER = 8  # the beam of the second search
NEAR = 0.5  # nats a token


class OpenedModel:
    """A model that is ready to translate: its engine, its tokenizer, and its rules for texts.

    `engine` runs the model. `tokenizer` and `config` are those of the model folder. `model` is the
    core model with the folder's weights; its first use loads it. `notes` say how the model was
    opened, for example that an engine is missing.

    Many threads may use one model at the same time. The results are the same as in one thread.
    """

    def __init__(
        self,
        engine: Engine,
        tokenizer: AnyTokenizer,
        core: "Callable[[], Transformer]",
        rules: TextRules | None = None,
        *,
        device: str = "cpu",
        name: str = "a model in memory",
        notes: Sequence[str] = (),
        reopen: "Callable[[], Self] | None" = None,
    ) -> None:
        """`core` returns the core model, on `device`. `rules` are those of a model folder; None
        means the default rules. `reopen` opens the same model again, for copies in other
        processes."""
        self.engine = engine
        self.tokenizer = tokenizer
        self.rules = rules or TextRules()
        self.device = device
        self.name = name
        self.notes = tuple(notes)
        self._reopen = reopen
        self._load_model = core
        self._model: Transformer | None = None
        longest = engine.config.max_positions // 2  # leaves a translation room to be longer
        self.segmenter = Segmenter(
            tokenizer,
            min(self.rules.trained_length or longest, longest),
            normaliser_named(self.rules.normaliser),
            self.rules.language,
            by_sentence=self.rules.trained_length is not None and self.rules.history is None,
            term_mark=self.rules.term_mark,
        )
        self._speller = TermSpeller(tokenizer.target, self.segmenter.normaliser)

    @classmethod
    def of_model(
        cls, model: "Transformer", tokenizer: AnyTokenizer, rules: TextRules | None = None
    ) -> Self:
        """A model in memory, run by the core engine on the model's device.

        Raises:
            UsageError: the model or the tokenizer is something else.
        """
        with needs_torch("a model in torch"):
            from allyouneed.core.transformer import Transformer
            from allyouneed.engine.torch_engine import core_engine

        expect(model, Transformer, "model", "a Transformer")
        expect(tokenizer, AnyTokenizer, "tokenizer", "a tokenizer, such as Tokenizer.load(PATH)")
        engine = core_engine(model.eval())
        return cls(engine, tokenizer, lambda: model, rules, device=str(engine.device))

    @property
    def speaks(self) -> Languages:
        """The languages that a call can name."""
        return self.rules.speaks

    @property
    def history(self) -> History | None:
        """How the model sees a conversation; None for one that does not reply."""
        return self.rules.history

    @property
    def alignment_heads(self) -> AlignmentHeads:
        """The attention heads from which alignments are read."""
        return self.rules.alignment_heads

    def __repr__(self) -> str:
        return f"<Translator of {self.name} by {self.engine.name}: {self.engine.description}>"

    def __reduce__(self) -> "tuple[Callable[[], Self], tuple[()]]":
        """Lets copies and other processes open the model folder again.

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
        """The codes of the languages that `source` and `target` can name; empty if the model's
        folder names no languages."""
        return self.speaks.codes

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """All (source, target) directions that a call can name."""
        return tuple(self.speaks.directions())

    @property
    def known_length(self) -> int:
        """The number of tokens above which a line is translated in parts."""
        return self.segmenter.known_length

    @property
    def active_engine(self) -> Engine:
        """The engine for the next search: `engine`, or the core engine while a probe or a hook is
        set anywhere in the core model."""
        if self._model is None:
            return self.engine
        from allyouneed.engine.torch_engine import unless_probed

        return unless_probed(self.engine, self._model)

    def search(self, job: Job) -> list[Found]:
        """The result of the search for each segment of a job.

        A job may hold the texts of many clients with equal options. A segment in capitals is also
        searched in small letters; the more probable of the two translations is used. A translation
        that has lost a number, a quote, a bracket, a negation or a clause is searched again, in a
        wider beam: the first hypothesis there that has lost nothing is used.
        """
        engine = self.active_engine
        both, small = job.with_small_letters(self.segmenter)
        notes = [list(self._about(engine)) for _ in both.segments]
        heads = self.alignment_heads if job.request.alignments else None

        def hypotheses_of(some: Job, options: Options) -> list[list[Hypothesis]]:
            return engine.search(
                some.ids,
                options,
                some.prefixes,
                some.numbers(),
                heads,
                note=lambda n, text: notes[n].append(text) if some is both else None,
                terms=self._wanted(some),
            )

        hypotheses = hypotheses_of(both, job.request.searched)
        taken = list(range(len(job.segments)))
        for other, number in enumerate(small, len(taken)):
            if hypotheses[other][0].log_probability > hypotheses[number][0].log_probability:
                taken[number] = other
        found = [hypotheses[n] for n in taken]
        lost = [self._lost(both, number, found[n][0]) for n, number in enumerate(taken)]
        wider = _wider(job.request.searched) if any(lost) else None
        if wider:
            again = [n for n, faults in enumerate(lost) if faults]
            part = both.part([taken[n] for n in again])
            for at, (n, others) in enumerate(zip(again, hypotheses_of(part, wider), strict=True)):
                whole = [one for one in others if not self._lost(part, at, one)]
                if whole and _is_near(whole[0], found[n][0]):
                    found[n], lost[n] = whole[:1], ()
        alignments: list[Aligned | None] = [None] * len(taken)
        if heads and taken:
            searched = replace(job, ids=[both.ids[n] for n in taken])
            alignments = [*self._alignments(searched, [one[0] for one in found], heads)]
        return [
            Found(
                one,
                alignment,
                tuple(notes[n]),
                in_capitals=n >= len(taken),
                source_ids=both.ids[n],
                calibration=self.rules.calibration,
                faults=faults,
            )
            for n, one, alignment, faults in zip(taken, found, alignments, lost, strict=True)
        ]

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        source: str | None = None,
        target: str | None = None,
    ) -> list[Score]:
        """Log-probabilities of given translations under the core model, in order. White space
        around texts does not count. `source` and `target` name the languages.

        Raises:
            UsageError: lists of different lengths; single texts; languages that cannot be used.
            DataError: a pair that does not fit into the model's positions, by its number.
        """
        with needs_torch("scoring given translations"):
            from allyouneed.translation.teacher_forcing import token_scores

        check_many("score", sources, targets)
        sources, targets = texts_of(sources), texts_of(targets)
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
        self,
        source: str,
        target: str,
        *,
        source_language: str | None = None,
        target_language: str | None = None,
    ) -> "tuple[list[str], list[str], NDArray[np.float32]]":
        """Cross-attention of a finished translation, found by teacher forcing.

        Returns the source's pieces, the target's pieces and the mean weights TS of the model's
        alignment heads. White space around the texts does not count. A model of several directions
        is told its languages; their marks are pieces, too.

        Raises:
            ShapeError: a text that does not fit into the model's positions.
            UsageError: languages that cannot be used.
        """
        direction = self.speaks.direction(source_language, target_language)
        [source_ids] = self._ids(self.tokenizer, [source], direction.source_mark)
        [target_ids] = self._ids(self.tokenizer.target, [target], direction.target_mark)
        weights_TS = self.active_engine.attention(source_ids, target_ids, self.alignment_heads)
        if weights_TS is None:
            from allyouneed.translation.teacher_forcing import attention_map

            map_TS = attention_map(self.model, source_ids, target_ids, self.alignment_heads)
            weights_TS = map_TS.numpy(force=True)
        source_pieces = _pieces(self.tokenizer, source_ids)
        return list(source_pieces), list(_pieces(self.tokenizer.target, target_ids)), weights_TS

    def _lost(self, job: Job, number: int, best: Hypothesis) -> tuple[str, ...]:
        """What a translation of the segment `number` of a job has lost."""
        segment, given = job.segments[number], job.request.searched.given
        written = self.tokenizer.target.decode(best.ids[given:]).strip()
        return self.segmenter.lost(segment, written, job.request.languages_of(segment.seen))

    def _wanted(self, job: Job) -> WantedTerms | None:
        """The terms that the search of a job has to use; None if there are none, or if the model
        reads them in the source."""
        terms = [segment.terms for segment in job.segments]
        if not any(terms) or self.rules.term_mark is not None:
            return None
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
    ) -> list[Aligned]:
        """The links of each segment's best hypothesis, from the attention that the search kept,
        or from the core model's attention if the engine keeps none."""
        if any(one.attention_TS is None for one in best):
            from allyouneed.translation.teacher_forcing import align

            targets = [one.ids for one in best]
            return align(self.model, self.tokenizer, job.segments, job.ids, targets, heads)
        return [
            segment.aligned(one.attention_TS, ids, one.ids, self.tokenizer)
            for segment, ids, one in zip(job.segments, job.ids, best, strict=True)
            if one.attention_TS is not None
        ]

    def _ids(
        self, tokenizer: AnyTokenizer, texts: Sequence[str], mark: Sequence[int] = ()
    ) -> list[list[int]]:
        """The ids of each text, after the mark of its language."""
        plain = self.segmenter.normaliser.plain
        found = tokenizer.encode_ids([plain(clean(text)[0].strip()).text for text in texts])
        return [[*mark, *ids] for ids in found]

    def _about(self, engine: Engine) -> tuple[str, ...]:
        """Notes for the user about the engine that searches."""
        if engine is self.engine:
            return ()
        return (f"the model is probed: the core engine ran, not {self.engine.name}",)


def _wider(options: Options) -> Options | None:
    """The options of the second search; None if there is none, because the user asked for several
    translations, for a sample or for the most probable token at each step."""
    if not isinstance(options, BeamOptions) or options.beam < 2 or options.n_best > 1:
        return None
    return replace(options, beam=max(WIDER, options.beam), n_best=max(WIDER, options.beam))


def _is_near(other: Hypothesis, best: Hypothesis) -> bool:
    """Whether a hypothesis is hardly less probable, token by token, than the best one."""
    ahead = best.log_probability / len(best.ids) - other.log_probability / len(other.ids)
    return other.finished and ahead < NEAR


def _pieces(tokenizer: AnyTokenizer, ids: Iterable[int]) -> tuple[str, ...]:
    return tuple(tokenizer.piece(id) for id in ids)
