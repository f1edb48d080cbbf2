"""Tagging: predicts a tag for each word from its first piece (Devlin et al. 2019, 5.3).

B batch · S length · X places of the flattened texts · P first pieces of words · D d_model · L tags
R passes
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.data.batches import Indices
from allyouneed.data.examples import Example
from allyouneed.data.report import DataReport
from allyouneed.data.store import TokenStore
from allyouneed.data.tagged import TaggedCorpus, TaggedText, read_tagged
from allyouneed.evaluation.spans import span_f1
from allyouneed.model_folder.config import Heads
from allyouneed.text.words import first_pieces
from allyouneed.training.loss import label_smoothed_loss, r_drop_loss
from allyouneed.training.recipe.encoder_schema import TaggedSection, TagRecipe
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

NO_TAG = -1


@dataclass(frozen=True, slots=True)
class TaggedBatch:
    """Texts, the places P of their words' first pieces in the flattened texts, and the tags there.
    `words_B` is the number of words of each text."""

    text: TextBatch
    places_P: Tensor
    tags_P: Tensor
    words_B: list[int]

    @property
    def target_tokens(self) -> int:
        """The number of words."""
        return len(self.tags_P)


class Tag(EncoderTask[TagRecipe]):
    """Sentences with a tag for each word. The tags are those of the training data, in alphabetical
    order."""

    UNIT = "tag"
    COUNTED = "sentences"

    def __init__(
        self,
        recipe: TagRecipe,
        shape: PreparedShape,
        tags: Sequence[str],
        train: TokenStore,
        valid: TokenStore,
    ) -> None:
        self.recipe = recipe
        self.shape = shape
        self.train, self.valid = train, valid
        self.weights = [section.weight for section in recipe.data.train]
        self.heads = Heads(tags=tuple(tags), pooler=shape.pooler)

    @classmethod
    def _prepared(cls, recipe: TagRecipe, start: RunStart) -> Self:
        train = [_corpus(recipe, section) for section in recipe.data.train]
        valid = [_corpus(recipe, section) for section in recipe.data.valid]
        start.progress("reading the tags", 0, None)
        counts = Counter(tag for text in _read(train) for tag in text.tags)
        tags = names_in(counts, train, "tag", start.note)
        texts = lambda: (" ".join(text.words) for text in _read(train))  # noqa: E731
        shape = shape_of(recipe, start, train, texts)
        stores = stores_of(
            train,
            valid,
            lambda corpora: _Examples(corpora, shape, tags),
            lambda corpus: [corpus.resolved_format],
            shape,
            start,
            cls.COUNTED,
            tags,
        )
        return cls(recipe, shape, tags, *stores)

    def objective(self, model: EncoderOnly, device: torch.device) -> "TagObjective":
        return TagObjective(model, self.recipe.training, device, self.shape.tokenizer)

    def batch(self, pairs: Indices, epoch: int) -> TaggedBatch:
        return self._batch(self.train, pairs)

    def _batch(self, store: TokenStore, pairs: Indices) -> TaggedBatch:
        found = [store.pair(int(number)) for number in pairs]
        text = self.collated([source for source, _ in found])
        width = text.ids_BS.size(1)
        rows = [torch.from_numpy(target.astype("int64")) for _, target in found]
        places = [row.nonzero()[:, 0] for row in rows]  # a row is 0 where no word begins
        none = torch.zeros(0, dtype=torch.int64)
        return TaggedBatch(
            text,
            torch.cat([none, *(n * width + place for n, place in enumerate(places))]),
            torch.cat([none, *(row[row > 0] - 1 for row in rows)]),
            [len(place) for place in places],
        )

    def measure(self, model: EncoderOnly, device: torch.device, workers: Workers) -> ByErrors:
        """The result on held-out data. With tags that begin with B- and I-, as in CoNLL's data, f1
        is the F1 of spans; with other tags it is None."""
        loss = 0.0
        told: list[tuple[list[str], list[str]]] = []
        for pairs in workers.mine(self.valid_batches()):
            batch = self._batch(self.valid, pairs)
            logits_PL = self._logits(model, batch, device)
            loss += float(label_smoothed_loss(logits_PL, batch.tags_P.to(device), 0.0, NO_TAG))
            found_P = logits_PL.argmax(-1).cpu()
            for right, found in zip(
                torch.split(batch.tags_P, batch.words_B),
                torch.split(found_P, batch.words_B),
                strict=True,
            ):
                told.append((self._names(right), self._names(found)))
        told = workers.together(told)
        (nats,) = workers.sum([loss])
        words = sum(len(right) for right, _ in told)
        hits = sum(a == b for right, found in told for a, b in zip(right, found, strict=True))
        return ByErrors(nats / words, hits / words, span_f1(told), self._samples(model, device))

    def _logits(self, model: EncoderOnly, batch: TaggedBatch, device: torch.device) -> Tensor:
        states_XD = encoded(model, batch.text, device).flatten(0, 1)
        logits_PL: Tensor = model.heads["tags"](states_XD[batch.places_P.to(device)])
        return logits_PL

    def _names(self, tags: Tensor) -> list[str]:
        return [self.heads.tags[number] for number in tags.tolist()]

    def _samples(self, model: EncoderOnly, device: torch.device) -> list[list[str]]:
        """[text, tags, predicted tags] of the first held-out sentences."""
        samples = []
        for number in range(min(self.recipe.validation.samples, len(self.valid))):
            batch = self._batch(self.valid, torch.tensor([number]).numpy())
            found = self._names(self._logits(model, batch, device).argmax(-1))
            text = self.shape.tokenizer.decode(batch.text.ids_BS[0].tolist())
            samples.append([text.strip(), " ".join(self._names(batch.tags_P)), " ".join(found)])
        return samples


class TagObjective(EncoderObjective):
    """The cross-entropy of the tags."""

    def loss(self, states_BSD: Tensor, batch: TaggedBatch) -> Tensor:
        states_RXD = states_BSD.reshape(self.passes, -1, states_BSD.size(-1))
        states_RPD = states_RXD[:, batch.places_P.to(states_BSD.device)]
        logits_RPL = self.model.heads["tags"](states_RPD)
        tags_P = batch.tags_P.to(states_BSD.device)
        if self.passes == 1:
            return label_smoothed_loss(logits_RPL[0], tags_P, self.smoothing, NO_TAG)
        return r_drop_loss(logits_RPL, tags_P, self.smoothing, self.r_drop, NO_TAG)


@dataclass(frozen=True, slots=True)
class _Examples:
    """Makes examples: [CLS] words [SEP], and a number for each piece. The number is 1 + the tag's
    number for a word's first piece, otherwise 0."""

    corpora: Sequence[TaggedCorpus]
    shape: PreparedShape
    tags: Sequence[str]

    def __call__(self, index: int, report: DataReport) -> Iterator[Example]:
        corpus, longest = self.corpora[index], self.shape.config.max_positions
        tokenizer = self.shape.tokenizer
        for text in read_tagged(corpus, report, index):
            tags = [number_of(t, self.tags, corpus.name, text.line, "tag") for t in text.tags]
            joined = " ".join(text.words)
            encoding = tokenizer.encode(joined)
            if len(encoding.ids) + 1 > longest:
                detail = f"{len(encoding.ids) + 1} tokens, model.max_positions={longest}"
                report.leave_out("too long", index, text.line, detail)
                continue
            target = [0] * (len(encoding.ids) + 1)
            for piece, tag in zip(first_pieces(joined, encoding.spans), tags, strict=True):
                target[piece + 1] = tag + 1
            yield Example([tokenizer.START, *encoding.ids], target, text.line)


def _corpus(recipe: TagRecipe, section: TaggedSection) -> TaggedCorpus:
    return TaggedCorpus(recipe.locate(section.source), section.format)


def _read(corpora: Sequence[TaggedCorpus]) -> Iterator[TaggedText]:
    for corpus in corpora:
        yield from read_tagged(corpus, DataReport([corpus.name]))  # the store reports problems
