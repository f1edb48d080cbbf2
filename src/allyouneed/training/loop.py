"""The training loop: a recipe in, a model folder out.

What a step does follows from (seed, step) and (seed, epoch, position) alone, so a run that was
killed and resumed gives the losses of one that was not: on a CPU to the last bit, with the same
number of threads.
"""

import hashlib
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from allyouneed.data.batches import BatchSampler, Indices
from allyouneed.data.collate import Batch, Side, collate
from allyouneed.errors import TrainingError
from allyouneed.model_folder import save_model_folder
from allyouneed.text.bpe_dropout import BpeDropout
from allyouneed.training.checkpoint import (
    checkpoint_step,
    checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from allyouneed.training.log import Log
from allyouneed.training.loss import fused_loss
from allyouneed.training.optimizer import make_optimizer
from allyouneed.training.preparation import Material
from allyouneed.training.recipe import Recipe
from allyouneed.training.schedule import learning_rate
from allyouneed.training.signals import StopRequest, stop_on_signals
from allyouneed.training.state import Ending, Interval, State
from allyouneed.training.validation import validate


class Loop:
    """One run: its model, optimizer, batches and state."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        material: Material,
        device: torch.device,
        log: Log,
    ) -> None:
        self.recipe = recipe
        self.folder = folder
        self.material = material
        self.device = device
        self.model = material.new_model(recipe.seed).to(device).train()
        self.optimizer = make_optimizer(recipe.optimizer, self.model)
        self.sampler = BatchSampler(
            material.train, recipe.training.batch_tokens, recipe.seed, material.weights
        )
        self.bpe_dropout = BpeDropout(material.tokenizer, recipe.vocabulary.dropout)
        self.log = log
        self.state = State(data=material.train.folder.name, threads=torch.get_num_threads())
        self._saved: State | None = None
        self._interval = Interval()
        self._updates: Sequence[Sequence[Indices]] = self._plan(0)
        self._last_checkpoint = time.monotonic()
        self._began = time.monotonic()

    def resume(self, checkpoint: Path) -> None:
        """Goes on from a checkpoint. Raises TrainingError when it is of other data."""
        loaded = load_checkpoint(checkpoint, self.model, self.optimizer)
        now = self.state
        self.state = State(**{"data": now.data, "threads": now.threads, **loaded})
        if self.state.data != now.data:
            raise TrainingError(
                f"{self.folder} was trained on other pairs than its corpora hold now: a file or "
                "the tokenizer has changed since; put it back, or start anew in another folder"
            )
        before, self.state.threads = self.state.threads, now.threads
        self._saved = replace(self.state)
        self._updates = self._plan(self.state.epoch)
        self.note(f"goes on from {checkpoint.name}")
        if before != now.threads:
            self.note(
                f"with {now.threads} threads, {before} before: losses are those of an undisturbed "
                f"run but for rounding; --threads {before} gives them to the bit"
            )

    def run(self) -> Ending:
        """Trains until the recipe's end, or a signal."""
        self._began = time.monotonic() - self.state.seconds
        self._interval = Interval()
        with stop_on_signals() as stop:
            while (ending := self._ending(stop)) is None:
                self._update(self._updates[self.state.position])
                self.state.position += 1
                if epoch_ends := self.state.position == len(self._updates):
                    self.state.epoch, self.state.position = self.state.epoch + 1, 0
                    self._updates = self._plan(self.state.epoch)
                if self._validation_due(epoch_ends):
                    self._validate()
                self.state.seconds = time.monotonic() - self._began
                if self._checkpoint_due(epoch_ends):
                    self.checkpoint()
        if ending.complete and self.state.validated_step < self.state.step:
            self._validate()
        if self.state != self._saved:
            self.checkpoint()
        return ending

    def note(self, text: str) -> None:
        """Something the user should read, on the screen and in the log."""
        self.record({"event": "note", "text": text})

    def record(self, record: Mapping[str, Any]) -> None:
        """One line of the log."""
        self.log.write({"step": self.state.step, **record})

    def checkpoint(self) -> None:
        """Writes the state so that `resume` goes on from here to the bit."""
        self._log_interval()
        save_checkpoint(
            self.folder,
            self.state.step,
            self.model,
            self.optimizer,
            asdict(self.state),
            keep_last=self.recipe.training.checkpoints_kept,
        )
        self._saved = replace(self.state)
        self._last_checkpoint = time.monotonic()
        self._interval = Interval()  # its clock does not count the writing

    def _ending(self, stop: StopRequest) -> Ending | None:
        training, state = self.recipe.training, self.state
        if stop.name:
            return Ending(f"stopped by {stop.name}", complete=False)
        if training.steps is not None and state.step >= training.steps:
            return Ending(f"{training.steps} steps done")
        if training.epochs is not None and state.epoch >= training.epochs:
            return Ending(f"{training.epochs} epochs done")
        if training.max_minutes is not None and state.seconds >= 60 * training.max_minutes:
            return Ending(f"{training.max_minutes:g} minutes are over")
        if training.patience is not None and state.validations_since_best >= training.patience:
            return Ending(f"no better for {training.patience} validations")
        return None

    def _plan(self, epoch: int) -> Sequence[Sequence[Indices]]:
        """The epoch's batches, in groups that make one update each."""
        batches, together = self.sampler.epoch_batches(epoch), self.recipe.training.accumulate
        return [batches[n : n + together] for n in range(0, len(batches), together)]

    def _update(self, group: Sequence[Indices]) -> None:
        """One optimizer step over the group, every target token weighing the same."""
        config, training, state = self.model.config, self.recipe.training, self.state
        state.step += 1
        torch.manual_seed(number_from(self.recipe.seed, "dropout", state.step))
        augment = self._augment if self.recipe.vocabulary.dropout else None
        batches = [
            collate(self.material.train, indices, config.pad, config.start, augment, state.epoch)
            for indices in group
        ]
        tokens = sum(batch.target_tokens for batch in batches)
        loss = torch.zeros((), device=self.device)
        for batch in batches:
            part = self._loss(batch) / tokens
            part.backward()  # type: ignore[no-untyped-call]
            loss += part.detach()
        largest = self.recipe.optimizer.clip_norm or math.inf
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), largest)
        self._check_finite(float(loss), float(norm), group)
        rate = learning_rate(self.recipe.schedule, state.step, config.d_model)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        state.tokens += tokens
        self._interval.loss += float(loss) * tokens
        self._interval.tokens += tokens
        self._interval.steps += 1
        if state.step % training.log_every == 0:
            self._log_interval()

    def _loss(self, batch: Batch) -> Tensor:
        """The smoothed loss, summed over the batch's target tokens."""
        narrow = self.recipe.training.precision == "bf16"
        source_BS, target_in_BT, labels_BT = (
            ids.to(self.device) for ids in (batch.source_BS, batch.target_in_BT, batch.labels_BT)
        )
        with torch.autocast(self.device.type, torch.bfloat16, enabled=narrow):
            states_BTD = self.model.decode(target_in_BT, self.model.encode(source_BS))
            return fused_loss(
                states_BTD.flatten(0, 1),
                self.model.output,
                labels_BT.flatten(),
                self.recipe.training.label_smoothing,
                self.model.config.pad,
            )

    def _augment(self, ids: Sequence[int], side: Side, epoch: int, index: int) -> Sequence[int]:
        """BPE dropout; what it would make longer than the model's positions stays as it is."""
        rng = random.Random(number_from(self.recipe.seed, side, epoch, index))
        pieces = self.bpe_dropout(ids, rng)
        return pieces if len(pieces) <= self.model.config.max_positions else ids

    def _check_finite(self, loss: float, norm: float, group: Sequence[Indices]) -> None:
        if math.isfinite(loss) and math.isfinite(norm):
            return
        name, line = self.material.train.line_of(int(group[0][0]))
        what = (
            f"the norm of the gradient is {norm}" if math.isfinite(loss) else f"the loss is {loss}"
        )
        where = f" at step {self.state.step} (batch with {name}:{line})"
        raise self._diverged(what + where, self.state.step - 1)

    def _diverged(self, what: str, bad_step: int) -> TrainingError:
        """The weights after `bad_step` give something that is not finite."""
        known = checkpoints(self.folder, note=self.note)
        good = [path for path in known if checkpoint_step(path) < bad_step]
        bad = [path for path in known if path not in good]
        return TrainingError(
            f"{what}; the last good checkpoint is {good[-1] if good else 'none'}: lower the "
            "learning rate or set optimizer.clip_norm=1"
            + "".join(f", remove {path} (its weights are spoilt)" for path in bad)
            + ", then start again with --resume"
        )

    def _validation_due(self, epoch_ends: bool) -> bool:
        every = self.recipe.training.validate_every_steps
        return epoch_ends if every is None else self.state.step % every == 0

    def _checkpoint_due(self, epoch_ends: bool) -> bool:
        training = self.recipe.training
        steps, minutes = training.checkpoint_every_steps, training.checkpoint_every_minutes
        if steps is not None and self.state.step % steps == 0:
            return True
        if minutes is not None and time.monotonic() - self._last_checkpoint >= 60 * minutes:
            return True
        return steps is None and minutes is None and epoch_ends

    def _validate(self) -> None:
        self._log_interval()
        result = validate(self.model, self.material, self.recipe.validation, self.device)
        state = self.state
        if not math.isfinite(result.loss):
            raise self._diverged(
                f"the validation loss is {result.loss} at step {state.step}", state.step
            )
        state.validated_step = state.step
        if result.loss < state.best_loss:
            state.best_loss, state.best_step = result.loss, state.step
            state.validations_since_best = 0
            self.save_model(
                self.folder / "best",
                f"# {self.recipe.name}\n\nStep {state.step}, the best by validation loss so far.\n",
                {
                    "step": state.step,
                    "validation_loss": result.loss,
                    "validation_bleu": result.bleu,
                },
            )
        else:
            state.validations_since_best += 1
        self.record(
            {
                "event": "validation",
                "epoch": state.epoch,
                "best": state.best_step == state.step,
                **result.record(),
            }
        )
        self._interval = Interval()  # its clock does not count the validation

    def save_model(
        self, path: Path, card: str, facts: Mapping[str, Any], dtype: torch.dtype = torch.float32
    ) -> None:
        """Writes the model as it is now, as a model folder; `facts` go into training.json."""
        save_model_folder(
            path,
            self.model,
            self.material.tokenizer,
            languages=(self.recipe.source_language, self.recipe.target_language),
            trained_length=self.material.trained_length,
            card=card,
            training=facts,
            dtype=dtype,
        )

    def _log_interval(self) -> None:
        gathered, self._interval = self._interval, Interval()
        if not gathered.steps:
            return
        seconds = time.monotonic() - gathered.began
        self.record(
            {
                "event": "step",
                "epoch": self.state.epoch,
                "loss": gathered.loss / gathered.tokens,
                "learning_rate": self.optimizer.param_groups[0]["lr"],
                "tokens_per_second": gathered.tokens / seconds,
                "tokens": self.state.tokens,
                "seconds": time.monotonic() - self._began,
                "share_done": self._share_done(),
            }
        )

    def _share_done(self) -> float:
        """How much of the run is behind it, by whichever limit comes first."""
        training, state = self.recipe.training, self.state
        shares = []
        if training.steps:
            shares.append(state.step / training.steps)
        if training.epochs:
            within = state.position / len(self._updates)
            shares.append((state.epoch + within) / training.epochs)
        if training.max_minutes:
            shares.append((time.monotonic() - self._began) / 60 / training.max_minutes)
        return min(1.0, max(shares))


def number_from(*parts: object) -> int:
    """A 63-bit number that follows from the parts alone, on every machine."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
