"""`allyouneed train`: trains a model from a recipe."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allyouneed.cli.dry_run import as_text, measured_plan, plan
from allyouneed.cli.options import Json, RunningOnCore
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.progress import TrainingProgress
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from allyouneed.training.run import TrainingResult

SIGNAL_EXIT = 128  # the exit code is this plus the signal's number, as in a shell
Recipe = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE",
        help="The name of a packaged recipe (reverse, multi30k, en-de, wmt14-base, ...; a wrong "
        "name lists them all), or a TOML file.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="SECTION.KEY=VALUE", help="Keys of the recipe to change."),
]
Into = Annotated[Path | None, typer.Option(help="The run's folder; by default runs/NAME.")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue from the newest checkpoint in the folder.")
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show the run's files, sizes, steps and tokens, estimated within a second. Writes "
        "nothing. The exit code is 1 if something is missing.",
    ),
]
Measure = Annotated[
    bool,
    typer.Option(
        "--measure",
        help="With --dry-run: read all data, tokenise a sample, and time a step. Takes "
        "minutes for large corpora.",
    ),
]


def train(
    *,
    recipe: Recipe,
    overrides: Overrides = None,
    into: Into = None,
    resume: Resume = False,
    dry_run: DryRun = False,
    measure: Measure = False,
    json: Json = False,
    running: RunningOnCore,
) -> None:
    """Train a model from a recipe. Writes a model folder and a report with curves.

    **Examples**

    - `allyouneed train reverse`
    - `allyouneed train multi30k training.epochs=5 model.d_model=256`
    - `allyouneed train my-recipe.toml --into runs/second --dry-run`
    - `allyouneed train multi30k --resume`
    - `torchrun --nproc-per-node 2 -m allyouneed train multi30k`

    Ctrl-C, or any other signal that asks a process to end, stops the run after the current step and
    writes a checkpoint. --resume continues from there with the same results as a run that was never
    stopped. Under torchrun the processes share each update; with torchrun's --max-restarts 3 a run
    continues by itself after a process has died. At the end the model's folder is printed; with
    --json, every record of the log.
    """
    from allyouneed.training.model_size import check_can_be_built
    from allyouneed.training.recipe.toml_file import load_recipe

    checked = load_recipe(recipe, overrides or ())  # its errors come before torch is imported
    check_can_be_built(checked)
    if measure and not dry_run:
        raise UsageError("--measure belongs to --dry-run; give both, or neither to train")
    if dry_run and not measure:
        _show_plan(plan(checked), json)
        return
    from allyouneed.training.run import train as run

    if running.threads is not None:
        import torch

        torch.set_num_threads(running.threads)
    if measure:
        with TrainingProgress() as progress:
            planned = measured_plan(checked, running.device, progress.preparing)
        _show_plan(planned, json)
        return
    # the overrides as they were typed, because the model card shows the command
    start = partial(
        run, recipe, into, overrides=overrides or (), resume=resume, device=running.device
    )
    _tell_end(_watched(start, json), json)


def _show_plan(planned: dict[str, Any], json: bool) -> None:
    """Prints a plan. Ends the verb with exit code 1 if a file is missing."""
    result(as_json(planned) if json else as_text(planned))
    if missing := planned.get("missing"):
        few = len(missing) == 1
        absent = "1 file or model is" if few else f"{len(missing)} files or models are"
        note(f"{absent} missing; training needs {'it' if few else 'them'}")
        raise typer.Exit(1)


def _watched(start: "Callable[..., TrainingResult]", json: bool) -> "TrainingResult":
    """Runs the training, and shows its records as they come."""
    try:
        if json:
            return start(report=_print_record)
        with TrainingProgress() as progress:
            return start(report=progress.show)
    except KeyboardInterrupt:  # Ctrl-C before the first step, or a second Ctrl-C
        note(
            "ended at once, without a new checkpoint; prepared data are kept, and the same command "
            "with --resume continues"
        )
        raise


def _tell_end(done: "TrainingResult", json: bool) -> None:
    """Tells where the results are. Ends the verb with the signal's exit code if one came."""
    if done.model is None:
        if done.first:
            note(f"{done.reason} at step {done.steps:,}; the same command with --resume continues")
        raise typer.Exit(SIGNAL_EXIT + done.signal)
    if done.first and not json:
        note(f"curves and samples: {done.folder / 'report.html'}")
        result(str(done.model))


def _print_record(record: object) -> None:
    result(as_json(record))
