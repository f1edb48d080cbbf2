"""The interface of a task for the training loop."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import torch

from allyouneed.data.batches import Indices
from allyouneed.data.store import TokenStore
from allyouneed.data.store_writer import Progress
from allyouneed.model_folder.weights.model import AnyModel
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.survey import Survey
from allyouneed.training.training_loss import TrainingLoss
from allyouneed.training.validation import Measured
from allyouneed.training.workers import Workers

Note = Callable[[str], None]
R = TypeVar("R", bound=CommonRecipe)


class TaskBatch(Protocol):
    """The input of the objective, whose loss is a sum over `target_tokens` tokens or labels."""

    @property
    def target_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class RunStart:
    """The circumstances of a run: its folder and device, its workers, and the receivers of notes
    and progress."""

    folder: Path
    device: torch.device
    workers: Workers
    note: Note
    progress: Progress


@dataclass(frozen=True, slots=True)
class Outlook:
    """Facts about a run for its plan (`--dry-run`).

    `files` are the data files as (part, corpus, paths).
    `counted` is the name of the items that are counted, such as "pairs".
    `model` is a model of the run's size.
    `epoch` holds the counts of an epoch over the data.
    `objective` makes the training loss of `model` on a device.
    `made_up` makes a random batch from its size (pairs, source length, target length).
    `teachers` are the models that translate data before training.
    """

    files: Sequence[tuple[str, str, Sequence[Path]]]
    counted: str
    model: AnyModel
    epoch: Survey
    objective: Callable[[torch.device], TrainingLoss]
    made_up: Callable[[int, int, int], TaskBatch]
    teachers: Sequence[str] = ()


class Task(ABC, Generic[R]):
    """A task with its prepared data: `train` to learn from, `valid` to measure on.

    `weights` says how often an epoch sees the pairs of each corpus of `train`.
    """

    recipe: R
    train: TokenStore
    valid: TokenStore
    weights: Sequence[float]
    # The unit that the loss is averaged over and that the log counts.
    UNIT: ClassVar[str] = "target token"

    @classmethod
    @abstractmethod
    def prepared(cls, recipe: R, start: RunStart) -> Self:
        """Reads and tokenises the data of a recipe, or loads them from the cache in the run's
        folder.

        Raises:
            DataError, RecipeError, ModelFolderError: data, recipe or a model cannot be used.
        """

    @classmethod
    @abstractmethod
    def outlook(cls, recipe: R, progress: Progress) -> Outlook:
        """Facts about the run for its plan. Leaves no files.

        Raises:
            DataError, RecipeError, ModelFolderError: as `prepared`.
        """

    @abstractmethod
    def new_model(self, seed: int) -> AnyModel:
        """The model at its first step; the seed decides its random weights."""

    @abstractmethod
    def objective(self, model: Any, device: torch.device) -> TrainingLoss:
        """The training loss of the model."""

    @abstractmethod
    def batch(self, pairs: Indices, epoch: int) -> TaskBatch:
        """These pairs of `train` in the form for this epoch. If `pairs` is empty, the batch has no
        target tokens."""

    @abstractmethod
    def measure(self, model: Any, device: torch.device, workers: Workers) -> Measured:
        """The result of a model in eval mode on the held-out data, the same in each worker."""

    @abstractmethod
    def save(
        self,
        model: Any,
        path: Path,
        card: str,
        facts: Mapping[str, Any],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Writes the model folder, with `facts` in training.json.

        Raises:
            ModelFolderError: the folder cannot be written.
        """
