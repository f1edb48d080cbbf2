"""The training loop: step after step until the recipe's end or a signal.

A step depends on (seed, step, rank) and (seed, epoch, position) alone. A run that was killed and
resumed therefore has the same losses as an uninterrupted one. On a CPU they are equal to the last
bit, with the same number of threads and workers.
"""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from signal import Signals

from allyouneed.data.batches import BatchSampler, Indices
from allyouneed.training.checkpoint_writer import CheckpointWriter
from allyouneed.training.cpu.heap import give_back
from allyouneed.training.divergence import Divergence
from allyouneed.training.ending import Ending, ending, planned_steps
from allyouneed.training.resumption import resume
from allyouneed.training.schedule import never_peaks
from allyouneed.training.signals import StopRequest, stop_on_signals
from allyouneed.training.step_log import StepLog
from allyouneed.training.trainee import Trainee
from allyouneed.training.update import update
from allyouneed.training.validator import Validator


class Loop:
    """The loop of a run in one of its worker processes."""

    def __init__(self, trainee: Trainee) -> None:
        self._trainee = trainee
        self._sampler = BatchSampler(
            trainee.task.train,
            trainee.recipe.training.batch_tokens,
            trainee.recipe.seed,
            trainee.task.weights,
        )
        self._batches: Sequence[Indices] = ()  # of the present epoch
        self._log = StepLog(trainee)
        self._divergence = Divergence(trainee)
        self._validator = Validator(trainee, self._divergence)
        self._checkpoints = CheckpointWriter(trainee)
        self._stopped_by = 0
        self._began = time.monotonic()

    def resume(self, checkpoint: Path) -> None:
        """Continues from a checkpoint.

        Raises:
            TrainingError: the checkpoint belongs to other data or to another model.
        """
        resume(self._trainee, checkpoint)
        self._checkpoints.resumed()

    def run(self) -> Ending:
        """Trains until the recipe's end or a signal. Returns which of them it was."""
        trainee = self._trainee
        self._plan_epoch()
        self._began = time.monotonic() - trainee.state.seconds
        self._log.restart()
        self._tell_beginning()
        with stop_on_signals() as stop:
            while (end := self._ending()) is None:
                self._step()
                epoch_ends = self._go_to_next_position()
                if self._validator.due(epoch_ends):
                    self._validate()
                self._hear(stop)
                if self._checkpoints.due(epoch_ends) and not self._divergence.skipped:
                    self._checkpoint(self._checkpoints.write_or_go_on)
            if end.complete and trainee.state.validated_step < trainee.state.step:
                self._validate()
            if not self._checkpoints.is_current:
                self._last_checkpoint(end)
            self._hear(stop)  # a signal may have come meanwhile
        return self._stopped() or end

    def _tell_beginning(self) -> None:
        trainee = self._trainee
        if trainee.about_objective:
            trainee.note(trainee.about_objective)
        steps = planned_steps(trainee.recipe.training, self._epoch_updates())
        if steps and (low := never_peaks(trainee.recipe.schedule, steps)):
            trainee.note(low)

    def _plan_epoch(self) -> None:
        self._batches = ()  # freed first: two plans of a large corpus may not fit into memory
        self._batches = self._sampler.epoch_batches(self._trainee.state.epoch)

    def _epoch_updates(self) -> int:
        return math.ceil(len(self._batches) / self._trainee.recipe.training.accumulate)

    def _step(self) -> None:
        """Makes the next update, or skips it if it would spoil the weights."""
        trainee, state = self._trainee, self._trainee.state
        state.step += 1
        group = self._group()
        made = update(trainee, group)
        if made.finite:
            self._divergence.skipped = 0
            state.tokens += made.cost.tokens
            self._log.add(made.cost)
        else:
            self._divergence.skip(group, made)
        if state.step % trainee.recipe.training.log_every == 0:
            self._write_log()

    def _group(self) -> Sequence[Indices]:
        """The batches of the next update."""
        together = self._trainee.recipe.training.accumulate
        first = self._trainee.state.position * together
        return self._batches[first : first + together]

    def _go_to_next_position(self) -> bool:
        """Moves on to the next update. Returns whether an epoch ended."""
        state = self._trainee.state
        state.position += 1
        if state.position < self._epoch_updates():
            return False
        state.epoch, state.position = state.epoch + 1, 0
        self._plan_epoch()
        return True

    def _validate(self) -> None:
        self._write_log()
        self._validator.validate()
        self._go_on()

    def _checkpoint(self, write: Callable[[], None]) -> None:
        self._write_log()
        try:
            write()
        finally:
            self._go_on()

    def _last_checkpoint(self, end: Ending) -> None:
        """Writes the checkpoint at the end, unless the weights may be spoilt."""
        skipped = self._divergence.skipped
        if skipped and not end.complete:
            self._trainee.note(
                f"the last {skipped} updates were skipped, so no checkpoint is written; a "
                "resumed run continues from the checkpoint before them"
            )
        else:
            self._checkpoint(lambda: self._checkpoints.write_last(stopped=not end.complete))

    def _write_log(self) -> None:
        self._log.write(self._epoch_updates(), time.monotonic() - self._began)

    def _go_on(self) -> None:
        """Continues training after other work: that work's time is not counted as training time,
        and its memory is returned to the system."""
        give_back()
        self._log.restart()

    def _hear(self, stop: StopRequest) -> None:
        """Makes the workers agree on the time that has passed and on whether a signal stops
        them."""
        passed = time.monotonic() - self._began
        seconds, number = self._trainee.workers.most(passed, stop.number)
        self._trainee.state.seconds, self._stopped_by = seconds, int(number)

    def _ending(self) -> Ending | None:
        return self._stopped() or ending(self._trainee.recipe.training, self._trainee.state)

    def _stopped(self) -> Ending | None:
        if not self._stopped_by:
            return None
        stopped = Signals(self._stopped_by)
        return Ending(f"stopped by {stopped.name}", signal=stopped)
