"""Checkpoints: all that a run needs to go on exactly where it stood, written whole or not at all.

    RUN/checkpoints/step-00000100/model.safetensors      the weights, shared ones once
                                  optimizer.safetensors  the moments, by parameter name
                                  state.json             the rest, as the loop wants it

With `training.sharded` each worker writes its part instead; `stored` has both. A checkpoint is
written into a hidden folder beside its place, brought to the disk, and renamed; older ones are
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
HOLDER = ".lock-holder"  # has the number of the process that holds the lock
NAME = re.compile(r"step-\d{8,}(\.again)?")
AGAIN = ".again"  # ends the name of a second checkpoint of a step until the first has gone


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
    """Writes the checkpoint of a step, then removes those before the newest `keep_last`. Those
    that a signal made a run write ("stopped" in the state) do not count among these, and go with
    the next one: a run that was disturbed leaves what an undisturbed one leaves.

    `state` is what JSON can hold; floats come back to the bit. What a killed process left half
    done is removed. All workers call it together; the first writes, or each its part where they
    hold parts. Raises TrainingError in all of them when it cannot be written; the earlier ones are
    intact.
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
    """Has the first worker write; what the disk says against it is an error of all workers."""

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
    """All that are called as checkpoints are, whole or damaged; not copies with other names."""
    return [path for path in (run / "checkpoints").glob("step-*") if NAME.fullmatch(path.name)]


def checkpoints(run: Path, note: Callable[[str], None] = silent) -> list[Path]:
    """The whole checkpoints of a run, oldest first; `note` hears of damaged ones."""
    whole = []
    for path in sorted(checkpoint_folders(run)):
        damage = _damage(path)
        if damage is None:
            whole.append(path)
        else:
            note(f"{path} is passed over: {damage}")
    return whole


def latest_checkpoint(run: Path, note: Callable[[str], None] = silent) -> Path | None:
    """The newest whole checkpoint of a run, or None; `note` hears of damaged ones."""
    return next(reversed(checkpoints(run, note)), None)


def set_aside(path: Path) -> str:
    """Renames a checkpoint, whose weights are spoilt, so that no run goes on from it; says in words
    what became of it."""
    aside = path.with_name(f"spoilt-{path.name}")
    shutil.rmtree(aside, ignore_errors=True)  # of an earlier try
    try:
        path.rename(aside)
    except OSError as error:
        return (
            f"{path} holds spoilt weights and cannot be set aside: {error.strerror}; remove it "
            "before you go on"
        )
    return f"{aside.name} has spoilt weights"


def checkpoint_step(path: Path) -> int:
    """The step after which a checkpoint was written."""
    return int(path.name.removeprefix("step-").removesuffix(AGAIN))


def load_checkpoint(path: Path, model: AnyModel, optimizer: Optimizer) -> None:
    """Puts weights and moments back to the bit.

    Each worker takes what it holds, whoever wrote it: a run may go on with other workers.

    Raises ModelFolderError or TrainingError when they belong to another model or optimizer.
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
    """Holds a run's folder against other processes; the system lets go of it with the process,
    whose forks, should they outlive it, do not hold it.

    Raises TrainingError on entry when another process holds it.
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
                number = file.read(20).strip()  # no more: it may be a file without an end
                process = number.decode() if number.isdigit() else process
            raise TrainingError(
                f"{self._run} is in use by process {process}; wait until it ends, or choose "
                "another folder"
            ) from None
        except OSError as error:
            raise TrainingError(
                f"{self._run} cannot be locked ({error.strerror}), as on some network disks; "
                "choose a folder on another one"
            ) from error
        with suppress(OSError):  # a full disk: others are told of an unknown process
            holder.write_text(f"{os.getpid()}\n", encoding="utf-8")
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def _damage(path: Path) -> str | None:
    """What is wrong with a checkpoint: the headers and sizes of its files are looked at."""
    try:
        state = json.loads((path / STATE).read_text(encoding="utf-8"))
        if not {"step", "state"} <= state.keys():
            return f"{STATE} is of another kind"
    except (OSError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return damage(path)


def _tensors(model: AnyModel, optimizer: Optimizer) -> dict[str, Tensor]:
    """All that is stored of a model and its optimizer, by name."""
    tensors = {f"{WEIGHTS}:{name}": weight for name, weight in untied_weights(model).items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"{key}:{name}"] = value.detach().contiguous()
    return tensors


def _empty_moments(path: Path, model: AnyModel, shapes: Shapes) -> dict[str, Tensor]:
    """Room for the optimizer's tensors; what has a parameter's shape is parted as that is."""
    parameters = dict(model.named_parameters())
    moments: dict[str, Tensor] = {}
    for full_name, shape in shapes.items():
        key, _, name = full_name.partition(":")
        parameter = parameters.get(name)
        if parameter is None or (key != "step" and shape != tuple(parameter.shape)):
            raise TrainingError(
                f"{path} is of another model: {name} has no place in this one; "
                "start anew in another folder"
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
    """Finishes what a killed process began: half-written folders go, second ones take over."""
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
    """Removes a checkpoint; out of sight first, so that it is never seen in part. What cannot be
    removed now, because somebody reads it, is tried again with the next checkpoint."""
    hidden = path.with_name(f".{path.name}.old.partial")
    path.rename(hidden)
    shutil.rmtree(hidden, ignore_errors=True)
