"""Checkpoints: all that a run needs to continue exactly where it was, written whole or not at all.

    RUN/checkpoints/step-00000100/model.safetensors      the weights, shared ones once
                                  optimizer.safetensors  the moments, by parameter name
                                  state.json             the rest: `State.record`

With `training.sharded` each worker writes its part instead; `stored` describes both forms. A
checkpoint is written into a hidden folder, flushed to the disk, and renamed. Older checkpoints are
removed only after that.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer

from allyouneed.errors import TrainingError
from allyouneed.files import put_in_place
from allyouneed.model_folder.weights.model import AnyModel, untied_weights
from allyouneed.model_folder.weights.shapes import check_shapes
from allyouneed.training.stored import WEIGHTS, Parts, Shapes, Whole, damage, stored
from allyouneed.training.workers import ALONE, Workers

STATE = "state.json"
LOCK = ".lock"
HOLDER = ".lock-holder"  # a file with the number of the process that holds the lock
NAME = re.compile(r"step-\d{8,}(\.again)?")
AGAIN = ".again"  # suffix of a step's second checkpoint until the first one is removed


def silent(note: str) -> None:
    """Drops notes, for callers that show none."""


def save_checkpoint(
    run: Path,
    step: int,
    model: AnyModel,
    optimizer: Optimizer,
    state: Mapping[str, Any],
    *,
    keep_last: int,
    workers: Workers = ALONE,
) -> Path:
    """Writes the checkpoint of a step, then removes all but the newest `keep_last`.

    A checkpoint that was written because of a signal ("stopped" in its state) is not counted, and
    is removed with the next one. An interrupted run therefore leaves the same checkpoints as an
    uninterrupted one. Files that a killed process left incomplete are removed too.

    `state` holds values that JSON can store; floats are restored exactly. All workers call this
    function together. The first worker writes; with sharded weights each worker writes its part.

    Raises:
        TrainingError: the checkpoint cannot be written; all workers raise it. The earlier
            checkpoints are intact.
    """
    folder = run / "checkpoints"
    place = folder / f"step-{step:08d}"
    beside = folder / f".{place.name}.partial"
    tensors = _tensors(model, optimizer)

    def begin() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        _tidy(folder)
        beside.mkdir()

    def write_whole() -> None:
        Whole.write(beside, tensors)

    def finish() -> None:
        (beside / STATE).write_text(json.dumps({"step": step, "state": state}), encoding="utf-8")
        put_in_place(beside, place.with_name(place.name + AGAIN) if place.exists() else place)
        _tidy(folder)

    try:
        _in_words(workers, begin)
        if any(isinstance(tensor, DTensor) for tensor in tensors.values()):
            Parts.write(beside, tensors, workers.group)
        else:
            _in_words(workers, write_whole)
        _in_words(workers, finish)
    except TrainingError as error:
        why = str(error)
        raise workers.from_first(lambda: _not_written(run, step, beside, why)) from error
    _in_words(workers, lambda: _discard_all(_superseded(run, keep_last)))
    return place


def _superseded(run: Path, keep_last: int) -> list[Path]:
    known = checkpoints(run)
    of_stops = [path for path in known if saved_state(path).get("stopped")]
    of_recipe = [path for path in known if path not in of_stops]
    return [*of_recipe[:-keep_last], *(path for path in of_stops if path != known[-1])]


def _in_words(workers: Workers, write: Callable[[], None]) -> None:
    """Lets the first worker write. An error of the disk is raised in all workers."""

    def try_it() -> None:
        try:
            write()
        except (OSError, SafetensorError) as error:
            raise TrainingError(str(error)) from error

    workers.from_first(try_it)


def _not_written(run: Path, step: int, beside: Path, why: str) -> TrainingError:
    shutil.rmtree(beside, ignore_errors=True)
    newest = latest_checkpoint(run)
    return TrainingError(
        f"the checkpoint of step {step} could not be written into {beside.parent}: {why}; "
        f"{f'the last good one is {newest.name}' if newest else 'there is none yet'}"
    )


def checkpoint_folders(run: Path) -> list[Path]:
    """All folders with the name of a checkpoint, whole or damaged."""
    return [path for path in (run / "checkpoints").glob("step-*") if NAME.fullmatch(path.name)]


def checkpoints(run: Path, note: Callable[[str], None] = silent) -> list[Path]:
    """The whole checkpoints of a run, oldest first. `note` receives a line for each damaged one."""
    whole = []
    for path in sorted(checkpoint_folders(run)):
        damage = _damage(path)
        if damage is None:
            whole.append(path)
        else:
            note(f"{path} is skipped: {damage}")
    return whole


def latest_checkpoint(run: Path, note: Callable[[str], None] = silent) -> Path | None:
    """The newest whole checkpoint of a run, or None. `note` receives a line for each damaged
    one."""
    return next(reversed(checkpoints(run, note)), None)


def set_aside(path: Path) -> str:
    """Renames a checkpoint with spoilt weights, so that no run continues from it. Returns a remark
    on what was done."""
    aside = path.with_name(f"spoilt-{path.name}")
    shutil.rmtree(aside, ignore_errors=True)  # from an earlier attempt
    try:
        path.rename(aside)
    except OSError as error:
        return (
            f"{path} has spoilt weights and cannot be renamed: {error.strerror}; remove it before "
            "you resume the run"
        )
    return f"{aside.name} has spoilt weights"


def checkpoint_step(path: Path) -> int:
    """The step after which a checkpoint was written."""
    return int(path.name.removeprefix("step-").removesuffix(AGAIN))


def load_checkpoint(path: Path, model: AnyModel, optimizer: Optimizer) -> None:
    """Restores weights and moments exactly.

    Each worker loads the parts that it holds, whichever worker wrote them. A run may therefore
    continue with another number of workers.

    Raises:
        ModelFolderError, TrainingError: the checkpoint belongs to another model or optimizer.
    """
    content = stored(path)
    shapes = content.shapes()
    weights = {f"{WEIGHTS}:{name}": w for name, w in untied_weights(model).items()}
    check_shapes(
        {name: tuple(weight.shape) for name, weight in weights.items()},
        {name: shape for name, shape in shapes.items() if name.startswith(f"{WEIGHTS}:")},
        path,
    )
    moments = _empty_moments(path, model, {n: s for n, s in shapes.items() if n not in weights})
    content.fill({**weights, **moments})
    _fill_optimizer(moments, model, optimizer)


def saved_state(path: Path) -> dict[str, Any]:
    """The `state` that was saved with a checkpoint."""
    state: dict[str, Any] = json.loads((path / STATE).read_text(encoding="utf-8"))["state"]
    return state


class RunLock:
    """Locks a run's folder against other processes. The system releases the lock when the process
    ends, even if forks of it live on.

    Raises:
        TrainingError: on entry, another process holds the lock.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._lock = FileLock(run / LOCK)

    def __enter__(self) -> "RunLock":
        holder = self._run / HOLDER
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            process = "unknown"
            with suppress(OSError), holder.open("rb") as file:
                number = file.read(20).strip()  # a limit, because the file may be endless
                process = number.decode() if number.isdigit() else process
            raise TrainingError(
                f"{self._run} is in use by process {process}; wait until it ends, or choose "
                "another folder"
            ) from None
        except OSError as error:
            raise TrainingError(
                f"{self._run} cannot be locked ({error.strerror}); some network disks cannot lock "
                "files, so choose a folder on another disk"
            ) from error
        with suppress(OSError):  # on a full disk, errors of others name no process number
            holder.write_text(f"{os.getpid()}\n", encoding="utf-8")
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def _damage(path: Path) -> str | None:
    """What is wrong with a checkpoint, judged by the headers and sizes of its files; None if
    nothing is."""
    try:
        state = json.loads((path / STATE).read_text(encoding="utf-8"))
        if not {"step", "state"} <= state.keys():
            return f"{STATE} holds no JSON object"
    except (OSError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return damage(path)


def _tensors(model: AnyModel, optimizer: Optimizer) -> dict[str, Tensor]:
    """All stored tensors of a model and its optimizer, by name."""
    tensors = {f"{WEIGHTS}:{name}": weight for name, weight in untied_weights(model).items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"{key}:{name}"] = value.detach().contiguous()
    return tensors


def _empty_moments(path: Path, model: AnyModel, shapes: Shapes) -> dict[str, Tensor]:
    """Empty tensors for the optimizer's state. A tensor with a parameter's shape is sharded like
    that parameter."""
    parameters = dict(model.named_parameters())
    moments: dict[str, Tensor] = {}
    for full_name, shape in shapes.items():
        key, _, name = full_name.partition(":")
        parameter = parameters.get(name)
        if parameter is None or (key != "step" and shape != tuple(parameter.shape)):
            raise TrainingError(
                f"{path} belongs to another model: this one has no {name}; start a new run in "
                "another folder"
            )
        moments[full_name] = (
            torch.empty(shape) if key == "step" else torch.empty_like(parameter.detach())
        )
    return moments


def _fill_optimizer(moments: dict[str, Tensor], model: AnyModel, optimizer: Optimizer) -> None:
    name_of = {parameter: name for name, parameter in model.named_parameters()}
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    number = {name_of[parameter]: n for n, parameter in enumerate(parameters)}
    state: dict[int, dict[str, Tensor]] = {}
    for full_name, tensor in moments.items():
        key, _, name = full_name.partition(":")
        state.setdefault(number[name], {})[key] = tensor
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _tidy(folder: Path) -> None:
    """Cleans up after a killed process: removes incomplete folders, and renames a step's second
    checkpoint to its final name."""
    for partial in folder.glob(".step-*.partial"):
        shutil.rmtree(partial, ignore_errors=True)
    for again in folder.glob(f"step-*{AGAIN}"):
        first = again.with_name(again.name.removesuffix(AGAIN))
        if first.exists():
            _discard(first)
        again.rename(first)


def _discard_all(paths: Sequence[Path]) -> None:
    for path in paths:
        _discard(path)


def _discard(path: Path) -> None:
    """Removes a checkpoint. It is renamed to a hidden name first, so that nobody sees a part of it.
    Files that cannot be removed now, because another process reads them, are removed together with
    the next checkpoint."""
    hidden = path.with_name(f".{path.name}.old.partial")
    path.rename(hidden)
    shutil.rmtree(hidden, ignore_errors=True)
