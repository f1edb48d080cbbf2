"""Prepares what a run needs before its first step: the tokenizer, the pairs as ids, the model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.data.alignment.stored import StoredLinks, Wanted, keep_links
from allyouneed.data.contents import content_key
from allyouneed.data.corpus import Corpus
from allyouneed.data.filters import Filters
from allyouneed.data.inspection import inspect_corpora
from allyouneed.data.mixing import mixed_by_direction
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.data.store import TokenStore, build_store, described
from allyouneed.data.store_writer import Progress
from allyouneed.model_folder.folder import WEIGHTS, ModelFolder
from allyouneed.model_folder.weights.model import fill_weights, read_weights
from allyouneed.text.languages import Languages
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.carried_over import carried_over
from allyouneed.training.corpora import tables_of
from allyouneed.training.piece_rate import tokens_per_character, told
from allyouneed.training.recipe.schema import PairsRecipe
from allyouneed.training.starting_model import (
    languages_into,
    multilingual_of,
    normaliser_of,
    start_from,
    tokenizer_of,
)
from allyouneed.training.terms import term_hints_of
from allyouneed.training.vocabulary import balanced, kept_vocabulary

Note = Callable[[str], None]

SAMPLED = 500  # pairs of a corpus by which tokens per character are counted
AT_ONCE = 1 << 16  # pairs whose lengths are read together


@dataclass(frozen=True, slots=True)
class Material:
    """The prepared data and model of a run. `valid_pairs` are the texts that validation translates,
    `valid_directions` their directions. `valid_languages` are the directions of the corpora of
    `valid`; both are empty for a model of one direction. `renewed` tells that the vocabulary is not
    the one of `init`."""

    tokenizer: Tokenizer
    config: TransformerConfig
    train: TokenStore
    valid: TokenStore
    valid_pairs: Sequence[tuple[str, str]]
    weights: Sequence[float]
    init: ModelFolder | None
    links: StoredLinks | None = None
    multilingual: Languages | None = None
    valid_directions: Sequence[tuple[str, str]] = ()
    valid_languages: Sequence[tuple[str, str]] = ()
    renewed: bool = False

    @property
    def trained_length(self) -> int:
        """The source length, in tokens, that 99.9 % of the training pairs do not exceed."""
        counts = np.zeros(1, dtype=np.int64)
        for first in range(0, len(self.train), AT_ONCE):
            more = np.bincount(self.train.lengths(first, first + AT_ONCE)[0], minlength=len(counts))
            more[: len(counts)] += counts
            counts = more
        return int(np.searchsorted(np.cumsum(counts), 0.999 * len(self.train)))

    def new_model(self, seed: int) -> Transformer:
        """The model at its first step, with the weights of `init` or random ones from the seed."""
        torch.manual_seed(seed)
        model = Transformer(self.config)
        if self.init is not None:
            weights = read_weights(self.init.path / WEIGHTS)
            if self.renewed:
                weights = carried_over(weights, tokenizer_of(self.init), self.tokenizer, model)
            fill_weights(model, weights, self.init.path / WEIGHTS)
        return model


def prepare(
    recipe: PairsRecipe,
    folder: Path,
    note: Note,
    progress: Progress | None = None,
    distilled: Mapping[int, Corpus] | None = None,
) -> Material:
    """Reads, filters and tokenises the corpora of a recipe.

    `folder` is the run's folder. `distilled` holds the corpora that replace training corpora, by
    their number. The tokenizer is `init`'s unless the recipe renews it, or the recipe's file, or
    the one that an earlier start of this run learnt, or it is learnt now. The ids are kept in
    `folder/cache`, so a second start is immediate.

    Raises:
        DataError: a file does not exist, a corpus cannot be read or has no usable pair, or `folder`
            cannot be written.
        ModelFolderError: `init` or the tokenizer file cannot be read or used.
        RecipeError: [model] is not the model of `init`.
        UsageError: the tokenizer of `init` is not this project's own, or `init` lacks the
            head of [guided_alignment].
    """
    cache = folder / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    first_start = not any(cache.iterdir())
    init = start_from(recipe)
    normaliser = normaliser_of(recipe, init)
    tables = [
        [replace(corpus, normaliser=normaliser) for corpus in table]
        for table in tables_of(recipe, recipe.data.train, distilled or {})
    ]
    train = [corpus for table in tables for corpus in table]
    held_out = [corpus for table in tables_of(recipe, recipe.data.valid) for corpus in table]
    valid = [replace(corpus, normaliser=normaliser) for corpus in held_out]
    if first_start:
        inspect_corpora([*train, *held_out], note)
    tokenizer = _tokenizer(recipe, cache, init, train, note)
    if first_start and recipe.directions:
        for line in told(tokens_per_character(tokenizer, _texts_by_language(train, SAMPLED))):
            note(line)
    multilingual = multilingual_of(recipe, tokenizer)
    config = recipe.model.config(len(tokenizer), init.config if init else None)
    if init is not None:
        what = (
            "weights" if recipe.vocabulary.renew else f"weights and vocabulary ({len(tokenizer):,})"
        )
        note(f"training starts from the {what} of {init.path}")
    filters = filters_of(recipe, config, valid)
    noise = recipe.noise.noise(recipe.seed)
    hints = term_hints_of(recipe, init, tokenizer, normaliser, filters.max_tokens)
    train_store = build_store(train, tokenizer, filters, cache, progress, noise, hints)
    note(f"train: {train_store.report}")
    valid_store = build_store(valid, tokenizer, all_that_fit(config), cache, progress)
    note(f"valid: {valid_store.report}")
    if recipe.guided_alignment is not None:
        recipe.guided_alignment.check(config)
    translated = _first_pairs(held_out, recipe.validation.sentences)
    return Material(
        tokenizer,
        config,
        train_store,
        valid_store,
        valid_pairs=[pair for pair, _ in translated],
        valid_directions=[languages for _, languages in translated if languages],
        valid_languages=[one.languages for one in valid if one.languages],
        multilingual=multilingual,
        weights=_weights(tables, train_store, recipe.data.temperature, note),
        init=init,
        renewed=recipe.vocabulary.renew,
        links=_links(recipe, train, train_store, tokenizer, cache, progress),
    )


def _links(
    recipe: PairsRecipe,
    corpora: Sequence[Corpus],
    store: TokenStore,
    tokenizer: Tokenizer,
    cache: Path,
    progress: Progress | None,
) -> StoredLinks | None:
    """The word alignments of the training pairs, where a head is to learn them."""
    if recipe.guided_alignment is None:
        return None
    wanted = Wanted(
        [corpus.languages for corpus in corpora], recipe.seed, recipe.guided_alignment.pairs
    )
    return keep_links(store, tokenizer, wanted, cache, progress or (lambda *told: None))


def _weights(
    tables: Sequence[Sequence[Corpus]], store: TokenStore, temperature: float, note: Note
) -> list[float]:
    """The number of times that an epoch sees the pairs of each corpus in the store. Shards of one
    table have the same number."""
    kept = iter(store.report.kept_by_corpus)
    pairs = [sum(next(kept) for _ in table) for table in tables]
    weights = mixed_by_direction(
        pairs,
        [table[0].weight for table in tables],
        [table[0].languages for table in tables],
        temperature,
    )
    if temperature != 1:
        often = {
            "-".join(table[0].languages or (table[0].name,)): weight / table[0].weight
            for table, weight in zip(tables, weights, strict=True)
        }
        told = ", ".join(f"{direction} {times:.3g}×" for direction, times in often.items())
        note(f"temperature {temperature:g} multiplies the weights of the corpora: {told}")
    return [weight for table, weight in zip(tables, weights, strict=True) for _ in table]


def _tokenizer(
    recipe: PairsRecipe, cache: Path, init: ModelFolder | None, corpora: list[Corpus], note: Note
) -> Tokenizer:
    if init is not None and not recipe.vocabulary.renew:
        return tokenizer_of(init)
    if recipe.vocabulary.tokenizer is not None:
        return Tokenizer.load(recipe.locate(recipe.vocabulary.tokenizer))
    size = recipe.vocabulary.size
    key = content_key(cache, lambda content: [size, described(corpora, content)])
    file = cache / f"tokenizer-{key[:16]}.json"
    read = partial(_texts, corpora)
    if marks := languages_into(recipe):
        read = partial(balanced, partial(_texts_by_language, corpora))
    return kept_vocabulary(Tokenizer, size, read, file, note, marks)


def _texts(corpora: Sequence[Corpus]) -> Iterator[str]:
    for corpus in corpora:
        for pair in read_pairs(corpus, DataReport([corpus.name])):  # the store reports problems
            yield pair.source
            yield pair.target


def _texts_by_language(
    corpora: list[Corpus], first: int | None = None
) -> Iterator[tuple[str, str]]:
    """(language, text) for both sides of all pairs, or of the `first` pairs of each corpus. Pairs
    that are used in both directions occur once."""
    for corpus in corpora:
        if corpus.languages and not corpus.swapped:
            for pair in islice(read_pairs(corpus, DataReport([corpus.name])), first):
                yield corpus.languages[0], pair.source
                yield corpus.languages[1], pair.target


def _first_pairs(
    corpora: list[Corpus], count: int
) -> list[tuple[tuple[str, str], tuple[str, str] | None]]:
    """The first `count` pairs with both sides, spread evenly over the corpora, with their
    languages; each direction has one at least, if `count` is not 0."""
    share = -(-count // len(corpora))
    chosen: list[tuple[tuple[str, str], tuple[str, str] | None]] = []
    for corpus in corpora:
        taken = 0
        for pair in read_pairs(corpus, DataReport([corpus.name])):
            if taken == share:
                break
            if pair.source.strip() and pair.target.strip():
                chosen.append(((pair.source, pair.target), corpus.languages))
                taken += 1
    return chosen if corpora[0].languages else chosen[:count]


def all_that_fit(config: TransformerConfig) -> Filters:
    """Filters for validation: they keep all pairs that the model has positions for."""
    return Filters(max_tokens=config.max_positions, max_ratio=float("inf"), drop_duplicates=False)


def filters_of(recipe: PairsRecipe, config: TransformerConfig, valid: Sequence[Corpus]) -> Filters:
    """The recipe's filters and languages, with max_tokens lowered to the model's positions. With
    drop_validation they leave out training pairs that share a text with the corpora `valid`."""
    filters = recipe.data.filters.filters()
    held_out = valid if recipe.data.filters.drop_validation else ()
    return replace(
        filters,
        max_tokens=min(filters.max_tokens, config.max_positions),
        languages=(recipe.source_language, recipe.target_language),
        apart_from=frozenset(_texts(held_out)),
    )
