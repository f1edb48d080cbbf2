"""Classification: predicts a label for a text or a pair of texts (Devlin et al. 2019, 4.1).

B batch · S length · D d_model · L labels
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.data.batches import Indices
from allyouneed.data.examples import Example
from allyouneed.data.labelled import LabelledCorpus, LabelledText, read_labelled
from allyouneed.data.report import DataReport
from allyouneed.data.store import TokenStore
from allyouneed.errors import RecipeError
from allyouneed.model_folder.config import Heads
from allyouneed.text.bpe_dropout import BpeDropout
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.chance import number_from
from allyouneed.training.loss import label_smoothed_loss, r_drop_loss
from allyouneed.training.recipe.encoder_schema import ClassifyRecipe, LabelledSection
from allyouneed.training.tasks.encoder import (
    EncoderObjective,
    EncoderTask,
    PreparedShape,
    TextBatch,
    encoded,
    names_in,
    number_of,
    shape_of,
    stores_of,
)
from allyouneed.training.tasks.task import RunStart
from allyouneed.training.validation import ByErrors
from allyouneed.training.workers import Workers

NO_LABEL = -1


@dataclass(frozen=True, slots=True)
class LabelledBatch:
    """Texts and their labels."""

    text: TextBatch
    labels_B: Tensor
    target_tokens: int


class Classify(EncoderTask[ClassifyRecipe]):
    """Texts with labels. The labels are those of the training data, in alphabetical order. BPE
    dropout, if the recipe has it, is seeded by (seed, epoch, number of the text)."""

    UNIT = "label"
    COUNTED = "texts"

    def __init__(
        self,
        recipe: ClassifyRecipe,
        shape: PreparedShape,
        labels: Sequence[str],
        train: TokenStore,
        valid: TokenStore,
    ) -> None:
        self.recipe = recipe
        self.shape = shape
        self.train, self.valid = train, valid
        self.weights = [section.weight for section in recipe.data.train]
        self.heads = Heads(labels=tuple(labels), pooler=True)
        self._bpe_dropout = _bpe_dropout(recipe, shape)

    @classmethod
    def _prepared(cls, recipe: ClassifyRecipe, start: RunStart) -> Self:
        train = [_corpus(recipe, section) for section in recipe.data.train]
        valid = [_corpus(recipe, section) for section in recipe.data.valid]
        start.progress("reading the labels", 0, None)
        counts = Counter(text.label for text in _read(train))
        labels = names_in(counts, train, "label", start.note)
        texts = lambda: (one for text in _read(train) for one in text.texts)  # noqa: E731
        shape = shape_of(recipe, start, train, texts)
        stores = stores_of(
            train,
            valid,
            lambda corpora: _Examples(corpora, shape, labels),
            lambda corpus: [corpus.texts, corpus.label],
            shape,
            start,
            cls.COUNTED,
            labels,
        )
        return cls(recipe, shape, labels, *stores)

    def objective(self, model: EncoderOnly, device: torch.device) -> "ClassifyObjective":
        return ClassifyObjective(model, self.recipe.training, device, self.shape.tokenizer)

    def batch(self, pairs: Indices, epoch: int) -> LabelledBatch:
        return self._batch(self.train, pairs, epoch)

    def _batch(self, store: TokenStore, pairs: Indices, epoch: int | None) -> LabelledBatch:
        """The texts as a batch. With an epoch, BPE dropout is applied if the recipe has it."""
        texts: list[Sequence[int]] = []
        labels: list[int] = []
        for number in map(int, pairs):
            ids, (label,) = (found.tolist() for found in store.pair(number))
            if epoch is not None and self._bpe_dropout is not None:
                chance = number_from(self.recipe.seed, "pieces", epoch, number)
                ids = self._bpe_dropout(ids, random.Random(chance))
            texts.append(ids)
            labels.append(label)
        return LabelledBatch(self.collated(texts), torch.tensor(labels), len(labels))

    def measure(self, model: EncoderOnly, device: torch.device, workers: Workers) -> ByErrors:
        loss, right, count = 0.0, 0, 0
        for pairs in workers.mine(self.valid_batches()):
            batch = self._batch(self.valid, pairs, None)
            labels_B = batch.labels_B.to(device)
            logits_BL = self._logits(model, batch, device)
            loss += float(label_smoothed_loss(logits_BL, labels_B, 0.0, NO_LABEL))
            right += int((logits_BL.argmax(-1) == labels_B).sum())
            count += len(labels_B)
        loss, all_right, texts = workers.sum([loss, right, count])
        return ByErrors(loss / texts, all_right / texts, None, self._samples(model, device))

    def _logits(self, model: EncoderOnly, batch: LabelledBatch, device: torch.device) -> Tensor:
        logits_BL: Tensor = model.heads["labels"](encoded(model, batch.text, device))
        return logits_BL

    def _samples(self, model: EncoderOnly, device: torch.device) -> list[list[str]]:
        """[text, label, predicted label with its probability] of the first held-out texts."""
        samples = []
        for number in range(min(self.recipe.validation.samples, len(self.valid))):
            batch = self._batch(self.valid, torch.tensor([number]).numpy(), None)
            p_L = self._logits(model, batch, device).softmax(-1)[0]
            best = int(p_L.argmax())
            names = self.heads.labels
            text = self.shape.tokenizer.decode(batch.text.ids_BS[0].tolist())
            found = f"{names[best]} ({float(p_L[best]):.0%})"
            samples.append([text.strip(), names[int(batch.labels_B[0])], found])
        return samples


class ClassifyObjective(EncoderObjective):
    """The cross-entropy of the labels."""

    def loss(self, states_BSD: Tensor, batch: LabelledBatch) -> Tensor:
        logits_BL = self.model.heads["labels"](states_BSD)
        labels_B = batch.labels_B.to(logits_BL.device)
        if self.passes == 1:
            return label_smoothed_loss(logits_BL, labels_B, self.smoothing, NO_LABEL)
        both_2BL = logits_BL.unflatten(0, (2, -1))
        return r_drop_loss(both_2BL, labels_B, self.smoothing, self.r_drop, NO_LABEL)


@dataclass(frozen=True, slots=True)
class _Examples:
    """Makes examples: [CLS] text [SEP], or [CLS] one [SEP] other [SEP], and the label's number."""

    corpora: Sequence[LabelledCorpus]
    shape: PreparedShape
    labels: Sequence[str]

    def __call__(self, index: int, report: DataReport) -> Iterator[Example]:
        corpus, longest = self.corpora[index], self.shape.config.max_positions
        counts: Counter[str] = Counter()
        for text in read_labelled(corpus, report, index):
            label = number_of(text.label, self.labels, corpus.name, text.line, "label")
            ids = self._ids(text)
            if len(ids) > longest:
                detail = f"{len(ids)} tokens, model.max_positions={longest}"
                report.leave_out("too long", index, text.line, detail)
                continue
            counts[text.label] += 1
            yield Example(ids, [label], text.line)
        often = ", ".join(f"{label} {counts[label]:,}" for label in self.labels)
        report.remarks.append(f"{corpus.name}: {often}")

    def _ids(self, text: LabelledText) -> list[int]:
        tokenizer = self.shape.tokenizer
        return [tokenizer.START, *(i for ids in tokenizer.encode_ids(text.texts) for i in ids)]


def _corpus(recipe: ClassifyRecipe, section: LabelledSection) -> LabelledCorpus:
    values: dict[str, Any] = section.model_dump(exclude={"weight"})
    return LabelledCorpus(**{**values, "source": recipe.locate(section.source)})


def _read(corpora: Sequence[LabelledCorpus]) -> Iterator[LabelledText]:
    for corpus in corpora:
        yield from read_labelled(corpus, DataReport([corpus.name]))  # the store reports problems


def _bpe_dropout(recipe: ClassifyRecipe, shape: PreparedShape) -> BpeDropout | None:
    if not recipe.vocabulary.dropout:
        return None
    if not isinstance(shape.tokenizer, Tokenizer):
        raise RecipeError(
            f"vocabulary.dropout = {recipe.vocabulary.dropout} needs this project's own tokenizer, "
            "but the tokenizer of training.init was imported; leave the key out"
        )
    return BpeDropout(shape.tokenizer, recipe.vocabulary.dropout, shape.config.max_positions)
