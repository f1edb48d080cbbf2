"""A run in numbers, by arithmetic: for `train --dry-run`, within a second and without torch.

Nothing is tokenised and no update is computed: the sizes of files and a few constants give the
estimates. `survey` and `estimate` measure the same, which takes longer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from allyouneed.core.config import TransformerConfig
from allyouneed.data.corpus import Corpus
from allyouneed.data.mixing import mixed_by_direction
from allyouneed.data.sizes import CorpusSize, corpus_size, text_size
from allyouneed.errors import DataError, ModelFolderError
from allyouneed.model_folder.folder import ModelFolder, open_model_folder
from allyouneed.model_folder.weights.shapes import (
    FLOAT,
    count_positions,
    count_weights,
    weight_shapes,
)
from allyouneed.text.opening import open_tokenizer
from allyouneed.training.corpora import tables_of
from allyouneed.training.ending import planned_steps
from allyouneed.training.memory import process_memory
from allyouneed.training.recipe.schema import CommonRecipe, PairsRecipe

TORCH_BYTES = 400_000_000  # of a process that has done nothing yet
STORED_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1}  # of a weight in a file
OF_PIECE = 45  # bytes of a vocabulary's file for a piece and its merge
OF_PAIR = 24  # bytes of a prepared pair beside its ids: two offsets and a line number
FULL = 0.9  # share of a batch that is tokens: the rest is padding, and the shorter side


@dataclass(frozen=True, slots=True)
class Outline:
    """A run's shape, sizes and counts. Sizes are in bytes.

    `files` are (part, name, paths). `missing` are the files and teachers of the recipe that are not
    there. While some are missing, the data are not counted, and numbers that depend on them are
    None.
    `exact` tells whether `items` (pairs or texts, before any filter) were counted or estimated.
    `directions` has the target tokens of an epoch by direction.
    """

    config: TransformerConfig
    weights: int
    files: Sequence[tuple[str, str, Sequence[Path]]]
    missing: Sequence[str]
    items: float | None
    exact: bool
    tokens_per_step: float | None
    steps_per_epoch: int | None
    steps: int | None
    model_bytes: int
    checkpoint_bytes: int
    prepared_bytes: int | None
    needed_bytes: int
    available_bytes: int | None
    directions: Mapping[str, float] = field(default_factory=dict)
    teachers: Sequence[str] = ()


@dataclass(slots=True)
class _Text:
    """The contents of a recipe's files in numbers: the items, the tokens of both sides in an epoch,
    and the tokens that are kept on disk."""

    files: list[tuple[str, str, Sequence[Path]]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    items: float = 0.0
    exact: bool = True
    source: float = 0.0
    target: float = 0.0
    stored: float = 0.0
    directions: dict[str, float] = field(default_factory=dict)


def outline(recipe: CommonRecipe) -> Outline:
    """The outline of a recipe's run.

    Raises:
        DataError: a file is damaged, or does not hold what the recipe says.
        ModelFolderError: the model to start from, a teacher or a tokenizer cannot be read.
    """
    init = _start_from(recipe.training.init)
    config, absent = _shape(recipe, init)
    if not isinstance(recipe, PairsRecipe):
        config = replace(config, decoder_layers=0)
    if isinstance(recipe, PairsRecipe):
        text, teachers = _pairs(recipe, config), recipe.teachers
        absent += _absent_teachers(teachers)
    else:
        text, teachers = _texts(recipe, config), ()
    training, missing = recipe.training, [*absent, *text.missing]
    budget = training.batch_tokens * training.accumulate
    epoch = max(1, math.ceil(max(text.source, text.target) / budget / FULL))
    weights = _weights(config)
    trained = weights * (3 + bool(training.average_decay))
    _, available = process_memory()
    return Outline(
        config,
        weights,
        text.files,
        missing,
        None if missing else text.items,
        text.exact,
        tokens_per_step=None if missing else (text.target or text.source) / epoch,
        steps_per_epoch=None if missing else epoch,
        steps=training.steps if missing else planned_steps(training, epoch),
        model_bytes=weights * STORED_BYTES[training.stored_precision]
        + OF_PIECE * config.vocabulary,
        checkpoint_bytes=FLOAT * trained,
        prepared_bytes=None if missing else round(text.stored),
        needed_bytes=TORCH_BYTES
        + FLOAT * (trained + weights + count_positions(config))
        + _activations(recipe, config),
        available_bytes=available,
        directions=text.directions,
        teachers=teachers,
    )


def _start_from(name: str | None) -> ModelFolder | None:
    try:
        return open_model_folder(name) if name else None
    except ModelFolderError as error:
        raise ModelFolderError(f"training.init: {error}") from error


def _shape(recipe: CommonRecipe, init: ModelFolder | None) -> tuple[TransformerConfig, list[str]]:
    """The model's shape with its whole vocabulary, and the tokenizer's file if it is missing."""
    shape = init.config if init else None
    if init is not None and not recipe.vocabulary.renew:
        return recipe.model.config(init.config.vocabulary, shape), []
    size, absent = recipe.vocabulary.size, []
    if recipe.vocabulary.tokenizer is not None:
        try:
            size = len(open_tokenizer(recipe.locate(recipe.vocabulary.tokenizer)))
        except DataError:
            absent.append(str(recipe.vocabulary.tokenizer))
    return recipe.model.config(size, shape), absent


def _weights(config: TransformerConfig) -> int:
    """The number of parameters. For a model without a decoder the heads, which are small, are not
    counted."""
    if config.decoder_layers:
        return count_weights(config)
    apart = replace(config, shared_embeddings="none")
    shapes = weight_shapes(apart).items()
    return sum(math.prod(shape) for name, shape in shapes if name.startswith("encoder."))


def _absent_teachers(teachers: Sequence[str]) -> list[str]:
    """The teachers that are neither folders nor bundled models.

    Raises:
        ModelFolderError: a folder is there, and holds no model that translates.
    """
    absent = []
    for teacher in dict.fromkeys(teachers):
        try:
            open_model_folder(teacher).check_translates()
        except ModelFolderError:
            if Path(teacher).expanduser().exists():
                raise
            absent.append(teacher)
    return absent


def bytes_per_token(vocabulary: int) -> float:
    """The mean number of bytes that a piece spells, by the size of the vocabulary. Measured on 17
    languages together: 3.8 with 20,000 pieces, 4.2 with 32,000; on letters: 1.9 with 300."""
    return max(1.0, 4.1 + 0.33 * (math.log2(vocabulary) - 15))


def _pairs(recipe: PairsRecipe, config: TransformerConfig) -> _Text:
    text = _Text()
    train, valid = (
        [table for section in sections for table in _found(recipe, section, text)]
        for sections in (recipe.data.train, recipe.data.valid)
    )
    for part, tables in (("train", train), ("valid", valid)):
        text.files += [(part, one.name, one.files) for table in tables for one in table]
    if not text.missing:
        known: dict[Corpus, CorpusSize] = {}
        for table in valid:
            for corpus in table:
                _size(corpus, known)  # raises the errors of a corpus that cannot be used
        _count_epoch(recipe, train, config, text, known)
    return text


def _found(recipe: PairsRecipe, section: Any, text: _Text) -> list[list[Corpus]]:
    """The corpora of a table; none if one of its files is missing."""
    absent = _absent(recipe, [section.values().get(side) for side in ("source", "target")])
    text.missing += absent
    return [] if absent else tables_of(recipe, [section])


def _absent(recipe: CommonRecipe, paths: Sequence[Path | None]) -> list[str]:
    absent = []
    for path in paths:
        try:
            if path is not None:
                recipe.locate(path)
        except DataError:
            absent.append(str(path))
    return absent


def _count_epoch(
    recipe: PairsRecipe,
    tables: Sequence[Sequence[Corpus]],
    config: TransformerConfig,
    text: _Text,
    known: dict[Corpus, CorpusSize],
) -> None:
    sizes = [[_size(corpus, known) for corpus in table] for table in tables]
    copies = recipe.noise.copies
    pairs = [copies * sum(size.pairs for size in table) for table in sizes]
    often = mixed_by_direction(
        [round(count) for count in pairs],
        [table[0].weight for table in tables],
        [table[0].languages for table in tables],
        recipe.data.temperature,
    )
    each = bytes_per_token(config.vocabulary)
    for table, found, count, times in zip(tables, sizes, pairs, often, strict=True):
        ends = 1 + (table[0].languages is not None)  # a mark of the language begins the source
        source = ends * count + copies * sum(size.source_bytes for size in found) / each
        target = count + copies * sum(size.target_bytes for size in found) / each
        text.items += count
        text.exact &= all(size.exact for size in found)
        text.source += times * source
        text.target += times * target
        text.stored += (source + target) * (2 if config.vocabulary <= 1 << 16 else 4)
        text.stored += count * OF_PAIR
        if table[0].languages:
            name = "-".join(table[0].languages)
            text.directions[name] = text.directions.get(name, 0.0) + times * target


def _size(corpus: Corpus, known: dict[Corpus, CorpusSize]) -> CorpusSize:
    """The size of a corpus. One that is used in both directions is read once."""
    key = replace(corpus, languages=None)
    turned = known.get(replace(key, swapped=not corpus.swapped))
    if turned is not None:
        return replace(turned, source_bytes=turned.target_bytes, target_bytes=turned.source_bytes)
    if key not in known:
        known[key] = corpus_size(corpus)
    return known[key]


def _texts(recipe: CommonRecipe, config: TransformerConfig) -> _Text:
    """The same for models without a decoder. A line counts as an item."""
    text = _Text()
    data: Any = recipe.data
    for part in ("train", "valid"):
        for section in getattr(data, part):
            absent = _absent(recipe, [section.source])
            text.missing += absent
            if absent:
                continue
            place = recipe.locate(section.source)
            paths = sorted(place.iterdir()) if place.is_dir() else [place]
            text.files += [(part, str(path), [path]) for path in paths]
            for size in map(text_size, paths if part == "train" else ()):
                tokens = size.bytes / bytes_per_token(config.vocabulary) + 2 * size.lines
                text.items += size.lines
                text.exact &= size.exact
                text.source += section.weight * tokens
                text.stored += 2 * tokens + OF_PAIR * size.lines
    return text


def _activations(recipe: CommonRecipe, config: TransformerConfig) -> int:
    """Bytes that one batch keeps from the forward to the backward pass, as measured on the native
    kernels for training on a CPU."""
    narrow = recipe.training.precision == "bf16"
    width, hidden = config.d_model, config.d_ff * (2 if narrow else 4)
    encoder, decoder, rest = (30, 50, 12) if narrow else (42, 72, 18)
    position = (
        config.encoder_layers * (encoder * width + hidden)
        + config.decoder_layers * (decoder * width + hidden)
        + rest * width
    )
    passes = 2 if recipe.training.r_drop else 1
    return passes * recipe.training.batch_tokens * position + FLOAT * width * config.vocabulary
