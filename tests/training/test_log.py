"""The log: each step once, whole lines only, numbers for TensorBoard on request."""

import builtins
import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from allyouneed.errors import TrainingError
from allyouneed.training import log as log_module
from allyouneed.training.log import Log, read_log


def record(step: int, **more: Any) -> dict[str, Any]:
    return {"step": step, "event": "step", "loss": 1 / (step + 3), **more}


def test_records_come_back_in_order_and_to_the_bit(tmp_path: Path) -> None:
    log = Log(tmp_path)
    records = [record(step, text="ä\u2028\x85\n</s>") for step in range(3)]
    for one in records:
        log.write(one)
        assert read_log(tmp_path)[-1] == one
    assert read_log(tmp_path) == records
    Log(tmp_path)
    assert read_log(tmp_path) == records


def test_a_resumed_run_has_each_step_once(tmp_path: Path) -> None:
    for step in range(1, 8):
        Log(tmp_path).write(record(step))
    log = Log(tmp_path)
    log.keep_until(4)
    for step in range(5, 9):
        log.write(record(step))
    assert [one["step"] for one in read_log(tmp_path)] == list(range(1, 9))
    log.keep_until(-1)
    assert read_log(tmp_path) == []


def test_an_unfinished_line_is_taken_off(tmp_path: Path) -> None:
    Log(tmp_path).write(record(1))
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 2, "ev')
    assert read_log(tmp_path) == [record(1)]
    Log(tmp_path).write(record(2))
    assert read_log(tmp_path) == [record(1), record(2)]


def test_no_log_is_an_empty_one(tmp_path: Path) -> None:
    assert read_log(tmp_path) == []


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    log = Log(tmp_path)
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(TrainingError, match=r"log\.jsonl could not be written"):
        log.write(record(1))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk ever full")
def test_on_a_full_disk_lines_wait_for_room(tmp_path: Path) -> None:
    told: list[Any] = []
    log = Log(tmp_path, report=told.append)
    log.write(record(1))
    path = tmp_path / "log.jsonl"
    path.rename(tmp_path / "before")
    path.symlink_to("/dev/full")
    log.write(record(2))
    log.write(record(3))
    (tmp_path / "before").replace(path)
    log.write(record(4))
    assert read_log(tmp_path) == [record(step) for step in (1, 2, 3, 4)]
    assert [one for one in told if one["event"] == "step"] == read_log(tmp_path)
    (note,) = [one["text"] for one in told if one["event"] == "note"]
    assert note.endswith("log.jsonl: No space left on device; its lines wait until there is space")


@pytest.mark.usefixtures("full_disk")
def test_on_a_full_disk_the_log_of_a_run_that_goes_on_stays(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.write(record(1))
    with pytest.raises(TrainingError, match=r"log\.jsonl could not be written: No space.*--resume"):
        log.keep_until(1)
    assert read_log(tmp_path) == [record(1)]
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


def test_missing_tensorboard_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith(("torch.utils.tensorboard", "tensorboard")):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TrainingError, match=r"pip install 'allyouneed\[tensorboard\]'"):
        Log(tmp_path, tensorboard=True)


def test_a_disk_too_full_for_tensorboard_costs_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    told: list[Any] = []
    monkeypatch.setattr(log_module, "_summary_writer", lambda: None)
    monkeypatch.setattr(Log, "_to_board", full)
    log = Log(tmp_path, tensorboard=True, report=told.append)
    monkeypatch.setattr(log, "_writer", full)
    for step in (1, 2):
        log.write(record(step))
    assert read_log(tmp_path) == [record(1), record(2)]
    (note,) = [one["text"] for one in told if one["event"] == "note"]
    assert note.endswith("No space left on device; nothing more is written there")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_gets_the_numbers(tmp_path: Path) -> None:
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="extra tensorboard"
    )
    log = Log(tmp_path, tensorboard=True)
    log.write(record(5, samples=[["a", "b", "c"]], best=True))
    log.write({"step": 6, "event": "note", "text": "hello"})
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert events.Tags()["scalars"] == ["step/loss"]
    (point,) = events.Scalars("step/loss")
    assert (point.step, point.value) == (5, pytest.approx(1 / 8))
