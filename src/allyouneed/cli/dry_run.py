"""The plan of a training run, for `train --dry-run`. Nothing is written."""

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allyouneed.data.store_writer import Progress
    from allyouneed.training.recipe.schema import CommonRecipe

GIB = 1 << 30


def plan(recipe: "CommonRecipe", device: str | None, progress: "Progress") -> dict[str, Any]:
    """The resolved recipe, its files, and the time and memory of a run; `as_text` shows the keys.

    The corpora are read, a sample of them is tokenised, and one update is computed and discarded.

    Raises:
        DataError: a corpus does not exist or cannot be read.
        ModelFolderError: the model to start from cannot be read.
        UsageError: the device does not exist.
    """
    from allyouneed.training.ending import planned_steps
    from allyouneed.training.estimate import check_model_fits, estimate
    from allyouneed.training.recipe.toml_file import to_toml
    from allyouneed.training.run import choose_device
    from allyouneed.training.schedule import never_peaks
    from allyouneed.training.tasks.table import task_of

    place = choose_device(device)
    check_model_fits(recipe, place)
    outlook = task_of(recipe).outlook(recipe, progress)
    epoch = outlook.epoch
    progress("measuring an update", 0, None)
    measured = estimate(recipe, outlook, place)
    training = recipe.training
    epoch_updates = max(1, math.ceil(epoch.epoch_batches / training.accumulate))
    update_seconds = measured.update_seconds(epoch.epoch_batches / epoch_updates)
    steps = planned_steps(training, epoch_updates)
    seconds = [steps and steps * update_seconds, training.max_minutes and 60 * training.max_minutes]
    return {
        "recipe": to_toml(recipe),
        "parameters": sum(parameter.numel() for parameter in outlook.model.parameters()),
        "vocabulary": outlook.model.config.vocabulary,
        "data": [
            {
                "part": part,
                "corpus": corpus,
                "files": {str(path): path.stat().st_size for path in files},
            }
            for part, corpus, files in outlook.files
        ],
        "counted": outlook.counted,
        "unit": task_of(recipe).UNIT,
        "pairs": epoch.pairs,
        "kept_pairs": epoch.kept,
        "tokens_per_step": round(epoch.epoch_tokens / epoch_updates),
        "steps_per_epoch": epoch_updates,
        "directions": {name: round(tokens) for name, tokens in epoch.directions.items()},
        "steps": steps,
        "warnings": [low] if steps and (low := never_peaks(recipe.schedule, steps)) else [],
        "device": str(place),
        "teachers": list(outlook.teachers),
        "seconds_per_step": update_seconds,
        "estimated_seconds": min(one for one in seconds if one),
        "needed_bytes": measured.needed_bytes,
        "available_bytes": measured.available_bytes,
    }


def as_text(planned: dict[str, Any]) -> str:
    """The recipe as TOML that can be saved and run, followed by the other facts as comments."""
    lines = [
        planned["recipe"],
        f"# {planned['parameters']:,} parameters, vocabulary of {planned['vocabulary']:,}",
    ]
    for corpus in planned["data"]:
        sizes = [f"{path} ({size:,} bytes)" for path, size in corpus["files"].items()]
        lines.append(f"# {corpus['part']}: {', '.join(sizes) or corpus['corpus']}")
    kept, pairs = planned["kept_pairs"], planned["pairs"]
    sure = "about " if planned["counted"] == "pairs" else ""
    beside = " (duplicates are not counted)" if sure else ""
    lines.append(f"# {sure}{kept:,} of {pairs:,} {planned['counted']} are kept{beside}")
    steps = f", {planned['steps']:,} steps in all" if planned["steps"] else ""
    tokens, epoch = planned["tokens_per_step"], planned["steps_per_epoch"]
    lines.append(
        f"# about {tokens:,} {planned['unit']}s per step, {epoch:,} steps per epoch{steps}"
    )
    for name, tokens in planned["directions"].items():
        lines.append(f"# {name}: about {tokens:,} {planned['unit']}s per epoch")
    lines.append(f"# {_memory(planned['needed_bytes'], planned['available_bytes'])}")
    time = timedelta(seconds=round(planned["estimated_seconds"]))
    step = f"{planned['seconds_per_step']:.3g} s per step on {planned['device']}"
    lines.append(f"# about {step}, {time} in all, without validation and checkpoints")
    lines += [f"# warning: {text}" for text in planned["warnings"]]
    if planned["teachers"]:
        names = " and ".join(dict.fromkeys(planned["teachers"]))
        lines.append(f"# not counted: the translations by {names} that are made before step 1")
    return "\n".join(lines)


def _memory(needed: int, available: int | None) -> str:
    need = f"about {needed / GIB:.1f} GiB of memory"
    if available is None:
        return need
    fits = "" if needed <= available else ": too much; lower training.batch_tokens"
    return f"{need}, of {available / GIB:.1f} GiB that are free{fits}"
