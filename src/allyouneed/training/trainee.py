"""The trainee: a model in training, with everything that a training loop needs around it."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from allyouneed.model_folder.weights.model import AnyModel
from allyouneed.training.gradient import Gradient
from allyouneed.training.log import OnRecord
from allyouneed.training.moving_average import MovingAverage
from allyouneed.training.optimizer import make_optimizer
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.state import State
from allyouneed.training.tasks.task import Task
from allyouneed.training.validation import Measured, validate
from allyouneed.training.workers import Workers, launcher


class Trainee:
    """The model of a run in one worker process: its recipe and task, its gradient and optimizer,
    the moving average of its weights, and its progress (`state`).

    `write` receives the records of the log.
    """

    def __init__(
        self,
        recipe: CommonRecipe,
        folder: Path,
        task: Task[Any],
        device: torch.device,
        write: OnRecord,
        workers: Workers,
    ) -> None:
        self.recipe = recipe
        self.folder = folder
        self.task = task
        self.device = device
        self.workers = workers
        self.write = write
        self.model = task.new_model(recipe.seed).to(device).train()
        objective = task.objective(self.model, device)
        self.about_objective = objective.note
        self.gradient = Gradient(recipe, task, objective, workers, self.note)
        self.optimizer = make_optimizer(recipe.optimizer, self.model)
        self.average = MovingAverage(self.optimizer, recipe.training.average_decay)
        self.state = State(
            data=task.train.folder.name,
            valid=task.valid.folder.name,
            config=asdict(self.model.config),
            threads=torch.get_num_threads(),
            workers=workers.world,
            launcher=" ".join(workers.together([launcher()])),
        )

    def note(self, text: str) -> None:
        """Shows the user a line, on the screen and in the log."""
        self.record({"event": "note", "text": text})

    def record(self, record: Mapping[str, Any]) -> None:
        """Writes one line of the log."""
        self.write({"step": self.state.step, **record})

    def measured(self) -> tuple[AnyModel, Measured]:
        """The unsharded model with its present weights, and its validation result."""
        model = self.workers.complete(self.model)
        return model, validate(model, self.task, self.device, self.workers)
