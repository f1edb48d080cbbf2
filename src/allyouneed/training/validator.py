"""The validator: measures the model during training, and keeps the best one."""

import math

from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.weights.model import AnyModel
from allyouneed.training.divergence import Divergence
from allyouneed.training.trainee import Trainee
from allyouneed.training.validation import Measured


class Validator:
    """Measures the moving average of the weights (or the weights, where the recipe has no average),
    and keeps the best model in the folder `best`."""

    def __init__(self, trainee: Trainee, divergence: Divergence) -> None:
        self._trainee = trainee
        self._divergence = divergence

    def due(self, epoch_ends: bool) -> bool:
        """Whether the recipe asks for a validation after this step."""
        every = self._trainee.recipe.training.validate_every_steps
        return epoch_ends if every is None else self._trainee.state.step % every == 0

    def validate(self) -> None:
        """Measures the model, logs the result, and keeps the model if it is the best so far.

        Raises:
            TrainingError: the validation loss is not finite.
        """
        trainee, state = self._trainee, self._trainee.state
        with trainee.average.in_place():
            model, result = trainee.measured()
            if not math.isfinite(result.loss):
                what = f"the validation loss is {result.loss} at step {state.step}"
                raise trainee.workers.from_first(lambda: self._divergence.error(what, result.loss))
            state.validated_step = state.step
            better = result.cost < state.best_loss
            if better and self._kept_as_best(model, result):
                state.best_loss, state.best_step = result.cost, state.step
        state.validations_since_best = 0 if better else state.validations_since_best + 1
        trainee.record(
            {
                "event": "validation",
                "epoch": state.epoch,
                "best": state.best_step == state.step,
                **result.record(),
            }
        )

    def _kept_as_best(self, model: AnyModel, result: Measured) -> bool:
        """Writes the folder `best`. Returns False, with a note, if the disk is full."""
        trainee, step = self._trainee, self._trainee.state.step
        card = f"# {trainee.recipe.name}\n\nStep {step}, the best by validation so far.\n"
        facts = {"step": step, **result.facts()}

        def save() -> bool:
            try:
                trainee.task.save(model, trainee.folder / "best", card, facts)
            except ModelFolderError as error:
                trainee.note(
                    f"{error}; the best model stays that of step {trainee.state.best_step}"
                )
                return False
            return True

        return trainee.workers.from_first(save)
