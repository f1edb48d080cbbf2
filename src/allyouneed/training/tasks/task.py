"""What training asks of a task."""

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


class Batch(Protocol):
    """What the objective takes: its loss is a sum over so many target tokens (or labels)."""

    @property
    def target_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Start:
    """What a run begins with: its folder and device, who takes part, and whom to tell."""

    folder: Path
    device: torch.device
    workers: Workers
    note: Note
    progress: Progress


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a run would be, for a plan of it: its files by part and corpus, what its data are
    counted in, a model of its size, an epoch over its data, the objective, made-up
    batches of given (pairs, source, target), and the models that translate data beforehand."""

    files: Sequence[tuple[str, str, Sequence[Path]]]
    counted: str
    model: AnyModel
    epoch: Survey
    objective: Callable[[torch.device], TrainingLoss]
    made_up: Callable[[int, int, int], Batch]
    teachers: Sequence[str] = ()


class Task(ABC, Generic[R]):
    """A task with its data prepared: `train` to learn from, `valid` to measure on.

    `weights` are how often an epoch sees the pairs of each corpus of `train`.
    """

    recipe: R
    train: TokenStore
    valid: TokenStore
    weights: Sequence[float]
    UNIT: ClassVar[str] = "target token"  # what the loss is a mean over, and steps count

    @classmethod
    @abstractmethod
    def prepared(cls, recipe: R, start: Start) -> Self:
        """Reads and tokenises the data of a recipe, or finds them in the cache of the run's folder.

        Raises DataError, RecipeError or ModelFolderError for what cannot be used.
        """

    @classmethod
    @abstractmethod
    def outlook(cls, recipe: R, progress: Progress) -> Outlook:
        """What a run would be; writes nothing that stays. Raises the errors of `prepared`."""

    @abstractmethod
    def new_model(self, seed: int) -> AnyModel:
        """The model at its first step."""

    @abstractmethod
    def objective(self, model: Any, device: torch.device) -> TrainingLoss:
        """The model with its training loss."""

    @abstractmethod
    def batch(self, pairs: Indices, epoch: int) -> Batch:
        """These pairs of `train` as this epoch sees them; of none, a batch of no target token."""

    @abstractmethod
    def measure(self, model: Any, device: torch.device, workers: Workers) -> Measured:
        """What the held-out data say of a model in eval mode, the same in each worker."""

    @abstractmethod
    def save(
        self,
        model: Any,
        path: Path,
        card: str,
        facts: Mapping[str, Any],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Writes the model folder; `facts` go into training.json.

        Raises ModelFolderError when it cannot be written.
        """
