"""Checkpoints: exact to the bit, whole or not there, damaged ones passed over; one run a folder."""

import errno
import json
import math
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock
from safetensors.torch import load_file
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ModelFolderError, TrainingError
from allyouneed.training import checkpoint, stored
from allyouneed.training.averaging import average_checkpoints
from allyouneed.training.checkpoint import (
    RunLock,
    checkpoint_step,
    checkpoints,
    latest_checkpoint,
    load_checkpoint,
    save_checkpoint,
    saved_state,
    set_aside,
)

SMALL = TransformerConfig(
    vocabulary=20, d_model=8, heads=2, d_ff=16, encoder_layers=1, decoder_layers=1, dropout=0.0
)
STATE = {"step": 3, "loss": math.pi / 7, "best": math.inf, "note": "ä\n"}


def trained(kind: Any, steps: int, seed: int = 0) -> tuple[Transformer, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = Transformer(SMALL)
    optimizer = kind(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for _ in range(steps):
        train(model, optimizer)
    return model, optimizer


def train(model: Transformer, optimizer: torch.optim.Optimizer) -> float:
    ids = torch.arange(4, 16).reshape(2, 6)
    loss = model(ids, ids).logsumexp(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def save(run: Path, step: int, keep_last: int = 5, seed: int = 0) -> Path:
    model, optimizer = trained(torch.optim.Adam, 1, seed)
    return save_checkpoint(run, step, model, optimizer, {"seed": seed}, keep_last=keep_last)


def names(run: Path) -> list[str]:
    return [path.name for path in checkpoints(run)]


def bits(values: dict[Any, Any]) -> dict[Any, Any]:
    return {
        key: value.numpy().tobytes() if isinstance(value, Tensor) else value
        for key, value in values.items()
    }


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
def test_a_resumed_run_goes_on_to_the_bit(kind: Any, tmp_path: Path) -> None:
    model, optimizer = trained(kind, 3)
    path = save_checkpoint(tmp_path, 3, model, optimizer, STATE, keep_last=1)
    other, fresh = trained(kind, 0, seed=1)
    load_checkpoint(path, other, fresh)
    assert saved_state(path) == STATE
    ours, theirs = optimizer.state_dict()["state"], fresh.state_dict()["state"]
    assert ours.keys() == theirs.keys()
    for index in ours:
        assert bits(ours[index]) == bits(theirs[index])
    expected = [train(model, optimizer) for _ in range(3)]
    assert [train(other, fresh) for _ in range(3)] == expected
    assert bits(model.state_dict()) == bits(other.state_dict())


def test_without_the_moments_it_would_differ(tmp_path: Path) -> None:
    """The test above can fail: forgetting the optimizer changes the losses."""
    model, optimizer = trained(torch.optim.Adam, 3)
    path = save_checkpoint(tmp_path, 3, model, optimizer, STATE, keep_last=1)
    other, fresh = trained(torch.optim.Adam, 0)
    load_checkpoint(path, other, fresh)
    fresh.state.clear()
    expected = [train(model, optimizer) for _ in range(3)]
    assert [train(other, fresh) for _ in range(3)] != expected


def test_parameter_groups_may_be_in_another_order(tmp_path: Path) -> None:
    model, optimizer = trained(torch.optim.Adam, 2)
    path = save_checkpoint(tmp_path, 2, model, optimizer, {}, keep_last=1)
    other, _ = trained(torch.optim.Adam, 0, seed=1)
    matrices = [p for p in other.parameters() if p.dim() > 1]
    vectors = [p for p in other.parameters() if p.dim() <= 1]
    grouped = torch.optim.Adam([{"params": vectors}, {"params": matrices}], lr=0.01)
    load_checkpoint(path, other, grouped)
    name_of = dict(other.named_parameters())
    for name, parameter in model.named_parameters():
        assert bits(optimizer.state[parameter]) == bits(grouped.state[name_of[name]])


def test_nothing_is_pickled(tmp_path: Path) -> None:
    path = save(tmp_path, 1)
    assert sorted(file.name for file in path.iterdir()) == [
        "model.safetensors",
        "optimizer.safetensors",
        "state.json",
    ]


def test_old_ones_go_when_the_new_one_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (1, 2):
        save(tmp_path, step, keep_last=2)
    seen = []
    discard = checkpoint._discard

    def watched(path: Path) -> None:
        seen.append((path.name, names(tmp_path)))
        discard(path)

    monkeypatch.setattr(checkpoint, "_discard", watched)
    save(tmp_path, 3, keep_last=2)
    assert seen == [("step-00000001", ["step-00000001", "step-00000002", "step-00000003"])]
    assert names(tmp_path) == ["step-00000002", "step-00000003"]


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("left", [0, 5, -1, None])
def test_a_damaged_one_is_passed_over_with_a_note(
    file: str, left: int | None, tmp_path: Path
) -> None:
    good, bad = save(tmp_path, 1), save(tmp_path, 2)
    if left is None:
        (bad / file).unlink()
    else:
        content = (bad / file).read_bytes()
        (bad / file).write_bytes(content[: left if left >= 0 else len(content) - 1])
    notes: list[str] = []
    assert latest_checkpoint(tmp_path, notes.append) == good
    assert len(notes) == 1
    assert str(bad) in notes[0]


def test_the_same_step_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    first, second = save(tmp_path, 1, seed=1), save(tmp_path, 1, seed=2)
    assert first == second
    assert names(tmp_path) == ["step-00000001"]
    assert json.loads((second / "state.json").read_text())["state"] == {"seed": 2}


def test_an_old_checkpoint_that_cannot_be_removed_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(path: Path, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            raise OSError(16, "Device or resource busy", str(path))

    save(tmp_path, 1)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", busy)
        save(tmp_path, 2, keep_last=1)
        assert [checkpoint_step(path) for path in checkpoints(tmp_path)] == [2]
    assert len([*(tmp_path / "checkpoints").iterdir()]) == 2, "one is still there, out of sight"
    save(tmp_path, 3, keep_last=1)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-00000003"]


def test_no_moment_without_a_whole_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopping before any rename or removal leaves the newest or the one before it."""
    rename = Path.rename
    calls = 0
    for stop_at in range(1, 4):
        run = tmp_path / str(stop_at)
        save(run, 1, keep_last=1, seed=1)
        calls = 0

        def dying(path: Path, target: Path, stop_at: int = stop_at) -> Path:
            nonlocal calls
            calls += 1
            if calls == stop_at:
                raise KeyboardInterrupt
            return rename(path, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", dying)
            with pytest.raises(KeyboardInterrupt):
                save(run, 1, keep_last=1, seed=2)
        newest = latest_checkpoint(run)
        assert newest is not None
        assert checkpoint_step(newest) == 1
        seed = json.loads((newest / "state.json").read_text())["state"]["seed"]
        assert seed == (1 if stop_at == 1 else 2)
        save(run, 1, keep_last=1, seed=3)
        assert [path.name for path in (run / "checkpoints").iterdir()] == ["step-00000001"]


def test_leftovers_of_a_killed_process_go(tmp_path: Path) -> None:
    save(tmp_path, 1)
    leftover = tmp_path / "checkpoints" / ".step-00000002.partial"
    leftover.mkdir()
    (leftover / "model.safetensors").write_bytes(b"half")
    assert names(tmp_path) == ["step-00000001"]
    save(tmp_path, 2)
    assert not leftover.exists()
    assert names(tmp_path) == ["step-00000001", "step-00000002"]


@pytest.mark.parametrize("writes", [1, 2])
def test_a_full_disk_leaves_the_last_one(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, 1, keep_last=1)
    write, done = stored.save_file, 0

    def full(tensors: dict[str, Tensor], path: Path) -> None:
        nonlocal done
        done += 1
        if done == writes:
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(tensors, path)

    monkeypatch.setattr(stored, "save_file", full)
    with pytest.raises(TrainingError, match=r"step 2 .*No space left.*is step-00000001$"):
        save(tmp_path, 2, keep_last=1)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-00000001"]
    assert names(tmp_path) == ["step-00000001"]


def test_a_real_limit_on_file_size_leaves_the_last_one(tmp_path: Path) -> None:
    save(tmp_path, 1)
    script = """
import resource, sys
from pathlib import Path
import torch
from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.training.checkpoint import save_checkpoint
model = Transformer(TransformerConfig(vocabulary=99, d_model=8, heads=2, d_ff=16))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
save_checkpoint(Path(sys.argv[1]), 2, model, torch.optim.Adam(model.parameters()), {}, keep_last=1)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert "TrainingError: the checkpoint of step 2 could not be written" in done.stderr
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-00000001"]
    assert names(tmp_path) == ["step-00000001"]


def test_spoilt_weights_that_cannot_be_set_aside_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path, 1)

    def refuse(*_: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "rename", refuse)
    assert set_aside(path).endswith(
        "cannot be renamed: Read-only file system; remove it before you resume the run"
    )
    monkeypatch.undo()
    assert set_aside(path) == "spoilt-step-00000001 has spoilt weights"
    assert names(tmp_path) == []


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path, 1)
    other = Transformer(TransformerConfig(vocabulary=20, d_model=16, heads=2, d_ff=16))
    with pytest.raises(ModelFolderError, match="does not fit"):
        load_checkpoint(path, other, torch.optim.Adam(other.parameters()))


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        RunLock(tmp_path),
        pytest.raises(TrainingError, match=f"in use by process {os.getpid()}"),
        RunLock(tmp_path),
    ):
        pass
    with RunLock(tmp_path):
        pass


def test_a_disk_without_locks_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(FileLock, "_acquire", refuse)
    with pytest.raises(TrainingError, match="cannot be locked"), RunLock(tmp_path):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk ever full")
def test_a_full_disk_is_no_reason_not_to_lock(tmp_path: Path) -> None:
    """The holder cannot be written down; what is written next says so in its own words."""
    (tmp_path / ".lock-holder").symlink_to("/dev/full")
    with (
        RunLock(tmp_path),
        pytest.raises(TrainingError, match="in use by process unknown"),
        RunLock(tmp_path),
    ):
        pass


def test_a_dead_process_holds_no_lock(tmp_path: Path) -> None:
    script = """
import sys, time
from pathlib import Path
from allyouneed.training.checkpoint import RunLock
with RunLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(TrainingError, match=f"process {other.pid}"), RunLock(tmp_path):
            pass
        other.send_signal(signal.SIGKILL)
        other.wait()
    with RunLock(tmp_path):
        pass


def test_a_fork_that_outlives_its_process_holds_no_lock(tmp_path: Path) -> None:
    script = """
import os, signal, sys, time
from pathlib import Path
from allyouneed.training.checkpoint import RunLock
with RunLock(Path(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os.write(1, b"alive\\n")
        time.sleep(60)
    os.write(1, b"%d\\n" % child)
    time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        said = {other.stdout.readline().strip() for _ in range(2)}
        (child,) = said - {"alive"}
        other.send_signal(signal.SIGKILL)
        other.wait()
        try:
            with RunLock(tmp_path):
                os.kill(int(child), 0)  # it lives
        finally:
            os.kill(int(child), signal.SIGKILL)


def test_equal_checkpoints_average_to_themselves(tmp_path: Path) -> None:
    paths = [save(tmp_path, step, seed=4) for step in (1, 2, 3)]
    expected = load_file(paths[0] / "model.safetensors")
    assert bits(average_checkpoints(paths)) == bits(expected)


def test_average_is_the_mean(tmp_path: Path) -> None:
    paths = [save(tmp_path, step, seed=step) for step in (1, 2, 3)]
    averaged = average_checkpoints(paths)
    weights = [load_file(path / "model.safetensors") for path in paths]
    assert averaged.keys() == weights[0].keys()
    for name, mean in averaged.items():
        torch.testing.assert_close(mean, sum(w[name] for w in weights) / 3, rtol=1e-6, atol=1e-7)
        assert mean.dtype == torch.float32
    assert any(not torch.equal(averaged[name], weights[2][name]) for name in averaged)


def test_only_one_model_is_averaged(tmp_path: Path) -> None:
    first = save(tmp_path, 1)
    model = Transformer(TransformerConfig(vocabulary=30, d_model=8, heads=2, d_ff=16))
    optimizer = torch.optim.Adam(model.parameters())
    other = save_checkpoint(tmp_path, 2, model, optimizer, {}, keep_last=5)
    with pytest.raises(TrainingError, match="another model"):
        average_checkpoints([first, other])
    with pytest.raises(TrainingError, match="no checkpoint"):
        average_checkpoints([])
