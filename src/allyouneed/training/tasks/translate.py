"""Translation: pairs of sentences in; a Transformer that writes the second of them out."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.data.batches import BatchSampler, Indices
from allyouneed.data.collate import Batch, collate
from allyouneed.data.corpus import Side
from allyouneed.data.store import CorpusOfStore
from allyouneed.data.store_writer import Progress
from allyouneed.engine.lexical_translation import learn_lexical_translation
from allyouneed.engine.selection_learning import CANDIDATES, likeliest
from allyouneed.evaluation.metrics import bleu, bleu_by_direction
from allyouneed.model_folder.folder import (
    VOCABULARY_SELECTION,
    ModelFolder,
    save_model_folder,
)
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.vocabulary_selection import VocabularySelection
from allyouneed.text.bpe_dropout import BpeDropout
from allyouneed.text.languages import Languages
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.chance import number_from
from allyouneed.training.corpora import corpora_of, tables_of
from allyouneed.training.distillation import distil, teachers_of
from allyouneed.training.guided_alignment import split_links
from allyouneed.training.loss import label_smoothed_loss
from allyouneed.training.objective import Objective
from allyouneed.training.preparation import Material, all_that_fit, filters_of, prepare
from allyouneed.training.recipe.schema import PairsRecipe
from allyouneed.training.starting_model import (
    alignment_heads_of,
    languages_into,
    languages_of,
    length_penalty_of,
    multilingual_of,
    normaliser_of,
    start_from,
    tokenizer_of,
)
from allyouneed.training.survey import Sample, lengths_of, sample, survey, texts, texts_by_language
from allyouneed.training.tasks.task import Outlook, RunStart, Task
from allyouneed.training.terms import term_hints_of, term_mark_of
from allyouneed.training.validation import Measured, Validation
from allyouneed.training.vocabulary import balanced
from allyouneed.training.workers import Workers
from allyouneed.translation.rules import TextRules
from allyouneed.translation.translator import Translator


class Translate(Task[PairsRecipe]):
    """Pairs of sentences. With BPE dropout in the recipe, every epoch cuts them into other pieces.
    The choice of pieces follows from (seed, side, epoch, number of the pair) alone.
    """

    def __init__(self, recipe: PairsRecipe, material: Material) -> None:
        self.recipe = recipe
        self.material = material
        self.tokenizer = material.tokenizer
        self.train, self.valid = material.train, material.valid
        self.weights = material.weights
        self._bpe_dropout = BpeDropout(
            material.tokenizer, recipe.vocabulary.dropout, material.config.max_positions
        )

    @classmethod
    def prepared(cls, recipe: PairsRecipe, start: RunStart) -> Self:
        _look_over(recipe)
        distilled = distil(
            recipe, start.folder, start.device, start.workers, start.note, start.progress
        )
        material = start.workers.after_first(
            lambda: prepare(recipe, start.folder, start.note, start.progress, distilled)
        )
        return cls(recipe, material)

    @classmethod
    def outlook(cls, recipe: PairsRecipe, progress: Progress) -> Outlook:
        """A sample of the corpora is tokenised; teachers have to be there, and do nothing yet."""
        init = start_from(recipe)
        for section in recipe.data.train:
            teachers_of(section, languages_of(recipe, init))
        normaliser = normaliser_of(recipe, init)
        tables = {
            part: [
                [replace(corpus, normaliser=normaliser) for corpus in table]
                for table in tables_of(recipe, getattr(recipe.data, part))
            ]
            for part in ("train", "valid")
        }
        files = [
            (part, corpus.name, corpus.files)
            for part, corpora in tables.items()
            for table in corpora
            for corpus in table
        ]
        samples, held_out = (
            [[sample(corpus, progress) for corpus in table] for table in tables[part]]
            for part in ("train", "valid")
        )
        tokenizer, config = _vocabulary_and_shape(recipe, init, samples)
        lengths_of(held_out, tokenizer, all_that_fit(config))
        filters = filters_of(recipe, config, [one for table in tables["valid"] for one in table])
        progress("tokenising a sample", sum(one.read for table in samples for one in table), None)
        hints = term_hints_of(recipe, init, tokenizer, normaliser, filters.max_tokens)
        epoch = survey(recipe, samples, tokenizer, filters, hints)
        model = Transformer(config)
        return Outlook(
            files,
            "pairs",
            model,
            epoch,
            objective=lambda device: Objective(
                model, recipe.training, device, recipe.guided_alignment
            ),
            made_up=lambda rows, source, target: made_up_pairs(
                config, rows, source, target, recipe.guided_alignment is not None
            ),
            teachers=recipe.teachers,
        )

    def new_model(self, seed: int) -> Transformer:
        return self.material.new_model(seed)

    def objective(self, model: Transformer, device: torch.device) -> Objective:
        return Objective(model, self.recipe.training, device, self.recipe.guided_alignment)

    def batch(self, pairs: Indices, epoch: int) -> Batch:
        config = self.material.config
        if not len(pairs):
            end, start, pad = torch.tensor([config.end, config.start, config.pad]).view(3, 1, 1)
            return Batch(end, start, pad, target_tokens=0)
        augment = self._augment if self.recipe.vocabulary.dropout else None
        linked = self._linked if self.material.links else None
        return collate(self.train, pairs, config.pad, config.start, augment, epoch, linked)

    def _augment(self, ids: Sequence[int], side: Side, epoch: int, index: int) -> Sequence[int]:
        chance = number_from(self.recipe.seed, side, epoch, index)
        return self._bpe_dropout(ids, random.Random(chance))

    def _linked(
        self, numbers: Sequence[int], source_BS: NDArray[np.int64], labels_BT: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Which source token each label comes from, BTS."""
        assert self.material.links is not None
        shape = labels_BT.shape[1], source_BS.shape[1]
        if not self.recipe.vocabulary.dropout:
            return self.material.links.matrices(numbers, *shape)
        linked_BTS = np.zeros((len(numbers), *shape), dtype=np.bool_)
        pad = self.material.config.pad
        for row, number in enumerate(numbers):
            split = [ids[ids != pad].tolist() for ids in (source_BS[row], labels_BT[row])]
            source, target = (ids.tolist() for ids in self.train.pair(number))
            [linked_TS] = self.material.links.matrices([number], len(target), len(source))
            split_TS = split_links(linked_TS, (source, target), (split[0], split[1]), self._bytes)
            linked_BTS[row, : len(split[1]), : len(split[0])] = split_TS
        return linked_BTS

    @cached_property
    def _bytes(self) -> NDArray[np.int64]:
        """How many bytes each piece spells; 1 for those that spell none."""
        spell = self.tokenizer.spelling
        return np.array([max(1, len(spell(id))) for id in range(len(self.tokenizer))])

    def measure(self, model: Transformer, device: torch.device, workers: Workers) -> Measured:
        """The loss over all held-out pairs; BLEU and samples over the first of them."""
        section = self.recipe.validation
        loss, loss_by_direction = self._held_out_losses(model, device, workers)
        written = self._translations(model, workers) if math.isfinite(loss) else []
        if not written:
            return Validation(loss, None, None, [], loss_by_direction=loss_by_direction)
        pairs = self.material.valid_pairs
        references = [reference for _, reference in pairs]
        score = bleu(written, references, resamples=0)
        by_direction = bleu_by_direction(written, references, self.material.valid_directions)
        samples = [
            [source, reference, text]
            for (source, reference), text in zip(pairs, written, strict=True)
        ][: section.samples]
        if by_direction:
            mean = sum(by_direction.values()) / len(by_direction)
            signature = f"mean of {len(by_direction)} directions|{score.signature}"
            return Validation(loss, mean, signature, samples, by_direction, loss_by_direction)
        return Validation(loss, score.score, score.signature, samples)

    def _held_out_losses(
        self, model: Transformer, device: torch.device, workers: Workers
    ) -> tuple[float, dict[str, float] | None]:
        """Nats per target token over the whole validation store, and over each direction; None
        where the corpora name no languages."""
        longest = max(4096, model.config.max_positions)
        if not self.material.valid_languages:
            batches = BatchSampler(self.valid, longest, seed=0).epoch_batches(0)
            total, tokens = workers.sum(self._sums(model, device, workers.mine(batches)))
            return total / tokens, None
        sums: dict[str, NDArray[np.float64]] = {}
        for corpus, languages in enumerate(self.material.valid_languages):
            part = CorpusOfStore(self.valid, corpus)
            if len(part):
                batches = BatchSampler(part, longest, seed=0).epoch_batches(0)
                mine = [part.first + pairs.astype(np.int64) for pairs in workers.mine(batches)]
                found = np.array(workers.sum(self._sums(model, device, mine)))
                direction = "-".join(languages)
                sums[direction] = sums[direction] + found if direction in sums else found
        total, tokens = np.sum(list(sums.values()), axis=0).tolist()
        return total / tokens, {name: loss / count for name, (loss, count) in sums.items()}

    def _sums(
        self, model: Transformer, device: torch.device, batches: Iterable[NDArray[Any]]
    ) -> list[float]:
        """The loss in nats and the number of target tokens of these batches."""
        config = model.config
        total, tokens = 0.0, 0
        for indices in batches:
            batch = collate(self.valid, indices, config.pad, config.start)
            memory = model.encode(batch.source_BS.to(device))
            states_PD = model.decode(batch.target_in_BT.to(device), memory).flatten(0, 1)
            labels_P = batch.labels_BT.to(device).flatten()
            # the logits of all positions at once would be most of the memory that training takes
            for states_CD, labels_C in zip(
                torch.split(states_PD, 512), torch.split(labels_P, 512), strict=True
            ):
                logits_CV = model.output(states_CD)
                total += float(label_smoothed_loss(logits_CV, labels_C, 0.0, config.pad))
            tokens += batch.target_tokens
        return [total, tokens]

    def _translations(self, model: Transformer, workers: Workers) -> list[str]:
        """Translations of `valid_pairs`, by the road that a user's texts take."""
        init = self.material.init
        rules = TextRules(
            trained_length=self.material.trained_length,
            history=self.recipe.history,
            normaliser=normaliser_of(self.recipe, init),
            language=languages_of(self.recipe, init)[1],
            speaks=self.material.multilingual or Languages(),
            term_mark=term_mark_of(self.recipe, init),
            length_penalty=length_penalty_of(self.recipe, init),
        )
        translator = Translator.of_model(model, self.tokenizer, rules)
        beam = self.recipe.validation.beam
        sources = [source for source, _ in self.material.valid_pairs]
        numbers = workers.mine(range(len(sources)))
        directions = self.material.valid_directions
        if not directions:
            found = translator([sources[number] for number in numbers], beam=beam)
            return workers.together([translation.text for translation in found])
        written: dict[int, str] = {}
        for source, target in dict.fromkeys(directions):
            here = [number for number in numbers if directions[number] == (source, target)]
            texts = [sources[number] for number in here]
            found = translator(texts, beam=beam, source=source, target=target) if texts else []
            written |= zip(here, (translation.text for translation in found), strict=True)
        return workers.together([written[number] for number in numbers])

    def save(
        self,
        model: Transformer,
        path: Path,
        card: str,
        facts: Mapping[str, Any],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        save_model_folder(
            path,
            model,
            self.tokenizer,
            Traits(
                languages=languages_of(self.recipe, self.material.init),
                multilingual=self.material.multilingual,
                trained_length=self.material.trained_length,
                history=self.recipe.history,
                normaliser=normaliser_of(self.recipe, self.material.init),
                alignment_heads=alignment_heads_of(self.recipe, self.material.init),
                term_mark=term_mark_of(self.recipe, self.material.init),
                length_penalty=length_penalty_of(self.recipe, self.material.init),
            ),
            card=card,
            training=facts,
            dtype=dtype,
        )
        if self.recipe.vocabulary.selection is not None:
            self._selection.save(path / VOCABULARY_SELECTION, self.tokenizer)

    @cached_property
    def _selection(self) -> VocabularySelection:
        """The target pieces that each source piece can need, learnt from the training pairs."""
        pairs = (self.train.pair(number) for number in range(len(self.train)))
        words = ((source[:-1].tolist(), target[:-1].tolist()) for source, target in pairs)
        lexical = learn_lexical_translation(words, len(self.tokenizer))
        return likeliest(lexical, self.tokenizer, self.recipe.vocabulary.selection or CANDIDATES)


def _look_over(recipe: PairsRecipe) -> None:
    """Checks the corpora and models that a recipe names, before teachers translate for hours."""
    languages = languages_of(recipe, start_from(recipe))
    for section in recipe.data.train:
        teachers_of(section, languages)
        corpora_of(recipe, section)
    for held_out in recipe.data.valid:
        corpora_of(recipe, held_out)
    if recipe.vocabulary.tokenizer is not None:
        Tokenizer.load(recipe.locate(recipe.vocabulary.tokenizer))


def made_up_pairs(
    config: TransformerConfig, rows: int, source: int, target: int, guided: bool = False
) -> Batch:
    """Random tokens, no padding; `guided` ones are aligned with all alike."""
    first = 1 + max(config.pad, config.end)

    def tokens(length: int) -> Tensor:
        return torch.randint(min(first, config.vocabulary - 1), config.vocabulary, (rows, length))

    guide_BTS = torch.full((rows, target, source), 1 / source) if guided else None
    return Batch(tokens(source), tokens(target), tokens(target), rows * target, guide_BTS)


def _vocabulary_and_shape(
    recipe: PairsRecipe, init: ModelFolder | None, samples: Sequence[Sequence[Sample]]
) -> tuple[Tokenizer, TransformerConfig]:
    """The tokenizer, learnt from the sample where the run would learn one, and the model's shape,
    for which a vocabulary that is yet to be learnt counts with its full size."""
    shape = init.config if init else None
    if init is not None and not recipe.vocabulary.renew:
        known = tokenizer_of(init)
        multilingual_of(recipe, known)
        return known, recipe.model.config(len(known), shape)
    if recipe.vocabulary.tokenizer:
        tokenizer = Tokenizer.load(recipe.locate(recipe.vocabulary.tokenizer))
        return tokenizer, recipe.model.config(len(tokenizer), shape)
    size = recipe.vocabulary.size
    every = [one for table in samples for one in table]
    marks = languages_into(recipe)
    read = balanced(partial(texts_by_language, every)) if marks else texts(every)
    learnt = Tokenizer.train(read, size, marks)
    return learnt, recipe.model.config(size, shape)
