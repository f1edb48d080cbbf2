"""The training loop: turns a recipe into a model folder.

A step depends on (seed, step, rank) and (seed, epoch, position) alone. A run that was killed and
resumed therefore has the same losses as an uninterrupted one. On a CPU they are equal to the last
bit, with the same number of threads and workers.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from signal import Signals
from typing import Any

import numpy as np
import torch

from allyouneed.data.batches import BatchSampler, Indices
from allyouneed.errors import ModelFolderError, TrainingError
from allyouneed.model_folder.weights.model import AnyModel
from allyouneed.training.checkpoint import (
    STATE,
    checkpoint_step,
    checkpoints,
    load_checkpoint,
    save_checkpoint,
    saved_state,
    set_aside,
)
from allyouneed.training.cpu.heap import give_back
from allyouneed.training.ending import Ending, ending, planned_steps, share_done
from allyouneed.training.gradient import Cost, Gradient, lines_of
from allyouneed.training.interval import Interval
from allyouneed.training.log import OnRecord
from allyouneed.training.moving_average import MovingAverage
from allyouneed.training.optimizer import make_optimizer
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.schedule import learning_rate, never_peaks
from allyouneed.training.signals import StopRequest, stop_on_signals
from allyouneed.training.state import State
from allyouneed.training.tasks.task import Task
from allyouneed.training.validation import Measured, validate
from allyouneed.training.workers import Workers, launcher


class Loop:
    """One run in one of its worker processes: model, optimizer, batches and state.

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
        self._about_objective = objective.note
        self.gradient = Gradient(recipe, task, objective, workers, self.note)
        self.optimizer = make_optimizer(recipe.optimizer, self.model)
        self.average = MovingAverage(self.optimizer, recipe.training.average_decay)
        self.sampler = BatchSampler(
            task.train, recipe.training.batch_tokens, recipe.seed, task.weights
        )
        self.state = State(
            data=task.train.folder.name,
            valid=task.valid.folder.name,
            config=asdict(self.model.config),
            threads=torch.get_num_threads(),
            workers=workers.world,
            launcher=" ".join(workers.together([launcher()])),
        )
        self._stopped_by = 0
        self._skipped = 0  # updates skipped in a row; above 0 the weights may be spoilt
        self._checkpoint_owed = False
        self._saved: State | None = None
        self._interval = Interval()
        self._batches: Sequence[Indices] = ()  # of the present epoch
        self._last_checkpoint = 0.0
        self._began = time.monotonic()

    def resume(self, checkpoint: Path) -> None:
        """Continues from a checkpoint.

        Raises:
            TrainingError: the checkpoint belongs to other data or to another model.
        """
        now = self.state
        before = now.updated(saved_state(checkpoint), f"{checkpoint}/{STATE}")
        if before.data != now.data:
            raise TrainingError(
                f"{self.folder} was trained on other pairs than its corpora hold now: a file or "
                "the tokenizer has changed; restore it, or start a new run in another folder"
            )
        if other := _differences(before.config, now.config):
            raise TrainingError(
                f"{self.folder} was started with another model than training.init and [model] give "
                f"now: {other}; restore them, or start a new run in another folder"
            )
        load_checkpoint(checkpoint, self.model, self.optimizer)
        self.state = replace(before)
        if before.valid != now.valid:
            self.state.valid = now.valid
            self.state.best_loss, self.state.best_step = now.best_loss, now.best_step
            self.state.validations_since_best = 0
        self.state.stopped = False
        self.state.threads, self.state.workers = now.threads, now.workers
        self.state.launcher = now.launcher
        self._last_checkpoint = self.state.seconds
        self._saved = replace(self.state)
        self.note(f"continues from {checkpoint.name}")
        if before.valid != now.valid:
            self.note(
                "the validation pairs have changed, so the best model so far is no longer compared"
            )
        if before.workers != now.workers:
            self.note(
                f"with {now.workers} workers, {before.workers} before: updates contain the same "
                "pairs; losses differ by rounding and by the draws of dropout"
            )
        elif before.threads != now.threads:
            self.note(
                f"with {now.threads} threads, {before.threads} before: losses differ from those of "
                f"an uninterrupted run by rounding; --threads {before.threads} gives them to "
                "the bit"
            )

    def run(self) -> Ending:
        """Trains until the recipe's end or a signal. Returns which of them it was."""
        self._plan()
        self._began = time.monotonic() - self.state.seconds
        self._interval = Interval()
        if self._about_objective:
            self.note(self._about_objective)
        steps = planned_steps(self.recipe.training, self._epoch_updates())
        if steps and (low := never_peaks(self.recipe.schedule, steps)):
            self.note(low)
        with stop_on_signals() as stop:
            while (end := self._ending()) is None:
                self._update(self._group())
                self.state.position += 1
                if epoch_ends := self.state.position == self._epoch_updates():
                    self.state.epoch, self.state.position = self.state.epoch + 1, 0
                    self._plan()
                if self._validation_due(epoch_ends):
                    self._validate()
                self._hear(stop)
                self._checkpoint_owed |= self._checkpoint_due(epoch_ends)
                if self._checkpoint_owed and not self._skipped:
                    self._checkpoint_or_go_on()
            if end.complete and self.state.validated_step < self.state.step:
                self._validate()
            if self.state != self._saved:
                self._last_one(end)
            self._hear(stop)  # a signal may have come meanwhile
        return self._stopped() or end

    def note(self, text: str) -> None:
        """Shows the user a line, on the screen and in the log."""
        self.record({"event": "note", "text": text})

    def record(self, record: Mapping[str, Any]) -> None:
        """Writes one line of the log."""
        self.write({"step": self.state.step, **record})

    def checkpoint(self) -> None:
        """Writes a checkpoint, from which `resume` continues exactly.

        Raises:
            TrainingError: it cannot be written. The earlier checkpoints are intact.
        """
        self._log_interval()
        self._checkpoint_owed = False
        self._last_checkpoint = self.state.seconds
        try:
            save_checkpoint(
                self.folder,
                self.state.step,
                self.model,
                self.optimizer,
                self.state.record(),
                keep_last=self.recipe.training.checkpoints_kept,
                workers=self.workers,
            )
            self._saved = replace(self.state)
        finally:
            self._go_on()

    def _checkpoint_or_go_on(self) -> None:
        """Writes a checkpoint. A full disk does not end the run, because there may be space when
        the next checkpoint is due."""
        try:
            self.checkpoint()
        except TrainingError as error:
            self.note(f"{error}; the run goes on without this checkpoint")

    def _last_one(self, end: Ending) -> None:
        """Writes the checkpoint at the end, unless the weights may be spoilt."""
        if self._skipped and not end.complete:
            self.note(
                f"the last {self._skipped} updates were skipped, so no checkpoint is written; a "
                "resumed run continues from the checkpoint before them"
            )
        else:
            self.state.stopped = not end.complete
            try:
                self.checkpoint()
            except TrainingError as error:
                raise TrainingError(
                    f"{error}: free some space on the disk, then continue with --resume"
                ) from error

    def _hear(self, stop: StopRequest) -> None:
        """Makes the workers agree on the time that has passed and on whether a signal stops
        them."""
        seconds, number = self.workers.most(time.monotonic() - self._began, stop.number)
        self.state.seconds, self._stopped_by = seconds, int(number)

    def _stopped(self) -> Ending | None:
        if not self._stopped_by:
            return None
        stopped = Signals(self._stopped_by)
        return Ending(f"stopped by {stopped.name}", signal=stopped)

    def _ending(self) -> Ending | None:
        return self._stopped() or ending(self.recipe.training, self.state)

    def _plan(self) -> None:
        self._batches = ()  # freed first: two plans of a large corpus may not fit into memory
        self._batches = self.sampler.epoch_batches(self.state.epoch)

    def _epoch_updates(self) -> int:
        return math.ceil(len(self._batches) / self.recipe.training.accumulate)

    def _group(self) -> Sequence[Indices]:
        """The batches of the next update."""
        together = self.recipe.training.accumulate
        first = self.state.position * together
        return self._batches[first : first + together]

    def _update(self, group: Sequence[Indices]) -> None:
        """Makes one optimizer step over the group, unless that would spoil the weights."""
        state, optimizer = self.state, self.optimizer
        state.step += 1
        cost = self.gradient.of(group, state.step, state.epoch)
        norm = self._clip()
        if math.isfinite(cost.loss) and math.isfinite(norm):
            rate = learning_rate(self.recipe.schedule, state.step, self.model.config.d_model)
            for parameters in optimizer.param_groups:
                parameters["lr"] = rate
            optimizer.step()
            self.average.update()
            self._skipped = 0
            state.tokens += cost.tokens
            self._interval.add(cost)
        optimizer.zero_grad(set_to_none=True)
        if not (math.isfinite(cost.loss) and math.isfinite(norm)):
            self._skip(group, cost, norm)
        if state.step % self.recipe.training.log_every == 0:
            self._log_interval()

    def _clip(self) -> float:
        """Clips the gradient to the recipe's largest norm. Returns its norm before clipping."""
        weights = [weight for weight in self.model.parameters() if weight.grad is not None]
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        norm = self.workers.whole(torch.nn.utils.get_total_norm(gradients))
        largest = self.recipe.optimizer.clip_norm or math.inf
        torch.nn.utils.clip_grads_with_norm_(weights, largest, norm)
        return float(norm)

    def _skip(self, group: Sequence[Indices], cost: Cost, norm: float) -> None:
        """Skips an update that is not finite.

        Raises:
            TrainingError: more than training.max_skipped updates in a row are not finite.
        """
        self._skipped += 1
        each = zip(group, cost.losses, strict=True)
        spoilt = [pairs for pairs, loss in each if not math.isfinite(loss)]
        what = f"the loss is {cost.loss}" if spoilt else f"the norm of the gradient is {norm}"
        lines = lines_of(self.task.train, np.concatenate(spoilt or group))
        what = f"{what} at step {self.state.step} (batch with {lines})"
        if self._skipped > self.recipe.training.max_skipped:
            _, measured = self._measured()
            raise self.workers.from_first(lambda: self._diverged(what, measured.loss))
        self.note(f"{what}: skipped, {self._skipped} in a row")

    def _diverged(self, what: str, loss: float) -> TrainingError:
        """The error that ends the run. `loss` is the validation loss of the present weights. If it
        is low, the weights are sound and the data are to blame. Otherwise the weights are spoilt,
        and their checkpoints are set aside, so that no run continues from them."""
        sound = loss <= 2 * math.log(self.model.config.vocabulary)  # twice the loss of guessing
        bad_step = self.state.step - self._skipped
        known = checkpoints(self.folder, note=self.note)
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

    def _measured(self) -> tuple[AnyModel, Measured]:
        """The unsharded model with its present weights, and its validation result."""
        model = self.workers.complete(self.model)
        return model, validate(model, self.task, self.device, self.workers)

    def _validation_due(self, epoch_ends: bool) -> bool:
        every = self.recipe.training.validate_every_steps
        return epoch_ends if every is None else self.state.step % every == 0

    def _checkpoint_due(self, epoch_ends: bool) -> bool:
        training = self.recipe.training
        steps, minutes = training.checkpoint_every_steps, training.checkpoint_every_minutes
        if steps is not None and self.state.step % steps == 0:
            return True
        if minutes is not None and self.state.seconds - self._last_checkpoint >= 60 * minutes:
            return True
        return steps is None and minutes is None and epoch_ends

    def _validate(self) -> None:
        self._log_interval()
        state = self.state
        with self.average.in_place():
            model, result = self._measured()
            if not math.isfinite(result.loss):
                what = f"the validation loss is {result.loss} at step {state.step}"
                raise self.workers.from_first(lambda: self._diverged(what, result.loss))
            state.validated_step = state.step
            better = result.cost < state.best_loss
            if better and self._kept_as_best(model, result):
                state.best_loss, state.best_step = result.cost, state.step
        state.validations_since_best = 0 if better else state.validations_since_best + 1
        self.record(
            {
                "event": "validation",
                "epoch": state.epoch,
                "best": state.best_step == state.step,
                **result.record(),
            }
        )
        self._go_on()

    def _go_on(self) -> None:
        """Continues training after other work: that work's time is not counted as training time,
        and its memory is returned to the system."""
        give_back()
        self._interval = Interval()

    def _kept_as_best(self, model: AnyModel, result: Measured) -> bool:
        """Writes the folder `best`. Returns False, with a note, if the disk is full."""
        step = self.state.step
        card = f"# {self.recipe.name}\n\nStep {step}, the best by validation so far.\n"
        facts = {"step": step, **result.facts()}

        def save() -> bool:
            try:
                self.task.save(model, self.folder / "best", card, facts)
            except ModelFolderError as error:
                self.note(f"{error}; the best model stays that of step {self.state.best_step}")
                return False
            return True

        return self.workers.from_first(save)

    def _log_interval(self) -> None:
        gathered, self._interval = self._interval, Interval()
        if not gathered.steps:
            return
        now = time.monotonic()
        training, updates = self.recipe.training, self._epoch_updates()
        self.record(
            {
                "event": "step",
                "epoch": self.state.epoch,
                "loss": gathered.loss / gathered.tokens,
                "learning_rate": self.optimizer.param_groups[0]["lr"],
                "tokens_per_second": gathered.tokens / (now - gathered.began),
                "tokens": self.state.tokens,
                "unit": self.task.UNIT,
                "seconds": now - self._began,
                "share_done": share_done(training, self.state, updates, now - self._began),
            }
        )


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The values that differ between two configurations, among the keys that both have."""
    return ", ".join(
        f"{key} {before[key]!r} before, {value!r} now"
        for key, value in now.items()
        if key in before and before[key] != value
    )
