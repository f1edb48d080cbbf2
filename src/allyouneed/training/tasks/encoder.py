"""The parts that tasks of models without a decoder share: vocabulary, shape, first weights,
batches.

B batch · S length · D d_model
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.encoder import Memory
from allyouneed.core.encoder_only import EncoderOnly, build_encoder_only
from allyouneed.data.batches import BatchSampler, Indices
from allyouneed.data.contents import content_key
from allyouneed.data.examples import Examples, Files, example_store
from allyouneed.data.padding import padded
from allyouneed.data.store import TokenStore
from allyouneed.data.store_writer import Progress
from allyouneed.errors import DataError, nearest
from allyouneed.model_folder.config import Heads
from allyouneed.model_folder.folder import (
    WEIGHTS,
    ModelFolder,
    open_model_folder,
    save_model_folder,
)
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.weights.model import read_weights
from allyouneed.text.encoder_tokenizer import AnyEncoderTokenizer, EncoderTokenizer
from allyouneed.text.opening import encoder_tokenizer, open_tokenizer
from allyouneed.training.recipe.encoder_schema import EncoderRecipe
from allyouneed.training.recipe.sections import TrainingSection
from allyouneed.training.starting_model import check_same_model
from allyouneed.training.survey import Survey
from allyouneed.training.tasks.task import Note, Outlook, RunStart, Task, TaskBatch
from allyouneed.training.training_loss import TrainingLoss
from allyouneed.training.vocabulary import kept_vocabulary
from allyouneed.training.word_dropout import word_dropout
from allyouneed.training.workers import ALONE

E = TypeVar("E", bound=EncoderRecipe)
F = TypeVar("F", bound=Files)
SURVEYED = 50  # batches whose labels are counted for a plan
# The recipe's paths are left out of keys: files are identified by their contents and suffixes.
PLACES: dict[str, Any] = {part: {"__all__": {"source"}} for part in ("train", "valid")}
KEPT_HEADS = ("pooler.", "heads.masked_words.", "heads.next_sentence.")


@dataclass(frozen=True, slots=True)
class PreparedShape:
    """A vocabulary with [CLS], [SEP] and [MASK], the model's shape, and the model that training
    starts from, if any."""

    tokenizer: AnyEncoderTokenizer
    config: TransformerConfig
    init: ModelFolder | None

    @property
    def pooler(self) -> bool:
        """Whether `init` has a pooler."""
        heads = self.init.heads if self.init else None
        return heads is not None and heads.pooler


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Texts BS for a model without a decoder, padded on the right. `segments_BS` is 1 in the second
    of two texts, otherwise 0."""

    ids_BS: Tensor
    segments_BS: Tensor

    @property
    def segments(self) -> Tensor | None:
        """The segments, or None if no text has two."""
        return self.segments_BS if self.segments_BS.any() else None


def shape_of(
    recipe: EncoderRecipe,
    start: RunStart,
    corpora: Sequence[Files],
    texts: Callable[[], Iterable[str]],
) -> PreparedShape:
    """The vocabulary and shape of a model. The vocabulary is that of `init`, or the recipe's file,
    or it is learnt from the texts of the corpora."""
    init = open_model_folder(recipe.training.init) if recipe.training.init else None
    tokenizer: AnyEncoderTokenizer
    if init is not None:
        tokenizer = encoder_tokenizer(init.tokenizer, f"training.init={init.path}")
    elif recipe.vocabulary.tokenizer is not None:
        path = recipe.locate(recipe.vocabulary.tokenizer)
        tokenizer = encoder_tokenizer(open_tokenizer(path), f"vocabulary.tokenizer={path}")
    else:
        cache = start.folder / "cache"
        cache.mkdir(parents=True, exist_ok=True)
        size = recipe.vocabulary.size
        files = [path for corpus in corpora for path in corpus.files]
        data = recipe.data.model_dump(mode="json", exclude=PLACES)
        key = content_key(
            cache, lambda content: [size, [[content(p), p.suffixes] for p in files], data]
        )
        file = cache / f"tokenizer-{key[:16]}.json"
        tokenizer = kept_vocabulary(EncoderTokenizer, size, texts, file, start.note)
    entries = init.config.vocabulary if init else len(tokenizer)
    config = recipe.model.config(entries, init.config if init else None)
    config = replace(
        config,
        decoder_layers=0,
        pad=tokenizer.PAD,
        start=tokenizer.START,
        end=tokenizer.END,
    )
    if init is not None:
        check_same_model(init, config)
        start.note(
            f"training starts from the encoder and vocabulary ({len(tokenizer):,}) of {init.path}"
        )
    return PreparedShape(tokenizer, config, init)


def stores_of(
    train: Sequence[F],
    valid: Sequence[F],
    examples: Callable[[Sequence[F]], Examples],
    settings: Callable[[F], list[Any]],
    shape: PreparedShape,
    start: RunStart,
    unit: str,
    names: Sequence[str] = (),
) -> tuple[TokenStore, TokenStore]:
    """The token stores for training and validation. `settings` returns the settings that a corpus'
    examples depend on, apart from its files, the shape and the `names` of labels. `unit` names the
    items that the reports count."""
    made = []
    for part, corpora in (("train", train), ("valid", valid)):
        what = {
            "tokenizer": shape.tokenizer.fingerprint(),
            "longest": shape.config.max_positions,
            "names": list(names),
            "corpora": [settings(corpus) for corpus in corpora],
        }
        size = max(shape.config.vocabulary, len(names) + 1)
        cache = start.folder / "cache"
        store = example_store(corpora, examples(corpora), what, size, cache, start.progress, unit)
        start.note(f"{part}: {store.report}")
        made.append(store)
    return made[0], made[1]


def names_in(counts: Counter[str], corpora: Sequence[Files], kind: str, note: Note) -> list[str]:
    """The labels (or tags, as `kind` says) of training data, in alphabetical order. `note` receives
    the number of examples of each.

    Raises:
        DataError: there are fewer than two labels.
    """
    names = sorted(counts)
    if len(names) < 2:
        raise DataError(
            f"{', '.join(corpus.name for corpus in corpora)}: the only {kind} is "
            f"{names[0] if names else 'none'!r}, but a model needs at least two to learn from; "
            "check the columns that data.train names"
        )
    note(f"{kind}s: " + ", ".join(f"{name} {counts[name]:,}" for name in names))
    return names


def number_of(name: str, names: Sequence[str], corpus: str, line: int, kind: str) -> int:
    """The number of a label or tag.

    Raises:
        DataError: the training data do not have it; the message names corpus and line.
    """
    if name in names:
        return names.index(name)
    close = nearest(name, names)
    raise DataError(
        f"{corpus}:{line}: the {kind} {name!r} is not one of the training data's, "
        f"{', '.join(map(repr, names[:8]))}{' and more' if len(names) > 8 else ''}; "
        + (f"did you mean {close!r}?" if close else "remove the line, or train on such lines too")
    )


class EncoderTask(Task[E]):
    """A task whose model has no decoder. A source in a store is a text with [CLS] and [SEP]."""

    shape: PreparedShape
    heads: Heads
    COUNTED: ClassVar[str]  # the items that the reports on the data count

    @classmethod
    def prepared(cls, recipe: E, start: RunStart) -> Self:
        return start.workers.after_first(lambda: cls._prepared(recipe, start))

    @classmethod
    @abstractmethod
    def _prepared(cls, recipe: E, start: RunStart) -> Self: ...

    def new_model(self, seed: int) -> EncoderOnly:
        """The model at its first step. The encoder, the pooler and the heads for pretraining come
        from `init`. A pooler that no head reads is not trained, so weight decay does not change
        it."""
        torch.manual_seed(seed)
        model = build_encoder_only(self.shape.config, **self.heads.parts())
        if self.shape.init is not None:
            given = read_weights(self.shape.init.path / WEIGHTS)
            own = model.state_dict()
            for name, weight in given.items():
                if name.startswith("encoder.") or (name.startswith(KEPT_HEADS) and name in own):
                    own[name].copy_(weight)
        if model.pooler is not None and not (self.heads.labels or self.heads.next_sentence):
            model.pooler.requires_grad_(False)
        return model

    def save(
        self,
        model: EncoderOnly,
        path: Path,
        card: str,
        facts: Mapping[str, Any],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        save_model_folder(
            path,
            model,
            self.shape.tokenizer,
            Traits(
                heads=self.heads,
                languages=(self.recipe.source_language, self.recipe.target_language),
                trained_length=self._longest(),
            ),
            card=card,
            training=facts,
            dtype=dtype,
        )

    def _longest(self) -> int:
        """The number of tokens of the longest training text. The model reads longer texts in
        parts."""
        source, target = self.train.lengths()
        return int((source + target).max() if self.heads.next_sentence else source.max())

    def collated(self, texts: Sequence[Sequence[int] | NDArray[Any]]) -> TextBatch:
        """Ids with [CLS] and [SEP] as a padded batch. Without a text it is a batch of one [SEP]."""
        pad, end = self.shape.config.pad, self.shape.config.end
        ids_BS = padded(texts or [[end]], pad)
        ends_BS = (ids_BS == end).long()
        past_first_BS = (ends_BS.cumsum(1) - ends_BS) > 0
        return TextBatch(ids_BS, (past_first_BS & (ids_BS != pad)).long())

    def valid_batches(self) -> Sequence[Indices]:
        """Batches of all held-out examples."""
        longest = max(4096, int(max(side.max() for side in self.valid.lengths())))
        return BatchSampler(self.valid, longest, seed=0).epoch_batches(0)

    @abstractmethod
    def batch(self, pairs: Indices, epoch: int) -> TaskBatch: ...

    @classmethod
    def outlook(cls, recipe: E, progress: Progress) -> Outlook:
        """The outlook of a run. Prepares the data in a temporary folder."""
        with TemporaryDirectory() as folder:
            start = RunStart(Path(folder), torch.device("cpu"), ALONE, lambda text: None, progress)
            task = cls.prepared(recipe, start)
            files = [
                (part, name, [Path(name)])
                for part, store in (("train", task.train), ("valid", task.valid))
                for name in store.report.corpora
            ]
            model = task.new_model(recipe.seed)
            return Outlook(
                files,
                cls.COUNTED,
                model,
                task.epoch_survey(),
                objective=lambda device: task.objective(model, device),
                made_up=task.of_length,
            )

    def epoch_survey(self) -> Survey:
        """Exact counts of an epoch."""
        budget, seed = self.recipe.training.batch_tokens, self.recipe.seed
        batches = BatchSampler(self.train, budget, seed, self.weights).epoch_batches(0)
        some = batches[:SURVEYED]
        labels = sum(self.batch(pairs, 0).target_tokens for pairs in some)
        source, target = self.train.lengths()
        return Survey(
            pairs=self.train.report.read,
            kept=len(self.train),
            epoch_batches=len(batches),
            epoch_tokens=labels * len(batches) / len(some),
            batches=[(len(b), int(source[b].max()), int(target[b].max())) for b in batches],
        )

    def of_length(self, rows: int, source: int, target: int) -> TaskBatch:
        """A batch of `rows` examples with lengths near `source`."""
        own = self.train.lengths()
        far = np.abs(own[0] - source) + np.abs(own[1] - target)
        nearest = np.argsort(far, kind="stable")[:rows]
        return self.batch(np.resize(nearest, rows).astype(np.uint32), 0)


class EncoderObjective(TrainingLoss):
    """The smoothed loss of a model without a decoder. With R-Drop the batch passes through the
    model twice, as one batch of double size. Word dropout replaces tokens by [MASK]."""

    def __init__(
        self,
        model: EncoderOnly,
        training: TrainingSection,
        device: torch.device,
        tokenizer: AnyEncoderTokenizer,
    ) -> None:
        super().__init__(model)
        self.model: EncoderOnly = model
        self.smoothing = training.label_smoothing
        self.r_drop = training.r_drop
        self.passes = 2 if training.r_drop else 1
        self._word_dropout = training.word_dropout
        self._narrow = training.precision == "bf16"
        self._device = device
        self._mask = tokenizer.MASK
        self._special = (tokenizer.PAD, tokenizer.START, tokenizer.END, tokenizer.UNKNOWN)

    def forward(self, batch: Any) -> Tensor:
        """The loss of a batch; 0 for None."""
        if batch is None or not batch.target_tokens:
            return self.nothing()
        ids_BS = batch.text.ids_BS.to(self._device).repeat(self.passes, 1)
        ids_BS = word_dropout(ids_BS, self._word_dropout, self._mask, self._special)
        segments_BS = _segments(self.model, batch.text, self._device)
        if segments_BS is not None:
            segments_BS = segments_BS.repeat(self.passes, 1)
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._narrow):
            return self.loss(self.model(ids_BS, segments_BS).states_BSD, batch)

    @abstractmethod
    def loss(self, states_BSD: Tensor, batch: Any) -> Tensor:
        """The loss in nats, summed over the labels. The states are those of all passes, one after
        the other."""


def encoded(model: EncoderOnly, text: TextBatch, device: torch.device) -> Tensor:
    """The states BSD of a batch."""
    memory: Memory = model(text.ids_BS.to(device), _segments(model, text, device))
    return memory.states_BSD


def _segments(model: EncoderOnly, text: TextBatch, device: torch.device) -> Tensor | None:
    """The segments, or None if the model has no embeddings for segments."""
    if not model.config.segments or text.segments is None:
        return None
    return text.segments.to(device)
