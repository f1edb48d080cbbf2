"""Chooses, measures and writes the final model of a run."""

import json
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.folder import TRAINING, WEIGHTS
from allyouneed.model_folder.weights.int8 import from_int8
from allyouneed.model_folder.weights.model import fill_weights, read_weights, stored
from allyouneed.training.averaging import average_checkpoints
from allyouneed.training.checkpoint import checkpoints
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.report.card import model_card
from allyouneed.training.trainee import Trainee
from allyouneed.training.validation import Measured, validate


def final_model(trainee: Trainee, command: str) -> Measured:
    """Writes the folder `model` and returns its validation result.

    The model is the average of the last checkpoints (section 6.1), or the best model by validation
    if that one has the lower cost. Both are measured in the precision in which they are stored.
    `command` is the command line that gives this recipe, for training.json.

    Raises:
        ModelFolderError: the folder cannot be written.
    """
    recipe, folder, task = trainee.recipe, trainee.folder, trainee.task
    model = trainee.workers.complete(trainee.model)
    precision: torch.dtype = getattr(torch, recipe.training.stored_precision)

    def fill(weights: Mapping[str, Tensor]) -> None:
        fill_weights(model, from_int8(stored(weights, precision)), folder)

    def measure() -> Measured:
        return validate(model, task, trainee.device, trainee.workers)

    last = checkpoints(folder)[-max(1, recipe.training.average_last) :]
    average = average_checkpoints(last)
    fill(average)
    validation = measure()
    origin = f"the average of the last {len(last)} checkpoints" if len(last) > 1 else "the last one"
    if trainee.state.best_loss < validation.cost:
        try:
            fill(_best_weights(folder / "best", trainee.state.best_step))
        except ModelFolderError as error:
            trainee.note(f"{error}; the final model is {origin}, though the best one was better")
        else:
            best = measure()
            if best.cost < validation.cost:
                kind = "the moving average at" if recipe.training.average_decay else "that of"
                validation = best
                origin = f"{kind} step {trainee.state.best_step}, the best by validation"
            else:  # it was better only before its weights were rounded for storing
                fill(average)
    trainee.record({"event": "final", "origin": origin, **validation.record()})
    facts: dict[str, Any] = {
        "steps": trainee.state.step,
        "epochs": trainee.state.epoch,
        "minutes": round(trainee.state.seconds / 60, 1),
        "target_tokens": trainee.state.tokens,
        "unit": task.UNIT,
        "weights": origin,
        **validation.facts(),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "command": command,
        "recipe": _told(recipe),
    }
    path, card = folder / "model", model_card(recipe, facts)
    trainee.workers.from_first(lambda: task.save(model, path, card, facts, precision))
    return validation


def _best_weights(folder: Path, step: int) -> dict[str, Tensor]:
    """The weights of the folder `best`.

    Raises:
        ModelFolderError: they cannot be read, or belong to another step than `step`. That happens
            when a run was killed after it wrote `best` and before its next checkpoint.
    """
    weights = read_weights(folder / WEIGHTS)
    path = folder / TRAINING
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["step"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelFolderError(f"{path} is damaged ({error})") from error
    if found != step:
        raise ModelFolderError(f"{folder} is of step {found}, not of {step}")
    return weights


def _told(recipe: CommonRecipe) -> dict[str, Any]:
    """The recipe for the users of the model. Files that come with the package are given by name."""
    packaged = f"{resources.files('allyouneed') / 'recipes'}{os.sep}"
    text = recipe.model_dump_json(exclude_none=True).replace(packaged, "")
    told: dict[str, Any] = json.loads(text)
    return told
