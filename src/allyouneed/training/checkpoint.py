"""Checkpoints: all that a run needs to go on exactly where it stood, written whole or not at all.

    RUN/checkpoints/step-00000100/model.safetensors      the weights, shared ones once
                                  optimizer.safetensors  the moments, by parameter name
                                  state.json             the rest, as the loop wants it

A checkpoint is written into a hidden folder beside its place, brought to the disk, and renamed;
older ones are removed only after that. Nothing is pickled.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer

from allyouneed.core.transformer import Transformer
from allyouneed.errors import TrainingError
from allyouneed.model_folder import to_disk
from allyouneed.weights.model import fill_weights, untied_weights

MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
LOCK = ".lock"
AGAIN = ".again"  # ends the name of a second checkpoint of a step until the first has gone


def silent(note: str) -> None:
    """For callers that have nobody to tell."""


def save_checkpoint(
    run: Path,
    step: int,
    model: Transformer,
    optimizer: Optimizer,
    state: Mapping[str, Any],
    *,
    keep_last: int,
) -> Path:
    """Writes the checkpoint of a step, then removes all but the newest `keep_last`.

    `state` is what JSON can hold; floats come back to the bit. What a killed process left half
    done is removed. Raises TrainingError when it cannot be written; the earlier ones are intact.
    """
    folder = run / "checkpoints"
    place = folder / f"step-{step:08d}"
    beside = folder / f".{place.name}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _tidy(folder)
        beside.mkdir()
        save_file(untied_weights(model), beside / MODEL)
        save_file(_optimizer_tensors(model, optimizer), beside / OPTIMIZER)
        (beside / STATE).write_text(json.dumps({"step": step, "state": state}), encoding="utf-8")
        for file in (MODEL, OPTIMIZER, STATE):
            to_disk(beside / file)
        to_disk(beside)
        beside.rename(place.with_name(place.name + AGAIN) if place.exists() else place)
        to_disk(folder)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(beside, ignore_errors=True)
        newest = latest_checkpoint(run)
        raise TrainingError(
            f"the checkpoint of step {step} could not be written into {folder}: {error}; "
            f"{f'the last good one is {newest.name}' if newest else 'there is none yet'}: "
            "make room on the disk, then go on with --resume"
        ) from error
    _tidy(folder)
    for old in checkpoints(run)[:-keep_last]:
        _discard(old)
    return place


def checkpoints(run: Path, note: Callable[[str], None] = silent) -> list[Path]:
    """The whole checkpoints of a run, oldest first; `note` hears of damaged ones."""
    whole = []
    for path in sorted((run / "checkpoints").glob("step-*")):
        damage = _damage(path)
        if damage is None:
            whole.append(path)
        else:
            note(f"{path} is passed over: {damage}")
    return whole


def latest_checkpoint(run: Path, note: Callable[[str], None] = silent) -> Path | None:
    """The newest whole checkpoint of a run, or None; `note` hears of damaged ones."""
    return next(reversed(checkpoints(run, note)), None)


def checkpoint_step(path: Path) -> int:
    """The step after which a checkpoint was written."""
    return int(path.name.removeprefix("step-"))


def load_checkpoint(path: Path, model: Transformer, optimizer: Optimizer) -> dict[str, Any]:
    """Puts weights and moments back to the bit, and returns the `state` that was saved.

    Raises ModelFolderError or TrainingError when they belong to another model or optimizer.
    """
    fill_weights(model, load_file(path / MODEL), path / MODEL)
    _fill_optimizer(path / OPTIMIZER, model, optimizer)
    state: dict[str, Any] = json.loads((path / STATE).read_text(encoding="utf-8"))["state"]
    return state


class RunLock:
    """Holds a run's folder against other processes; the system lets go of it with the process.

    Raises TrainingError on entry when another process holds it.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._file: IO[str] | None = None

    def __enter__(self) -> "RunLock":
        with ExitStack() as on_error:
            file = on_error.enter_context((self._run / LOCK).open("a+", encoding="utf-8"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise TrainingError(
                    f"{self._run} is in use by process {file.read().strip() or 'unknown'}; "
                    "wait until it ends, or choose another folder"
                ) from None
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            on_error.pop_all()
            self._file = file
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()


def _damage(path: Path) -> str | None:
    """What is wrong with a checkpoint: the headers and sizes of its files are looked at."""
    try:
        for file in (MODEL, OPTIMIZER):
            with safe_open(path / file, framework="pt"):
                pass
        state = json.loads((path / STATE).read_text(encoding="utf-8"))
        return None if {"step", "state"} <= state.keys() else f"{STATE} is of another kind"
    except (OSError, SafetensorError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


def _optimizer_tensors(model: Transformer, optimizer: Optimizer) -> dict[str, Tensor]:
    """The optimizer's tensors as "exp_avg:NAME", NAME being the parameter's."""
    return {
        f"{key}:{name}": value.detach().contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def _fill_optimizer(path: Path, model: Transformer, optimizer: Optimizer) -> None:
    name_of = {parameter: name for name, parameter in model.named_parameters()}
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    number = {name_of[parameter]: n for n, parameter in enumerate(parameters)}
    state: dict[int, dict[str, Tensor]] = {}
    for full_name, tensor in load_file(path).items():
        key, _, name = full_name.partition(":")
        if name not in number or (key != "step" and tensor.shape != parameters[number[name]].shape):
            raise TrainingError(
                f"{path} is of another model: {name} has no place in this one; "
                "start anew in another folder"
            )
        state.setdefault(number[name], {})[key] = tensor
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _tidy(folder: Path) -> None:
    """Finishes what a killed process began: half-written folders go, second ones take over."""
    for partial in folder.glob(".step-*.partial"):
        shutil.rmtree(partial)
    for again in folder.glob(f"step-*{AGAIN}"):
        first = again.with_name(again.name.removesuffix(AGAIN))
        if first.exists():
            _discard(first)
        again.rename(first)


def _discard(path: Path) -> None:
    """Removes a checkpoint; out of sight first, so that it is never seen in part."""
    hidden = path.with_name(f".{path.name}.old.partial")
    path.rename(hidden)
    shutil.rmtree(hidden)
