"""`allyouneed train`: a recipe in, a model folder out."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.dry_run import as_text, plan
from allyouneed.cli.options import Debug, Device, Json, Threads
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.progress import TrainingProgress

SIGNAL_EXIT = 128  # plus the signal's number, as a shell reports it


def train(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="A packaged recipe by name (reverse, multi30k, en-de, wmt14-base, ...; a wrong "
            "name lists them all), or a TOML file.",
        ),
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="SECTION.KEY=VALUE", help="Keys of the recipe to change."),
    ] = None,
    into: Annotated[
        Path | None, typer.Option(help="The run's folder; without it runs/NAME.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest checkpoint of the folder.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what the run takes: data, memory, time. Writes nothing."
        ),
    ] = False,
    json: Json = False,
    device: Device = None,
    threads: Threads = None,
    debug: Debug = False,
) -> None:
    """Train a model: a recipe in, a model folder and a report with curves out.

    **Examples**

    - `allyouneed train reverse`
    - `allyouneed train multi30k training.epochs=5 model.d_model=256`
    - `allyouneed train my-recipe.toml --into runs/second --dry-run`
    - `allyouneed train multi30k --resume`
    - `torchrun --nproc-per-node 2 -m allyouneed train multi30k`

    Ctrl-C, and every other signal that asks a process to end, stops after the current step, with a
    checkpoint; --resume goes on from there as if nothing had happened. Under torchrun the processes
    share each update out; with its --max-restarts 3 a run of which a process died goes on by
    itself. The model's folder is printed at the end; with --json every record of
    the log is.
    """
    from allyouneed.training.model_size import check_can_be_built
    from allyouneed.training.recipe.toml_file import load_recipe

    checked = load_recipe(recipe, overrides or ())  # its errors come before torch is imported
    check_can_be_built(checked)
    from allyouneed.training.run import train as run

    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    if dry_run:
        with TrainingProgress() as progress:
            planned = plan(checked, device, progress.preparing)
        result(as_json(planned) if json else as_text(planned))
        return
    # the words as they were typed: the model card says how the model was made
    start = partial(run, recipe, into, overrides=overrides or (), resume=resume, device=device)
    try:
        if json:
            done = start(report=_print_record)
        else:
            with TrainingProgress() as progress:
                done = start(report=progress.show)
    except KeyboardInterrupt:  # before the first step, or the second one
        note(
            "ended at once, without a checkpoint of its own; what is prepared is kept, and the "
            "same command with --resume goes on"
        )
        raise
    if done.model is None:
        if done.first:
            note(f"{done.reason} at step {done.steps:,}; the same command with --resume goes on")
        raise typer.Exit(SIGNAL_EXIT + done.signal)
    if done.first and not json:
        note(f"curves and samples: {done.folder / 'report.html'}")
        result(str(done.model))


def _print_record(record: object) -> None:
    result(as_json(record))
