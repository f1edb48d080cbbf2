"""The masked language model (Devlin et al. 2019, 3.1): predicts hidden words of running text, and
whether one segment follows another.

B batch · S length · P hidden places · D d_model · V vocabulary · R passes
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.core.heads import NextSentenceHead
from allyouneed.data.batches import Indices
from allyouneed.data.examples import Example
from allyouneed.data.report import DataReport
from allyouneed.data.running_text import TextCorpus, read_paragraphs, text_files
from allyouneed.data.store import TokenStore
from allyouneed.errors import DataError, RecipeError
from allyouneed.model_folder.config import Heads
from allyouneed.training.chance import number_from
from allyouneed.training.loss import fused_loss, label_smoothed_loss
from allyouneed.training.recipe.encoder_schema import HELD_OUT, MaskedLanguageRecipe, TextSection
from allyouneed.training.tasks.encoder import (
    EncoderObjective,
    EncoderTask,
    PreparedShape,
    TextBatch,
    encoded,
    shape_of,
    stores_of,
)
from allyouneed.training.tasks.masking import Masked, Masking
from allyouneed.training.tasks.task import RunStart
from allyouneed.training.validation import Measured
from allyouneed.training.workers import Workers

VALIDATION = ("held out",)  # the seed of the masks in validation


@dataclass(frozen=True, slots=True)
class MaskedBatch:
    """Texts with hidden words: the places P of these words in the flattened texts, the words
    themselves, and, with next sentences, whether the second segment comes from elsewhere."""

    text: TextBatch
    places_P: Tensor
    labels_P: Tensor
    elsewhere_B: Tensor | None

    @property
    def target_tokens(self) -> int:
        """The number of hidden words."""
        return len(self.labels_P)


@dataclass(frozen=True, slots=True)
class MaskedValidation(Measured):
    """The result for a masked language model. `loss` is in nats per hidden word; `accuracy` is the
    share of hidden words predicted correctly. `unigram` is the loss of predicting the same words by
    their frequency in the training text (with 1 added to each count), and `of_unigram` is loss /
    unigram. `next_sentence` is the share of correct answers."""

    accuracy: float
    unigram: float
    of_unigram: float
    next_sentence: float | None
    samples: Sequence[list[str]]


class MaskedLanguageModel(EncoderTask[MaskedLanguageRecipe]):
    """Running text, cut into examples of a maximum length. The hidden words and the exchanged
    second segments are drawn with the seed (seed, epoch, number of the example)."""

    UNIT = "masked word"
    COUNTED = "examples"

    def __init__(
        self,
        recipe: MaskedLanguageRecipe,
        shape: PreparedShape,
        train: TokenStore,
        valid: TokenStore,
    ) -> None:
        self.recipe = recipe
        self.shape = shape
        self.train, self.valid = train, valid
        self.weights = [
            section.weight for section in recipe.data.train for _ in _files(recipe, section)
        ]
        told = recipe.masking.next_sentence
        self.heads = Heads(masked_words=True, next_sentence=told, pooler=told or shape.pooler)
        self._masking = Masking(shape.tokenizer, recipe.masking.share, recipe.masking.whole_words)

    @classmethod
    def _prepared(cls, recipe: MaskedLanguageRecipe, start: RunStart) -> Self:
        train = [file for section in recipe.data.train for file in _files(recipe, section)]
        valid = [file for section in recipe.data.valid for file in _files(recipe, section)]
        if not valid:
            share = HELD_OUT if recipe.data.held_out is None else recipe.data.held_out
            valid = [replace(corpus, part="end", held_out=share) for corpus in train]
            train = [replace(corpus, part="beginning", held_out=share) for corpus in train]
            percent = f"{100 * share:.3g}%"
            start.note(f"validation data: the last {percent} of the lines of each file")
            if next(_texts(valid), None) is None:
                raise DataError(
                    f"no paragraph begins in the last {percent} of the lines, which are the "
                    "validation data; put empty lines between paragraphs, or name texts in "
                    "data.valid"
                )
        shape = shape_of(recipe, start, train, lambda: _texts(train))
        length = recipe.masking.length
        if length > shape.config.max_positions:
            raise RecipeError(
                f"masking.length = {length} is more than the model's {shape.config.max_positions} "
                "positions; lower it, or raise model.max_positions"
            )
        two = recipe.masking.next_sentence
        stores = stores_of(
            train,
            valid,
            lambda corpora: _Examples(corpora, shape, length, two),
            lambda corpus: [length, two, corpus.part, corpus.held_out],
            shape,
            start,
            cls.COUNTED,
        )
        return cls(recipe, shape, *stores)

    def objective(self, model: EncoderOnly, device: torch.device) -> "MaskedObjective":
        return MaskedObjective(model, self.recipe.training, device, self.shape.tokenizer)

    def batch(self, pairs: Indices, epoch: int) -> MaskedBatch:
        return self.masked(self.train, pairs, (self.recipe.seed, "masks", epoch))

    def masked(self, store: TokenStore, pairs: Indices, chance: tuple[object, ...]) -> MaskedBatch:
        """These examples with masks drawn with the seed (`chance`, number of the example)."""
        told = self.recipe.masking.next_sentence
        texts: list[Masked] = []
        elsewhere: list[int] = []
        for number in map(int, pairs):
            rng = np.random.Generator(np.random.PCG64(number_from(*chance, number)))
            ids, second = store.pair(number)
            if told:
                other = len(store) > 1 and rng.random() < 0.5
                if other:
                    away = int(rng.integers(1, len(store)))
                    _, second = store.pair((number + away) % len(store))
                ids = np.concatenate([ids, second])
                elsewhere.append(NextSentenceHead.ELSEWHERE if other else NextSentenceHead.FOLLOWS)
            texts.append(self._masking(ids.astype(np.int64), rng))
        text = self.collated([one.ids for one in texts])
        width = text.ids_BS.size(1)
        none = np.zeros(0, dtype=np.int64)
        places = [row * width + one.places for row, one in enumerate(texts)]
        return MaskedBatch(
            text,
            torch.from_numpy(np.concatenate([none, *places])),
            torch.from_numpy(np.concatenate([none, *(one.hidden for one in texts)])),
            torch.tensor(elsewhere) if told else None,
        )

    def measure(
        self, model: EncoderOnly, device: torch.device, workers: Workers
    ) -> MaskedValidation:
        """The result on held-out data, with the same masks every time."""
        sums = np.zeros(6)
        for pairs in workers.mine(self.valid_batches()):
            batch = self.masked(self.valid, pairs, VALIDATION)
            labels_P = batch.labels_P.to(device)
            states_BSD = encoded(model, batch.text, device)
            logits_PV = _logits(model, states_BSD, batch)
            loss = label_smoothed_loss(logits_PV, labels_P, 0.0, model.config.pad)
            right = (logits_PV.argmax(-1) == labels_P).sum()
            unigram = -self._log_frequencies[batch.labels_P.numpy()].sum()
            sums[:4] += float(loss), float(right), float(unigram), len(labels_P)
            if batch.elsewhere_B is not None:
                found_B = model.heads["next_sentence"](states_BSD).argmax(-1).cpu()
                sums[4:] += int((found_B == batch.elsewhere_B).sum()), len(found_B)
        nats, guessed, frequent, words, told, texts = workers.sum(sums.tolist())
        return MaskedValidation(
            nats / words,
            guessed / words,
            frequent / words,
            nats / frequent,
            told / texts if texts else None,
            self._samples(model, device),
        )

    @cached_property
    def _log_frequencies(self) -> Any:
        """The logarithm V of each piece's frequency in the training text, with 1 added to each
        count."""
        counts = np.ones(self.shape.config.vocabulary)
        for number in range(len(self.train)):
            for ids in self.train.pair(number):
                np.add.at(counts, ids, 1)
        tokenizer = self.shape.tokenizer
        counts[[tokenizer.PAD, tokenizer.START, tokenizer.END, tokenizer.MASK]] = 0
        with np.errstate(divide="ignore"):
            return np.log(counts / counts.sum())

    def _samples(self, model: EncoderOnly, device: torch.device) -> list[list[str]]:
        """[text with masks, hidden words, predicted words] of the first examples."""
        samples = []
        for number in range(min(self.recipe.validation.samples, len(self.valid))):
            batch = self.masked(self.valid, torch.tensor([number]).numpy(), VALIDATION)
            found_P = _logits(model, encoded(model, batch.text, device), batch).argmax(-1)
            shown = batch.text.ids_BS[0].clone()
            shown[batch.places_P] = self.shape.tokenizer.MASK
            hidden, found = self._pieces(batch.labels_P), self._pieces(found_P)
            samples.append([self._text(shown.tolist()), hidden, found])
        return samples

    def _pieces(self, ids_P: Tensor) -> str:
        return " ·".join(self.shape.tokenizer.piece(i) for i in ids_P.tolist()).strip()

    def _text(self, ids: Sequence[int]) -> str:
        mask, spelling = self.shape.tokenizer.MASK, self.shape.tokenizer.spelling
        pieces = [b" [MASK]" if i == mask else spelling(i) for i in ids]
        return b"".join(pieces).decode(errors="replace").strip()


class MaskedObjective(EncoderObjective):
    """The cross-entropy of the hidden words.

    With next sentences, the cross-entropy of an example's next sentence is added once for each of
    its hidden words. The sum is then the same for every division into batches. Devlin et al. 2019,
    A.2, add the two means instead; here longer examples have more weight in the second term."""

    def loss(self, states_BSD: Tensor, batch: MaskedBatch) -> Tensor:
        head: Any = self.model.heads["masked_words"]
        device = states_BSD.device
        states_RPD = states_BSD.reshape(self.passes, -1, states_BSD.size(-1))
        states_RPD = states_RPD[:, batch.places_P.to(device)]
        words = fused_loss(
            head.norm(head.activation(head.W(states_RPD.flatten(0, 1)))),
            head.output,
            batch.labels_P.to(device),
            self.smoothing,
            self.model.config.pad,
            self.r_drop,
        )
        if batch.elsewhere_B is None:
            return words
        rows = len(batch.elsewhere_B)
        row_of_P = batch.places_P // batch.text.ids_BS.size(1)
        hidden_B = row_of_P.bincount(minlength=rows).to(device).repeat(self.passes)
        elsewhere_B = batch.elsewhere_B.to(device).repeat(self.passes)
        logits_B2 = self.model.heads["next_sentence"](states_BSD)
        told_B = cross_entropy(logits_B2.float(), elsewhere_B, reduction="none")
        return words + (told_B * hidden_B).sum() / self.passes


def _logits(model: EncoderOnly, states_BSD: Tensor, batch: MaskedBatch) -> Tensor:
    states_PD = states_BSD.flatten(0, 1)[batch.places_P.to(states_BSD.device)]
    logits_PV: Tensor = model.heads["masked_words"](states_PD)
    return logits_PV


@dataclass(frozen=True, slots=True)
class _Examples:
    """Makes examples of as many sentences as fit: [CLS] sentences [SEP], or two segments of half
    the length, [CLS] sentences [SEP] sentences [SEP]. A sentence that alone does not fit is cut."""

    corpora: Sequence[TextCorpus]
    shape: PreparedShape
    length: int
    two: bool

    def __call__(self, index: int, report: DataReport) -> Iterator[Example]:
        tokenizer = self.shape.tokenizer
        segments = self._segments(index, report)
        for ids, line in segments:
            second: list[int] = []
            if self.two:
                following = next(segments, None)
                if following is None:
                    report.leave_out("without a second segment", index, line, "")
                    return
                second = following[0]
            first = [tokenizer.START, *ids, tokenizer.END]
            yield Example(first, [*second, tokenizer.END], line)

    def _segments(self, index: int, report: DataReport) -> Iterator[tuple[list[int], int]]:
        """The segments of a corpus: the ids of each, without [CLS] and [SEP], and the line at which
        its first paragraph begins."""
        room = (self.length - 3) // 2 if self.two else self.length - 2
        held: list[int] = []
        begin = 0
        for paragraph in read_paragraphs(self.corpora[index], report, index):
            for ids in self.shape.tokenizer.encode_ids(paragraph.sentences):
                ids = ids[:-1]
                if held and len(held) + len(ids) > room:
                    yield held, begin
                    held = []
                while len(ids) > room:
                    yield ids[:room], paragraph.line
                    ids = ids[room:]
                if not held:
                    begin = paragraph.line
                held += ids
        if held:
            yield held, begin


def _files(recipe: MaskedLanguageRecipe, section: TextSection) -> list[TextCorpus]:
    return text_files(TextCorpus(recipe.locate(section.source)))


def _texts(corpora: Sequence[TextCorpus]) -> Iterator[str]:
    for corpus in corpora:
        for paragraph in read_paragraphs(corpus, DataReport([corpus.name])):
            yield " ".join(paragraph.sentences)
