"""An opened model, which can search, score translations and show its attention."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Self

from allyouneed.checks import expect
from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.engine.engine import Engine
from allyouneed.errors import UsageError, needs_torch
from allyouneed.text.clean import clean
from allyouneed.text.conversation import History
from allyouneed.text.languages import Direction, Languages
from allyouneed.text.normaliser import normaliser_named
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.arguments import check_many, texts_of
from allyouneed.translation.found import Found
from allyouneed.translation.job import Job
from allyouneed.translation.job_search import JobSearch
from allyouneed.translation.result import Score
from allyouneed.translation.rules import TextRules
from allyouneed.translation.segments import Segmenter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allyouneed.core.transformer import Transformer


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
        self._job_search = JobSearch(self.segmenter, self.rules)

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
        """The result of the search for each segment of a job, which may hold the texts of many
        clients with equal options."""
        engine = self.active_engine
        return self._job_search.found(job, engine, self._about(engine), lambda: self.model)

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
        source_ids = self._source_ids(sources, direction)
        target_ids = self._target_ids(targets, direction)
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
        [source_ids] = self._source_ids([source], direction)
        [target_ids] = self._target_ids([target], direction)
        weights_TS = self.active_engine.attention(source_ids, target_ids, self.alignment_heads)
        if weights_TS is None:
            from allyouneed.translation.teacher_forcing import attention_map

            map_TS = attention_map(self.model, source_ids, target_ids, self.alignment_heads)
            weights_TS = map_TS.numpy(force=True)
        source_pieces = _pieces(self.tokenizer, source_ids)
        return list(source_pieces), list(_pieces(self.tokenizer.target, target_ids)), weights_TS

    def _source_ids(self, texts: Sequence[str], direction: Direction) -> list[list[int]]:
        """The ids of each source, as the model reads it, after the mark of its language."""
        seen = [self.segmenter.seen(one, direction.languages_of(one)) for one in texts]
        return [[*direction.source_mark, *ids] for ids in self.tokenizer.encode_ids(seen)]

    def _target_ids(self, texts: Sequence[str], direction: Direction) -> list[list[int]]:
        """The ids of each translation, after the mark of its language."""
        plain = self.segmenter.normaliser.plain
        texts = [plain(clean(text)[0].strip()).text for text in texts]
        return [[*direction.target_mark, *ids] for ids in self.tokenizer.target.encode_ids(texts)]

    def _about(self, engine: Engine) -> tuple[str, ...]:
        """Notes for the user about the engine that searches."""
        if engine is self.engine:
            return ()
        return (f"the model is probed: the core engine ran, not {self.engine.name}",)


def _pieces(tokenizer: AnyTokenizer, ids: Iterable[int]) -> tuple[str, ...]:
    return tuple(tokenizer.piece(id) for id in ids)
