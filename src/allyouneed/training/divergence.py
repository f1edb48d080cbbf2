"""Divergence: updates that are not finite are skipped, and too many of them end the run."""

import math
from collections.abc import Sequence

import numpy as np

from allyouneed.data.batches import Indices
from allyouneed.errors import TrainingError
from allyouneed.training.checkpoint import checkpoint_step, checkpoints, set_aside
from allyouneed.training.gradient import lines_of
from allyouneed.training.trainee import Trainee
from allyouneed.training.update import Update


class Divergence:
    """Counts the updates that were skipped in a row. While `skipped` is above 0, the weights may be
    spoilt."""

    def __init__(self, trainee: Trainee) -> None:
        self._trainee = trainee
        self.skipped = 0

    def skip(self, group: Sequence[Indices], update: Update) -> None:
        """Counts an update over these batches that is not finite.

        Raises:
            TrainingError: more than training.max_skipped updates in a row are not finite.
        """
        trainee, cost = self._trainee, update.cost
        self.skipped += 1
        each = zip(group, cost.losses, strict=True)
        spoilt = [pairs for pairs, loss in each if not math.isfinite(loss)]
        what = (
            f"the loss is {cost.loss}" if spoilt else f"the norm of the gradient is {update.norm}"
        )
        lines = lines_of(trainee.task.train, np.concatenate(spoilt or group))
        what = f"{what} at step {trainee.state.step} (batch with {lines})"
        if self.skipped > trainee.recipe.training.max_skipped:
            _, measured = trainee.measured()
            raise trainee.workers.from_first(lambda: self.error(what, measured.loss))
        trainee.note(f"{what}: skipped, {self.skipped} in a row")

    def error(self, what: str, loss: float) -> TrainingError:
        """The error that ends the run. `loss` is the validation loss of the present weights. If it
        is low, the weights are sound and the data are to blame. Otherwise the weights are spoilt,
        and their checkpoints are set aside, so that no run continues from them."""
        trainee = self._trainee
        guessing = math.log(trainee.model.config.vocabulary)
        sound = loss <= 2 * guessing
        bad_step = trainee.state.step - self.skipped
        known = checkpoints(trainee.folder, note=trainee.note)
        spoilt = [path for path in known if not sound and checkpoint_step(path) >= bad_step]
        good = [path for path in known if path not in spoilt]
        aside = "".join(f" ({set_aside(path)})" for path in spoilt)
        remedy = "lower the learning rate or set optimizer.clip_norm=1"
        if sound:
            remedy = (
                f"the weights are sound (validation loss {loss:.2f}), so look at these pairs; "
                f"raise training.max_skipped to skip more of them, or {remedy}"
            )
        return TrainingError(
            f"{what}; the last good checkpoint is {good[-1] if good else 'none'}{aside}: {remedy}, "
            "then start again with --resume"
        )
