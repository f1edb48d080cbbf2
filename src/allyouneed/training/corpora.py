"""The corpora that a recipe's tables name, with resolved paths; without torch."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from allyouneed.data.corpus import Corpus
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.data.shards import shards
from allyouneed.training.recipe.data_sections import CorpusSection
from allyouneed.training.recipe.schema import PairsRecipe


def tables_of(
    recipe: PairsRecipe,
    sections: Sequence[CorpusSection],
    replaced: Mapping[int, Corpus] = MappingProxyType({}),
) -> list[list[Corpus]]:
    """The corpora of these tables of the recipe, one list for each table and direction. `replaced`
    maps the number of a table to the corpus that is used in its place."""
    tables = []
    for number, section in enumerate(sections):
        corpora = corpora_of(recipe, section)
        if number in replaced:
            corpora = [replace(replaced[number], languages=section.languages)]
        tables.append(corpora)
        if section.both_directions:
            tables.append([corpus.turned() for corpus in corpora])
    return tables


def texts_above(recipe: PairsRecipe, number: int, side: Literal["source", "target"]) -> set[str]:
    """The texts that the tables above the training table `number` have in the language of its
    `side`; where it names no languages, on that side."""
    language = _language(recipe.data.train[number], side)
    texts = set()
    for section in recipe.data.train[:number]:
        for one in ("source", "target") if language else (side,):
            if _language(section, one) == language:
                for corpus in corpora_of(recipe, section):
                    report = DataReport([corpus.name])
                    texts |= {getattr(pair, one) for pair in read_pairs(corpus, report)}
    return texts


def _language(section: CorpusSection, side: str) -> str | None:
    return section.languages and section.languages[side == "target"]


def corpora_of(recipe: PairsRecipe, section: CorpusSection) -> list[Corpus]:
    """The corpora of a table of the recipe, with resolved paths. A folder gives one corpus for each
    of its shards.

    Raises:
        DataError: a file does not exist, or a folder's shards cannot be used.
    """
    values = section.values()
    for side in ("source", "target"):
        if values.get(side) is not None:
            values[side] = recipe.locate(values[side])
    return shards(Corpus(**values, history=recipe.history, languages=section.languages))
