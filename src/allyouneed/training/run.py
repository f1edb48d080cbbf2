"""A whole run: prepares the data, trains, averages, and writes a model folder and a report."""

import shlex
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from allyouneed.checks import expect, expect_list
from allyouneed.device import made_ready, named_device
from allyouneed.errors import TrainingError, UsageError
from allyouneed.training.checkpoint import (
    LOCK,
    RunLock,
    checkpoint_step,
    latest_checkpoint,
)
from allyouneed.training.estimate import check_model_fits
from allyouneed.training.final_model import final_model
from allyouneed.training.log import Log, OnRecord, ignore_record
from allyouneed.training.loop import Loop
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.report.page import write_report
from allyouneed.training.run_folder import (
    RECIPE,
    check_begun,
    check_recipe,
    keep_recipe,
    make_folder,
    restarted_here,
)
from allyouneed.training.schedule import Cosine, Trapezoid
from allyouneed.training.tasks.table import task_of
from allyouneed.training.tasks.task import RunStart, Task
from allyouneed.training.trainee import Trainee
from allyouneed.training.validation import Measured
from allyouneed.training.workers import Workers, gathered, own_device


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The result of a run: the model's folder, why the run ended, and the model's validation
    result.

    `model` is None if a signal stopped the run before its end; `signal` is the signal's number (0:
    none), and `--resume` continues the run. `first` says whether this process is the one worker
    that writes files and reports.
    """

    folder: Path
    model: Path | None
    reason: str
    steps: int
    validation: Measured | None
    signal: int = 0
    first: bool = True


def train(
    recipe: CommonRecipe | str | Path,
    into: Path | str | None = None,
    *,
    overrides: Sequence[str] = (),
    resume: bool = False,
    device: str | None = None,
    report: OnRecord = ignore_record,
) -> TrainingResult:
    """Trains the model that a recipe describes, and returns where it is and how good it is.

    Under `torchrun` each process calls this function with the same arguments; the first one
    reports.

    Args:
        recipe: the name of a packaged recipe, a TOML file, or a `Recipe`.
        into: the run's folder, runs/NAME by default.
        overrides: changes of the recipe, each "section.key=value".
        resume: continue the run in `into` from its newest checkpoint, or from its start if it was
            ended before its first checkpoint.
        device: "cpu", "cuda" and so on; by default a GPU if there is one.
        report: is called with every record of the log, and with the progress of the preparation.

    Raises:
        RecipeError, DataError: the recipe or a corpus cannot be used.
        UsageError: an argument of another type, the device does not exist, or `overrides` are given
            with a `Recipe`.
        TrainingError: the folder holds another run, the loss is not finite, or the disk is full.
    """
    expect(
        recipe,
        CommonRecipe | str | PathLike,
        "recipe",
        "the name of a packaged recipe, the path of a TOML file, or a Recipe",
    )
    expect_list(overrides, "overrides", 'a list such as ["training.epochs=5"]')
    expect(into, str | PathLike | None, "into", "the path of the run's folder")
    named = recipe
    if not isinstance(recipe, CommonRecipe):
        recipe = load_recipe(recipe, overrides)
    elif overrides:
        raise UsageError(
            f"overrides={list(overrides)} only work with the name or path of a recipe, and "
            f"{recipe.name!r} is already loaded; give them to load_recipe"
        )
    folder = Path(into) if into is not None else Path("runs") / recipe.name
    start = folder / RECIPE if named is recipe else named
    command = f"allyouneed train {shlex.join([str(start), *overrides])}"
    place = own_device(choose_device(device))
    # Setting the number makes MKL keep it; otherwise MKL may use fewer threads and round otherwise.
    torch.set_num_threads(torch.get_num_threads())
    with gathered(place, recipe.training.sharded) as workers, ExitStack() as held:

        def claim() -> list[str]:
            if resume:
                check_begun(folder)
            make_folder(folder)
            held.enter_context(RunLock(folder))
            return check_recipe(folder, recipe, resume or restarted_here(folder))

        check_model_fits(recipe, place, workers.world)
        changed = workers.from_first(claim)
        run = _Run(recipe, folder, place, command, workers, resume)
        return _train(run, changed, report if workers.first else ignore_record)


def choose_device(name: str | None) -> torch.device:
    """The device of this name; for None a GPU if there is one, otherwise the CPU."""
    if name is not None:
        return named_device(name)
    return made_ready(torch.device("cuda" if torch.cuda.is_available() else "cpu"))


@dataclass(frozen=True, slots=True)
class _Run:
    """The arguments of a run: recipe, folder, device, the command line that gives this recipe, the
    workers, and whether to resume."""

    recipe: CommonRecipe
    folder: Path
    device: torch.device
    command: str
    workers: Workers
    resume: bool


def _train(run: _Run, changed: Sequence[str], report: OnRecord) -> TrainingResult:
    folder, workers = run.folder, run.workers
    damaged: list[str] = []
    newest = workers.from_first(lambda: latest_checkpoint(folder, note=damaged.append))
    step = 0 if newest is None else checkpoint_step(newest)
    log = Log(folder, run.recipe.tensorboard, report) if workers.first else None
    if log is not None:
        log.keep_until(-1 if newest is None else step)
    write = ignore_record if log is None else log.write

    def note(text: str) -> None:
        write({"step": step, "event": "note", "text": text})

    def progress(stage: str, done: int, total: int | None) -> None:
        report({"step": step, "event": "preparing", "stage": stage, "done": done, "total": total})

    for text in damaged:
        note(text)
    if newest is None and run.resume:
        note(f"{folder} holds no checkpoint to resume from, so training starts at step 0")
    if newest is not None and changed:
        note(f"changed since the last start: {', '.join(changed)}")
    if run.recipe.training.sharded and workers.world == 1:
        note("training.sharded has no effect on one process; torchrun starts more")
    schedule, steps = run.recipe.schedule, run.recipe.training.steps
    if (
        isinstance(schedule, Cosine | Trapezoid)
        and not schedule.final
        and (steps or 0) > schedule.steps
    ):
        note(
            f"the learning rate is 0 from step {schedule.steps} on, but training.steps = {steps}: "
            f"the later steps learn nothing; set schedule.steps={steps} too"
        )
    if newest is None:
        workers.from_first(lambda: keep_recipe(run.recipe, folder))
    start = RunStart(folder, run.device, workers, note, progress)
    task = task_of(run.recipe).prepared(run.recipe, start)
    _check_alike(run, task)
    trainee = Trainee(run.recipe, folder, task, run.device, write, workers)
    loop = Loop(trainee)
    if newest is not None:
        loop.resume(newest)  # raises before the run's recipe is overwritten
        workers.from_first(lambda: keep_recipe(run.recipe, folder))
    else:
        for part, store in (("train", task.train), ("valid", task.valid)):
            trainee.record({"event": "data", "part": part, "report": store.report.to_dict()})
    ending = loop.run()
    trainee.note(ending.reason)
    validation = final_model(trainee, run.command) if ending.complete else None
    if workers.first:
        write_report(folder)
    model = folder / "model" if ending.complete else None
    return TrainingResult(
        folder,
        model,
        ending.reason,
        trainee.state.step,
        validation,
        signal=ending.signal,
        first=workers.first,
    )


def _check_alike(run: _Run, task: Task[Any]) -> None:
    """Checks that all workers train the same recipe on the same pairs in the same folder.

    Raises:
        TrainingError: they do not; all workers raise it.
    """
    own = (run.recipe.model_dump_json(), task.train.folder.name, (run.folder / LOCK).exists())
    host = socket.gethostname()
    everybody = run.workers.together([(host, own)])
    _, first = everybody[0]
    for host, other in everybody:
        for value, firsts, what in zip(
            other, first, ("another recipe", "other pairs", "another run's folder"), strict=True
        ):
            if value != firsts:
                raise TrainingError(
                    f"the worker on {host} has {what} than the first one; start all workers with "
                    "the same command, in a folder that all hosts share"
                )
