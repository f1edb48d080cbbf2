"""The tasks by their names in a recipe's `task`."""

from typing import Any

from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.tasks.classify import Classify
from allyouneed.training.tasks.masked_lm import MaskedLanguageModel
from allyouneed.training.tasks.reply import Reply
from allyouneed.training.tasks.tag import Tag
from allyouneed.training.tasks.task import Task
from allyouneed.training.tasks.translate import Translate

TASKS: dict[str, type[Task[Any]]] = {
    "translate": Translate,
    "classify": Classify,
    "masked-lm": MaskedLanguageModel,
    "reply": Reply,
    "tag": Tag,
}


def task_of(recipe: CommonRecipe) -> type[Task[Any]]:
    """The task of a checked recipe."""
    return TASKS[recipe.task]
