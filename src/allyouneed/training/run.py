"""A whole run: prepare, train, average, and leave a model folder and a report."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from allyouneed.errors import TrainingError
from allyouneed.model_folder import fill_weights, open_model_folder
from allyouneed.training.averaging import average_checkpoints
from allyouneed.training.card import model_card
from allyouneed.training.checkpoint import RunLock, checkpoints, latest_checkpoint
from allyouneed.training.loop import Loop, Record, Report
from allyouneed.training.preparation import Material, prepare
from allyouneed.training.recipe import Recipe, load_recipe, to_toml
from allyouneed.training.report import write_report
from allyouneed.training.validation import Validation, validate

# What a resumed run may change without becoming another run.
FREE_ON_RESUME = {
    "training": {
        "epochs",
        "steps",
        "max_minutes",
        "patience",
        "average_last",
        "keep_last",
        "checkpoint_every_steps",
        "checkpoint_every_minutes",
        "validate_every_steps",
        "log_every",
        "stored_precision",
    },
    "validation": True,
    "description": True,
    "licence": True,
    "tensorboard": True,
    "folder": True,
}


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """Where the model is, why the run ended, and how good the model is on the validation pairs.

    `model` is None when the run was stopped before its end; `--resume` goes on from there.
    """

    folder: Path
    model: Path | None
    reason: str
    steps: int
    validation: Validation | None


def train(
    recipe: Recipe | str | Path,
    into: Path | str | None = None,
    *,
    overrides: Sequence[str] = (),
    resume: bool = False,
    device: str | None = None,
    report: Report | None = None,
) -> TrainingResult:
    """Trains what a recipe describes: a packaged name, a TOML file, or a `Recipe`.

    `into` is the run's folder (runs/NAME by default); `overrides` are "section.key=value";
    `resume` goes on from the newest checkpoint, or starts when there is none; `report` is called
    with every record of the log as it is written.

    Raises:
        RecipeError, DataError: a recipe or corpus that cannot be used.
        TrainingError: a folder that holds another run, a loss that is not finite, a full disk.
    """
    if not isinstance(recipe, Recipe):
        recipe = load_recipe(recipe, overrides)
    folder = Path(into) if into is not None else Path("runs") / recipe.name
    folder.mkdir(parents=True, exist_ok=True)
    with RunLock(folder):
        _claim(folder, recipe, resume)
        return _train(recipe, folder, choose_device(device), report or (lambda record: None))


def choose_device(name: str | None) -> torch.device:
    """The device asked for, else a GPU if there is one, else the CPU."""
    if name is not None:
        return torch.device(name)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _train(recipe: Recipe, folder: Path, device: torch.device, report: Report) -> TrainingResult:
    early: list[Record] = []
    material = prepare(recipe, folder, lambda text: early.append({"event": "note", "text": text}))
    loop = Loop(recipe, folder, material, device, report)
    if not loop.resume():
        for record in early:
            loop.record(record)
        for part, store in (("train", material.train), ("valid", material.valid)):
            loop.record({"event": "data", "part": part, "report": store.report.to_dict()})
    reason = loop.run()
    loop.note(reason)
    if reason.startswith("stopped"):
        return TrainingResult(folder, None, reason, loop.state.step, None)
    validation = _finish(recipe, folder, material, loop)
    write_report(folder)
    return TrainingResult(folder, folder / "model", reason, loop.state.step, validation)


def _finish(recipe: Recipe, folder: Path, material: Material, loop: Loop) -> Validation:
    """The final model: the average of the last checkpoints (section 6.1), or the best one where
    that has the lower validation loss."""
    model = loop.model
    averaged = checkpoints(folder)[-max(1, recipe.training.average_last) :]
    fill_weights(model, average_checkpoints(averaged), folder)
    validation = validate(model, material, recipe.validation, loop.device)
    origin = f"the average of the last {len(averaged)} checkpoints"
    if loop.state.best_loss < validation.loss:
        model.load_state_dict(open_model_folder(folder / "best").load_model().state_dict())
        validation = validate(model, material, recipe.validation, loop.device)
        origin = f"step {loop.state.best_step}, the best by validation loss"
    loop.record(
        {
            "event": "final",
            "origin": origin,
            "loss": validation.loss,
            "bleu": validation.bleu,
            "signature": validation.signature,
            "samples": validation.samples,
        }
    )
    facts: dict[str, Any] = {
        "steps": loop.state.step,
        "epochs": loop.state.epoch,
        "minutes": round(loop.state.seconds / 60, 1),
        "target_tokens": loop.state.tokens,
        "weights": origin,
        "validation_loss": validation.loss,
        "validation_bleu": validation.bleu,
        "signature": validation.signature,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "command": f"allyouneed train {shlex.quote(recipe.name)}",
        "recipe": json.loads(recipe.model_dump_json(exclude_none=True, exclude={"folder"})),
    }
    stored = getattr(torch, recipe.training.stored_precision)
    loop.save_model(folder / "model", model_card(recipe, facts), facts, stored)
    return validation


def _claim(folder: Path, recipe: Recipe, resume: bool) -> None:
    """Makes sure that the folder is this recipe's, and writes the recipe into it."""
    kept = folder / "recipe.toml"
    started = latest_checkpoint(folder) is not None
    if started and not resume:
        raise TrainingError(
            f"{folder} holds a run already; go on with it by --resume, or choose another folder "
            "by --into"
        )
    if started and kept.is_file():
        changed = sorted(_differences(_fixed(load_recipe(kept)), _fixed(recipe)))
        if changed:
            raise TrainingError(
                f"{folder} was started with other values of {', '.join(changed)}; a resumed run "
                "keeps them: set them back, or start anew with another --into"
            )
    kept.write_text(to_toml(recipe), encoding="utf-8")


def _fixed(recipe: Recipe) -> dict[str, Any]:
    return recipe.model_dump(mode="json", exclude=FREE_ON_RESUME)  # type: ignore[arg-type]


def _differences(one: Any, other: Any, path: str = "") -> list[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        return [
            key
            for name in one.keys() | other.keys()
            for key in _differences(one.get(name), other.get(name), f"{path}.{name}".lstrip("."))
        ]
    return [] if one == other else [path]
