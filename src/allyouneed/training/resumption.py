"""Resumption: a trainee takes its weights, moments and progress from a checkpoint."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from allyouneed.errors import TrainingError
from allyouneed.training.checkpoint import STATE, load_checkpoint, saved_state
from allyouneed.training.state import State
from allyouneed.training.trainee import Trainee


def resume(trainee: Trainee, checkpoint: Path) -> None:
    """Fills the trainee from a checkpoint, with notes on what differs from an uninterrupted run.

    Raises:
        TrainingError: the checkpoint belongs to other data or to another model.
    """
    now = trainee.state
    before = now.updated(saved_state(checkpoint), f"{checkpoint}/{STATE}")
    _check_same_run(trainee.folder, before, now)
    load_checkpoint(checkpoint, trainee.model, trainee.optimizer)
    state = replace(
        before, stopped=False, threads=now.threads, workers=now.workers, launcher=now.launcher
    )
    if before.valid != now.valid:
        state.valid = now.valid
        state.best_loss, state.best_step = now.best_loss, now.best_step
        state.validations_since_best = 0
    trainee.state = state
    trainee.note(f"continues from {checkpoint.name}")
    if before.valid != now.valid:
        trainee.note(
            "the validation pairs have changed, so the best model so far is no longer compared"
        )
    if before.workers != now.workers:
        trainee.note(
            f"with {now.workers} workers, {before.workers} before: updates contain the same "
            "pairs; losses differ by rounding and by the draws of dropout"
        )
    elif before.threads != now.threads:
        trainee.note(
            f"with {now.threads} threads, {before.threads} before: losses differ from those of "
            f"an uninterrupted run by rounding; --threads {before.threads} gives them to "
            "the bit"
        )


def _check_same_run(folder: Path, before: State, now: State) -> None:
    if before.data != now.data:
        raise TrainingError(
            f"{folder} was trained on other pairs than its corpora hold now: a file or "
            "the tokenizer has changed; restore it, or start a new run in another folder"
        )
    if other := _differences(before.config, now.config):
        raise TrainingError(
            f"{folder} was started with another model than training.init and [model] give "
            f"now: {other}; restore them, or start a new run in another folder"
        )


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The values that differ between two configurations, among the keys that both have."""
    return ", ".join(
        f"{key} {before[key]!r} before, {value!r} now"
        for key, value in now.items()
        if key in before and before[key] != value
    )
