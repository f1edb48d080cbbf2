"""The corpora that a recipe's tables name, with resolved paths; without torch."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from allyouneed.data.corpus import Corpus, Side
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


def sides_above(recipe: PairsRecipe, number: int, side: Side) -> list[tuple[Corpus, Side]]:
    """The corpora of the tables above the training table `number`, and the side of each that is in
    the language of `side` of that table; where it names no languages, the same side."""
    language = _language(recipe.data.train[number], side)
    sides: tuple[Side, ...] = ("source", "target") if language else (side,)
    return [
        (corpus, one)
        for section in recipe.data.train[:number]
        for one in sides
        if _language(section, one) == language
        for corpus in corpora_of(recipe, section)
    ]


def _language(section: CorpusSection, side: Side) -> str | None:
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
