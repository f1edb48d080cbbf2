"""Decides when a run writes its checkpoints, and what happens when the disk is full."""

from dataclasses import replace

from allyouneed.errors import TrainingError
from allyouneed.training.checkpoint import save_checkpoint
from allyouneed.training.state import State
from allyouneed.training.trainee import Trainee


class CheckpointWriter:
    """Writes the checkpoints of a run, from which `resume` continues exactly."""

    def __init__(self, trainee: Trainee) -> None:
        self._trainee = trainee
        self._owed = False
        self._began_at = 0.0  # the run's seconds when the last checkpoint was begun
        self._saved: State | None = None

    def resumed(self) -> None:
        """Takes the checkpoint from which the trainee was resumed as the last one."""
        self._began_at = self._trainee.state.seconds
        self._saved = replace(self._trainee.state)

    @property
    def is_current(self) -> bool:
        """Whether the last checkpoint holds the present state."""
        return self._trainee.state == self._saved

    def due(self, epoch_ends: bool) -> bool:
        """Whether the recipe asks for a checkpoint after this step, or has asked for one since the
        last was begun."""
        training, state = self._trainee.recipe.training, self._trainee.state
        steps, minutes = training.checkpoint_every_steps, training.checkpoint_every_minutes
        self._owed |= (
            (steps is not None and state.step % steps == 0)
            or (minutes is not None and state.seconds - self._began_at >= 60 * minutes)
            or (steps is None and minutes is None and epoch_ends)
        )
        return self._owed

    def write_or_go_on(self) -> None:
        """Writes a checkpoint. A full disk does not end the run, because there may be space when
        the next checkpoint is due."""
        try:
            self._write()
        except TrainingError as error:
            self._trainee.note(f"{error}; the run goes on without this checkpoint")

    def write_last(self, stopped: bool) -> None:
        """Writes the checkpoint at the end of the run, or where a signal `stopped` it.

        Raises:
            TrainingError: it cannot be written. The earlier checkpoints are intact.
        """
        self._trainee.state.stopped = stopped
        try:
            self._write()
        except TrainingError as error:
            raise TrainingError(
                f"{error}: free some space on the disk, then continue with --resume"
            ) from error

    def _write(self) -> None:
        trainee, state = self._trainee, self._trainee.state
        self._owed = False
        self._began_at = state.seconds
        save_checkpoint(
            trainee.folder,
            state.step,
            trainee.model,
            trainee.optimizer,
            state.record(),
            keep_last=trainee.recipe.training.checkpoints_kept,
            workers=trainee.workers,
        )
        self._saved = replace(state)
