"""The plan of a training run, for `train --dry-run`. Nothing is written."""

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from allyouneed.data.store_writer import Progress
    from allyouneed.training.recipe.schema import CommonRecipe

GIB = 1 << 30
MIB = 1 << 20


def plan(recipe: "CommonRecipe") -> dict[str, Any]:
    """The resolved recipe, its files, and the sizes and counts of a run, by arithmetic; `as_text`
    shows the keys.

    Raises:
        DataError: a corpus is damaged or does not hold what the recipe says.
        ModelFolderError: the model to start from, or a teacher, cannot be read.
    """
    from allyouneed.training.outline import outline
    from allyouneed.training.recipe.toml_file import to_toml

    told = outline(recipe)
    return {
        "recipe": to_toml(recipe),
        "measured": False,
        "parameters": told.weights,
        "vocabulary": told.config.vocabulary,
        "encoder_layers": told.config.encoder_layers,
        "decoder_layers": told.config.decoder_layers,
        "d_model": told.config.d_model,
        "data": _files(told.files),
        "missing": list(told.missing),
        "counted": "pairs" if told.config.decoder_layers else "lines",
        "exact": told.exact,
        "unit": "target token" if told.config.decoder_layers else "token",
        "pairs": told.items and round(told.items),
        "tokens_per_step": told.tokens_per_step and round(told.tokens_per_step),
        "steps_per_epoch": told.steps_per_epoch,
        "directions": _rounded(told.directions),
        "steps": told.steps,
        "warnings": _warnings(recipe, told.steps),
        "teachers": list(told.teachers),
        "model_bytes": told.model_bytes,
        "checkpoint_bytes": told.checkpoint_bytes,
        "checkpoints": recipe.training.checkpoints_kept,
        "prepared_bytes": told.prepared_bytes,
        "needed_bytes": told.needed_bytes,
        "available_bytes": told.available_bytes,
    }


def measured_plan(
    recipe: "CommonRecipe", device: str | None, progress: "Progress"
) -> dict[str, Any]:
    """The same with counts of the corpora and the time of an update.

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
        "measured": True,
        "parameters": sum(parameter.numel() for parameter in outlook.model.parameters()),
        "vocabulary": outlook.model.config.vocabulary,
        "data": _files(outlook.files),
        "counted": outlook.counted,
        "unit": task_of(recipe).UNIT,
        "pairs": epoch.pairs,
        "kept_pairs": epoch.kept,
        "pairs_with_terms": epoch.hinted,
        "tokens_per_step": round(epoch.epoch_tokens / epoch_updates),
        "steps_per_epoch": epoch_updates,
        "directions": _rounded(epoch.directions),
        "steps": steps,
        "warnings": _warnings(recipe, steps),
        "device": str(place),
        "teachers": list(outlook.teachers),
        "seconds_per_step": update_seconds,
        "estimated_seconds": min(one for one in seconds if one),
        "needed_bytes": measured.needed_bytes,
        "available_bytes": measured.available_bytes,
    }


def _files(files: "Iterable[tuple[str, str, Sequence[Path]]]") -> list[dict[str, Any]]:
    return [
        {
            "part": part,
            "corpus": corpus,
            "files": {str(path): path.stat().st_size for path in paths},
        }
        for part, corpus, paths in files
    ]


def _rounded(directions: Any) -> dict[str, int]:
    return {name: round(tokens) for name, tokens in directions.items()}


def _warnings(recipe: "CommonRecipe", steps: int | None) -> list[str]:
    from allyouneed.training.schedule import never_peaks

    return [low] if steps and (low := never_peaks(recipe.schedule, steps)) else []


def as_text(planned: dict[str, Any]) -> str:
    """The recipe as TOML that can be saved and run, followed by the other facts as comments."""
    lines = [
        planned["recipe"],
        f"# {_shape(planned)}vocabulary of {planned['vocabulary']:,}",
    ]
    for corpus in planned["data"]:
        sizes = [f"{path} ({size:,} bytes)" for path, size in corpus["files"].items()]
        lines.append(f"# {corpus['part']}: {', '.join(sizes) or corpus['corpus']}")
    lines += [f"# missing: {path}" for path in planned.get("missing", ())]
    lines += _counted(planned)
    for name, tokens in planned["directions"].items():
        lines.append(f"# {name}: about {tokens:,} {planned['unit']}s per epoch")
    if not planned["measured"]:
        lines.append(_on_disk(planned))
    lines.append(f"# {_memory(planned['needed_bytes'], planned['available_bytes'])}")
    if planned["measured"]:
        time = timedelta(seconds=round(planned["estimated_seconds"]))
        step = f"{planned['seconds_per_step']:.3g} s per step on {planned['device']}"
        lines.append(f"# about {step}, {time} in all, without validation and checkpoints")
    lines += [f"# warning: {text}" for text in planned["warnings"]]
    if planned["teachers"]:
        names = " and ".join(dict.fromkeys(planned["teachers"]))
        lines.append(f"# not counted: the translations by {names} that are made before step 1")
    if not planned["measured"]:
        lines.append("# estimated from the sizes of the files; --measure counts, and times a step")
    return "\n".join(lines)


def _shape(planned: dict[str, Any]) -> str:
    parameters = f"{planned['parameters']:,} parameters, "
    if planned["measured"]:
        return parameters
    layers = f"{planned['encoder_layers']}+{planned['decoder_layers']} layers"
    sure = "" if planned["decoder_layers"] else "about "  # heads are not counted
    return f"{sure}{parameters}{layers} of d_model {planned['d_model']}, "


def _counted(planned: dict[str, Any]) -> list[str]:
    steps = f"{planned['steps']:,} steps in all" if planned["steps"] else ""
    if planned["steps_per_epoch"] is None:
        return [f"# {steps}"] if steps else []
    pairs, counted = planned["pairs"], planned["counted"]
    if planned["measured"]:
        sure = "about " if counted == "pairs" else ""
        beside = " (duplicates are not counted)" if sure else ""
        data = f"# {sure}{planned['kept_pairs']:,} of {pairs:,} {counted} are kept{beside}"
    else:
        data = f"# {'' if planned['exact'] else 'about '}{pairs:,} {counted}, before filters"
    if planned.get("pairs_with_terms") is not None:
        data += f"\n# about {planned['pairs_with_terms']:,} of them get terms in their source"
    tokens, epoch = planned["tokens_per_step"], planned["steps_per_epoch"]
    an_epoch = f"# about {tokens:,} {planned['unit']}s per step, {epoch:,} steps per epoch"
    return [data, f"{an_epoch}, {steps}" if steps else an_epoch]


def _on_disk(planned: dict[str, Any]) -> str:
    model, checkpoint = (
        f"{planned[f'{what}_bytes'] / MIB:,.1f} MiB" for what in ("model", "checkpoint")
    )
    prepared = planned["prepared_bytes"]
    data = "" if prepared is None else f", {prepared / MIB:,.1f} MiB for the prepared data"
    return (
        f"# on disk about {model} for the model, {checkpoint} for each of "
        f"{planned['checkpoints']} checkpoints{data}"
    )


def _memory(needed: int, available: int | None) -> str:
    need = f"about {needed / GIB:.1f} GiB of memory"
    if available is None:
        return need
    fits = "" if needed <= available else ": too much; lower training.batch_tokens"
    return f"{need}, of {available / GIB:.1f} GiB that are free{fits}"
