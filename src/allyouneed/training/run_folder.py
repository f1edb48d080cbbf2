"""The folder of a run: whether it is new or holds the run to resume, and the recipe in it."""

from pathlib import Path
from typing import Any

from allyouneed.errors import TrainingError
from allyouneed.files import write_whole
from allyouneed.training.checkpoint import (
    LOCK,
    checkpoint_folders,
    latest_checkpoint,
    saved_state,
)
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.recipe.toml_file import load_recipe, to_toml
from allyouneed.training.workers import launcher

RECIPE = "recipe.toml"

# The keys that a resumed run may change. Some leave the run the same run; others are remedies for
# a loss that was not finite. Paths may change too, because the files' contents are checked.
FREE_ON_RESUME: dict[str, Any] = {
    "data": {
        "train": {"__all__": {"source", "target", "distill", "back_translate"}},
        "valid": {"__all__": {"source", "target"}},
    },
    "vocabulary": {"tokenizer"},
    "training": {
        "init",
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
        "sharded",
        "max_skipped",
    },
    "optimizer": {"clip_norm"},
    "schedule": True,
    "validation": True,
    "description": True,
    "licence": True,
    "source_language": True,
    "target_language": True,
    "tensorboard": True,
}


def restarted_here(folder: Path) -> bool:
    """Whether this process' `torchrun` has trained in this folder before. Then it has restarted its
    workers, and they resume without being told to."""
    newest = latest_checkpoint(folder) if launcher() else None
    return newest is not None and launcher() in saved_state(newest).get("launcher", "").split()


def check_begun(folder: Path) -> None:
    """Raises TrainingError if the folder holds no run that could be resumed."""
    if (folder / LOCK).exists() or (folder / RECIPE).exists() or checkpoint_folders(folder):
        return
    begun = sorted(path.parent for path in folder.parent.glob(f"*/{LOCK}"))
    instead = f"; there are runs in {', '.join(map(str, begun))}" if begun else ""
    raise TrainingError(
        f"{folder} holds no run to resume{instead}; check --into, or start one without --resume"
    )


def make_folder(folder: Path) -> None:
    """Makes the run's folder if it does not exist.

    Raises:
        TrainingError: the folder cannot be written, or holds a recipe that belongs to no run.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / RECIPE).exists() and not (folder / LOCK).exists():
            raise TrainingError(
                f"{folder} is not the folder of a run, and its {RECIPE} would be overwritten; "
                "choose another folder with --into"
            )
        (folder / LOCK).touch()
    except OSError as error:
        raise TrainingError(
            f"{folder} cannot be written: {error.strerror}; choose another folder with --into"
        ) from error


def check_recipe(folder: Path, recipe: CommonRecipe, resume: bool) -> list[str]:
    """Checks that the folder is new or holds a run of this recipe.

    Returns:
        The keys whose values have changed since the last start.

    Raises:
        TrainingError: it holds another run.
    """
    kept = folder / RECIPE
    started = bool(checkpoint_folders(folder)) or (folder / "model").exists()
    if started and not resume:
        raise TrainingError(
            f"{folder} already holds a run; continue it with --resume, or choose another folder "
            "by --into"
        )
    damaged: list[str] = []
    if started and latest_checkpoint(folder, note=damaged.append) is None:
        raise TrainingError(
            f"{folder} holds a run, but no whole checkpoint to resume from; remove the folder to "
            "start a new run there, or choose another folder with --into"
            + "".join(f"; {what}" for what in damaged)
        )
    before = load_recipe(kept) if started and kept.is_file() else recipe
    if fixed := _differences(_fixed(before), _fixed(recipe)):
        raise TrainingError(
            f"{folder} was started with other values of {', '.join(fixed)}, which a resumed run "
            "must keep; restore them, or start a new run with another --into"
        )
    return _differences(before.model_dump(mode="json"), recipe.model_dump(mode="json"))


def keep_recipe(recipe: CommonRecipe, folder: Path) -> None:
    """Writes the recipe into the run's folder."""
    kept = folder / RECIPE
    try:
        write_whole(kept, to_toml(recipe))
    except OSError as error:
        raise TrainingError(
            f"{kept} cannot be written: {error.strerror}; free some space, or choose another "
            "folder with --into"
        ) from error


def _fixed(recipe: CommonRecipe) -> dict[str, Any]:
    return recipe.model_dump(mode="json", exclude=FREE_ON_RESUME)


def _differences(one: Any, other: Any, path: str = "") -> list[str]:
    """The dotted keys whose values differ. Items of lists of equal length are named by index."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        one, other = dict(enumerate(one)), dict(enumerate(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return [
            key
            for name in sorted(one.keys() | other.keys(), key=str)
            for key in _differences(one.get(name), other.get(name), f"{path}.{name}".lstrip("."))
        ]
    return [] if one == other else [path]
