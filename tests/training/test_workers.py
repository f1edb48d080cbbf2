"""Several workers under torchrun: the losses of one process, whatever shares the work out; what one
of them leaves, others go on from; a killed one comes back by itself."""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch.distributed as dist

from allyouneed.errors import TrainingError, UsageError
from allyouneed.training import workers as workers_module
from allyouneed.training.checkpoint import checkpoints
from allyouneed.training.gradient import shared_out
from allyouneed.training.workers import ALONE, Workers, launcher, of_this_start, own_device

# 3 batches an update: one whole batch for each of two workers, and a half of the third
EXACT = (
    "model.dropout=0.0",
    "vocabulary.dropout=0.0",
    "training.average_decay=0.9",
    "training.batch_tokens=64",
    "training.accumulate=3",
    "training.keep_last=9",
    "validation.sentences=3",
)
# a single pair in every batch, so that one of two workers has none
SINGLE = (*EXACT, "training.batch_tokens=17", "training.accumulate=1", "training.steps=3")
HALF, ALL = "training.steps=10", "training.steps=20"
SHARDED = "training.sharded=true"
OFTEN = "training.checkpoint_every_steps=3"

TOGETHER = f"""
import shutil, sys
from pathlib import Path
import torch.distributed as dist
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.run import train

root, reported = Path(sys.argv[1]), []
dist.init_process_group("gloo")

def start(name, *overrides, resume=False):
    recipe = load_recipe(root / "tiny.toml", overrides)
    done = train(recipe, root / name, resume=resume, report=reported.append)
    assert done.first == (dist.get_rank() == 0)

EXACT, SINGLE = {EXACT!r}, {SINGLE!r}
start("replicas", *EXACT, {ALL!r})
start("shards", *EXACT, {ALL!r}, {SHARDED!r})
start("single-replicas", *SINGLE)
start("single-shards", *SINGLE, {SHARDED!r})
start("one-to-shards", *EXACT, {ALL!r}, {SHARDED!r}, resume=True)
start("shards-to-one", *EXACT, {HALF!r}, {SHARDED!r})
if dist.get_rank() == 0:
    shutil.copytree(root / "shards-to-one", root / "shards-to-replicas")
dist.barrier()
start("shards-to-replicas", *EXACT, {ALL!r}, resume=True)
start("undisturbed", {OFTEN!r}, "training.keep_last=9")
(root / f"reported-{{dist.get_rank()}}").write_text(str(len(reported)))
dist.destroy_process_group()
"""

KILLED = f"""
import os, signal, sys
from pathlib import Path
from allyouneed.cli.app import main
from allyouneed.training import update

rate = update.learning_rate

def watched(section, step, d_model):
    first_time = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
    if step == 8 and os.environ["RANK"] == "1" and first_time:
        os.kill(os.getpid(), signal.SIGKILL)
    return rate(section, step, d_model)

update.learning_rate = watched
try:
    main(["train", sys.argv[1] + "/tiny.toml", {OFTEN!r}, "training.keep_last=9",
          "--into", sys.argv[1] + "/killed"])
finally:
    names = sorted(task.joinpath("comm").read_text() for task in Path("/proc/self/task").iterdir())
    Path(sys.argv[1], "threads-" + os.environ["RANK"]).write_text("".join(names))
"""


def torchrun(script: str, root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    path = root / "script.py"
    path.write_text(script)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, "--nproc-per-node=2", str(path), str(root)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def both(shared_runs: Any) -> Any:
    """The runs of one process, and those of two: started once, for they take seconds to start."""
    shared_runs.start("one", *EXACT, ALL)
    shared_runs.start("single", *SINGLE)
    shared_runs.start("one-to-shards", *EXACT, HALF)
    shared_runs.recipe()
    torchrun(TOGETHER, shared_runs.root)
    return shared_runs


EVENTS = ("step", "validation")


def steps_of(runs: Any, name: str) -> list[list[int]]:
    return [[record["step"] for record in runs.records(name, event)] for event in EVENTS]


def losses_of(runs: Any, name: str) -> list[float]:
    """The losses of all steps, then those of all validations."""
    return [record["loss"] for event in EVENTS for record in runs.records(name, event)]


def close(losses: list[float]) -> Any:
    return pytest.approx(losses, rel=1e-5)


@pytest.mark.parametrize("name", ["replicas", "shards"])
def test_two_workers_have_the_losses_of_one(both: Any, name: str) -> None:
    assert steps_of(both, name) == steps_of(both, "one")
    assert losses_of(both, name) == close(losses_of(both, "one"))
    assert len(both.losses(name)) == 20
    for event, key in (("step", "tokens"), ("step", "learning_rate"), ("validation", "samples")):
        ours, one = (both.records(each, event) for each in (name, "one"))
        assert [record[key] for record in ours] == [record[key] for record in one]


@pytest.mark.parametrize("name", ["single-replicas", "single-shards"])
def test_a_worker_without_a_pair_is_no_hindrance(both: Any, name: str) -> None:
    assert steps_of(both, name)[0] == [1, 2, 3]
    assert steps_of(both, name) == steps_of(both, "single")
    assert losses_of(both, name) == close(losses_of(both, "single"))


def test_only_the_first_worker_speaks(both: Any) -> None:
    reported = [int((both.root / f"reported-{rank}").read_text()) for rank in (0, 1)]
    assert reported[0] > 100
    assert reported[1] == 0


@pytest.mark.parametrize("name", ["one-to-shards", "shards-to-replicas"])
def test_two_workers_go_on_from_what_others_left(both: Any, name: str) -> None:
    assert steps_of(both, name) == steps_of(both, "one")
    assert losses_of(both, name) == close(losses_of(both, "one"))
    kept = [(path / ".metadata").exists() for path in checkpoints(both.root / name)]
    assert set(kept[:1] + kept[-1:]) == {True, False}


def test_one_process_goes_on_from_shards(both: Any) -> None:
    assert {(path / ".metadata").exists() for path in checkpoints(both.root / "shards-to-one")} == {
        True
    }
    both.start("shards-to-one", *EXACT, ALL, resume=True)
    assert steps_of(both, "shards-to-one") == steps_of(both, "one")
    assert losses_of(both, "shards-to-one") == close(losses_of(both, "one"))
    notes = [record["text"] for record in both.records("shards-to-one", "note")]
    assert any(note.startswith("with 1 workers, 2 before: updates contain") for note in notes)


def test_a_part_that_is_cut_short_is_passed_over(both: Any) -> None:
    """The last test of the shards: it breaks them."""
    *_, good, bad = checkpoints(both.root / "shards")
    part = max(bad.glob("*.distcp"), key=lambda path: path.stat().st_size)
    os.truncate(part, part.stat().st_size - 1)
    heard: list[str] = []
    assert checkpoints(both.root / "shards", heard.append)[-1] == good
    assert heard == [f"{bad} is skipped: ValueError: {part.name} is cut short"]
    (good / ".metadata").write_bytes(b"\x80\x04nonsense")
    assert good not in checkpoints(both.root / "shards", heard.append)


def test_a_killed_worker_comes_back_by_itself(both: Any) -> None:
    """To the bit, dropout and BPE dropout on."""
    done = torchrun(KILLED, both.root, "--max-restarts=1")
    assert done.stdout.splitlines() == [str(both.root / "killed" / "model")]
    assert "note: continues from step-00000006" in done.stderr
    assert both.losses("killed") == both.losses("undisturbed")
    assert both.weights("killed") == both.weights("undisturbed")
    last = [checkpoints(both.root / name)[-1] for name in ("killed", "undisturbed")]
    for file in ("model.safetensors", "optimizer.safetensors"):
        assert (last[0] / file).read_bytes() == (last[1] / file).read_bytes()
    for rank in (0, 1):  # a thread of the group that outlives it may abort the process at its end
        assert "gloo" not in (both.root / f"threads-{rank}").read_text()


@pytest.mark.parametrize("world", [1, 2, 3, 4])
@pytest.mark.parametrize("batches", [1, 2, 3, 7])
def test_an_update_is_shared_out_evenly(batches: int, world: int) -> None:
    group = [np.arange(10 * n, 10 * n + 1 + n) for n in range(batches)]
    shares = [shared_out(group, rank, world) for rank in range(world)]
    assert len({len(share) for share in shares}) == 1
    pairs = np.concatenate([pairs for share in shares for _, pairs in share])
    assert sorted(pairs) == sorted(np.concatenate(group))
    for share in shares:
        for number, part in share:
            assert set(part) <= set(group[number])


class Strangers(Workers):
    """Two workers, the other of which has something else."""

    def __init__(self, place: int) -> None:
        self.place = place

    def together(self, own: Sequence[Any]) -> list[Any]:
        ((_, values),) = own
        other = tuple("other" if n == self.place else value for n, value in enumerate(values))
        return [*own, ("far", other)]


@pytest.mark.parametrize(
    ("place", "what"), [(0, "another recipe"), (1, "other pairs"), (2, "another run's folder")]
)
def test_workers_that_do_not_train_the_same_are_stopped(
    runs: Any, place: int, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "ALONE", Strangers(place))
    with pytest.raises(TrainingError, match=f"worker on far has {what} than the first one"):
        runs.start("run")


def test_alone_there_is_nothing_to_share(runs: Any) -> None:
    runs.start("run", SHARDED, "training.steps=2")
    notes = [record["text"] for record in runs.records("run", "note")]
    assert "training.sharded has no effect on one process; torchrun starts more" in notes
    assert ALONE.mine([1, 2, 3]) == [1, 2, 3]


def test_what_an_earlier_start_has_left_is_not_seen() -> None:
    """Two starts on one store, as torchrun gives them, and a worker that died between them."""
    store = dist.HashStore()

    def start(ranks: Sequence[int]) -> list[Any]:
        with ThreadPoolExecutor(3) as pool:
            return list(pool.map(lambda rank: of_this_start(store, rank, 3), ranks))

    first = start([0, 1, 2])
    first[0].set("address", "of the dead")
    assert [each.get("address") for each in first] == [b"of the dead"] * 3
    store.set("allyouneed/1", "the word of a worker that was killed before it was answered")
    for each in start([2, 0, 1]):
        assert not each.check(["address"])


def test_a_launcher_is_known_by_its_start_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of processes come back, in a container the same at every start."""
    monkeypatch.delenv("TORCHELASTIC_RESTART_COUNT", raising=False)
    assert launcher() == ""
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "0")
    ours = launcher()
    assert launcher() == ours
    *_, number, start = ours.split(":")
    assert int(number) == os.getppid()
    assert bool(start) == Path("/proc/self/stat").exists()
    monkeypatch.setattr(workers_module, "_start_of", lambda process: "1")
    assert launcher() != ours


def test_each_worker_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    device = workers_module.torch.device
    assert own_device(device("cuda")) == device("cuda")
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert own_device(device("cpu")) == device("cpu")
    monkeypatch.setattr(workers_module.torch.cuda, "device_count", lambda: 2)
    assert own_device(device("cuda")) == device("cuda:1")
    with pytest.raises(
        UsageError, match=r"'cuda:0' names one GPU for 2 workers; use --device cuda"
    ):
        own_device(device("cuda:0"))
    monkeypatch.setattr(workers_module.torch.cuda, "device_count", lambda: 1)
    with pytest.raises(
        UsageError, match=r"machine has 1 GPUs, and worker 1 gets none; .*--nproc-per-node 1"
    ):
        own_device(device("cuda"))
