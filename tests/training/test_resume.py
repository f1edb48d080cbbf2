"""A run that was killed or stopped goes on as if nothing had happened, to the last bit."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from allyouneed.errors import TrainingError
from allyouneed.training import run_folder, signals, stored, trainee
from allyouneed.training.checkpoint import checkpoints
from allyouneed.training.log import Record, read_log
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.validation import Validation

KILLED = """
import os, signal, sys
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.run import train

def kill(record):
    if record["event"] == "step" and record["step"] == 7:
        os.kill(os.getpid(), signal.SIGKILL)

train(load_recipe(sys.argv[1], sys.argv[3:]), sys.argv[2], report=kill)
"""
OFTEN = "training.checkpoint_every_steps=3"


class PowerCut(BaseException):
    """Ends a run with nothing done after it, as a kill does."""


def cut_at(event: str, step: int) -> Callable[[Record], None]:
    def watch(record: Record) -> None:
        if (record["event"], record["step"]) == (event, step):
            raise PowerCut

    return watch


def validations(runs: Any, name: str) -> list[tuple[int, float]]:
    return [(record["step"], record["loss"]) for record in runs.records(name, "validation")]


def same_run(runs: Any, name: str, other: str) -> None:
    """Every loss and every final weight, bit for bit."""
    assert runs.losses(name) == runs.losses(other)
    assert validations(runs, name) == validations(runs, other)
    assert runs.weights(name) == runs.weights(other)


def test_after_kill_9_every_loss_is_that_of_an_undisturbed_run(runs: Any) -> None:
    runs.start("whole", OFTEN)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, runs.root / "tiny.toml", runs.root / "killed", OFTEN]
    )
    assert killed.returncode == -signal.SIGKILL
    assert list(runs.losses("killed")) == [1, 2, 3, 4, 5, 6, 7]
    # step 6 is the second of an epoch's four; step 7 is lost with its line of the log
    assert [path.name for path in checkpoints(runs.root / "killed")][-1] == "step-00000006"
    assert not (runs.root / "killed" / "model").exists()
    result = runs.start("killed", OFTEN, resume=True)
    assert result.model == runs.root / "killed" / "model"
    assert list(runs.losses("killed")) == list(range(1, 11))
    same_run(runs, "killed", "whole")


@pytest.mark.parametrize(
    ("event", "step"),
    [
        ("note", 0),  # while the vocabulary is learnt
        ("step", 1),  # before there is any checkpoint
        ("validation", 4),  # best/ is written, the checkpoint of this step is not
        ("step", 5),
        ("note", 10),  # all steps done, the final model not yet made
        ("final", 10),
    ],
)
def test_it_does_not_matter_where_it_is_cut(runs: Any, event: str, step: int) -> None:
    runs.start("whole", OFTEN)
    with pytest.raises(PowerCut):
        runs.start("cut", OFTEN, report=cut_at(event, step))
    runs.start("cut", OFTEN, resume=True)
    same_run(runs, "cut", "whole")


def test_a_run_with_groups_of_batches_is_cut_within_an_epoch(runs: Any) -> None:
    groups = ("training.accumulate=2", "training.batch_tokens=128", OFTEN)
    runs.start("whole", *groups)
    with pytest.raises(PowerCut):
        runs.start("cut", *groups, report=cut_at("step", 8))
    runs.start("cut", *groups, resume=True)
    same_run(runs, "cut", "whole")


def test_a_run_with_every_regulariser_is_cut_within_an_epoch(runs: Any) -> None:
    every = ("training.r_drop=1.0", "training.word_dropout=0.2", "training.average_decay=0.9")
    runs.start("whole", *every, OFTEN)
    with pytest.raises(PowerCut):
        runs.start("cut", *every, OFTEN, report=cut_at("step", 8))
    runs.start("cut", *every, OFTEN, resume=True)
    same_run(runs, "cut", "whole")
    assert runs.weights("cut", "best") == runs.weights("whole", "best")


@pytest.mark.parametrize("number", [*signals.INSISTENT, *signals.REPEATED])
def test_a_signal_stops_it_cleanly(runs: Any, number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in (*signals.INSISTENT, *signals.REPEATED)]

    def interrupt(record: Record) -> None:
        if record["event"] == "step" and record["step"] == 6:
            os.kill(os.getpid(), number)

    result = runs.start("stopped", report=interrupt)
    assert (result.model, result.validation, result.steps) == (None, None, 6)
    assert result.reason == f"stopped by {number.name}"
    after = [signal.getsignal(each) for each in (*signals.INSISTENT, *signals.REPEATED)]
    assert after == before
    assert [path.name for path in checkpoints(runs.root / "stopped")][-1] == "step-00000006"
    assert not (runs.root / "stopped" / "model").exists()
    assert (runs.root / "stopped" / "report.html").is_file()  # with what there is so far
    assert runs.records("stopped", "note")[-1]["text"] == result.reason
    if number is not signal.SIGTERM:
        return  # they go on alike
    assert runs.start("stopped", resume=True).steps == 10
    runs.start("whole")
    assert runs.losses("stopped") == runs.losses("whole")
    assert validations(runs, "stopped") == validations(runs, "whole")


def test_a_closed_terminal_may_say_so_twice(runs: Any) -> None:
    def hang_up(record: Record) -> None:
        if record["event"] == "step" and record["step"] == 6:
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGHUP)

    assert runs.start("stopped", report=hang_up).reason == "stopped by SIGHUP"
    assert checkpoints(runs.root / "stopped")[-1].name == "step-00000006"


def test_a_signal_again_while_the_checkpoint_is_written(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = stored.save_file

    def hang_up_again(tensors: Any, path: Path) -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        save(tensors, path)

    def hang_up(record: Record) -> None:
        if record["event"] == "step" and record["step"] == 6:
            os.kill(os.getpid(), signal.SIGHUP)
            monkeypatch.setattr(stored, "save_file", hang_up_again)

    assert runs.start("stopped", report=hang_up).reason == "stopped by SIGHUP"
    assert checkpoints(runs.root / "stopped")[-1].name == "step-00000006"


def test_a_signal_during_the_last_validation_leaves_a_checkpoint(runs: Any) -> None:
    def interrupt(record: Record) -> None:
        if record["event"] == "validation" and record["step"] == 10:
            os.kill(os.getpid(), signal.SIGTERM)

    result = runs.start("stopped", report=interrupt)
    assert (result.model, result.reason, result.steps) == (None, "stopped by SIGTERM", 10)
    assert checkpoints(runs.root / "stopped")[-1].name == "step-00000010"
    runs.start("stopped", resume=True)
    runs.start("whole")
    same_run(runs, "stopped", "whole")


def test_the_checkpoint_of_a_stop_is_none_of_those_that_are_averaged(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it push one of them out: the model is that of an undisturbed run."""
    monkeypatch.setattr(trainee, "validate", lambda *_: Validation(1e9, None, None, ()))
    averaged = (OFTEN, "training.average_last=3", "training.keep_last=3")

    def interrupt(record: Record) -> None:
        if record["event"] == "step" and record["step"] in (7, 8):
            os.kill(os.getpid(), signal.SIGTERM)

    runs.start("whole", *averaged)
    for step in (7, 8):
        done = runs.start("stopped", *averaged, resume=step > 7, report=interrupt)
        assert done.steps == step
        kept = [path.name[-2:] for path in checkpoints(runs.root / "stopped")]
        assert kept == ["03", "06", f"{step:02}"]
    runs.start("stopped", *averaged, resume=True)
    same_run(runs, "stopped", "whole")
    kept = [path.name[-2:] for path in checkpoints(runs.root / "stopped")]
    assert kept == ["06", "09", "10"]


def test_what_nohup_ignores_stays_ignored(runs: Any) -> None:
    def hang_up(record: Record) -> None:
        os.kill(os.getpid(), signal.SIGHUP)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert runs.start("run", report=hang_up).steps == 10
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_second_signal_ends_it_at_once(runs: Any) -> None:
    def insist(record: Record) -> None:
        if record["event"] == "step" and record["step"] == 6:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        runs.start("stopped", report=insist)
    assert [path.name for path in checkpoints(runs.root / "stopped")] == ["step-00000004"]
    runs.start("stopped", resume=True)
    runs.start("whole")
    assert runs.losses("stopped") == runs.losses("whole")


def test_a_second_run_in_the_same_folder_is_refused(runs: Any) -> None:
    refusals = []

    def start_another(record: Record) -> None:
        if record["event"] == "step" and not refusals:
            with pytest.raises(TrainingError, match="is in use by process") as refusal:
                runs.start("one", resume=True)
            refusals.append(refusal)

    runs.start("one", report=start_another)
    assert refusals
    runs.start("undisturbed")
    same_run(runs, "one", "undisturbed")


def test_a_folder_that_holds_a_run_is_left_alone_without_resume(runs: Any) -> None:
    runs.start("old")
    before = {path: path.read_bytes() for path in (runs.root / "old").rglob("*") if path.is_file()}
    with pytest.raises(TrainingError, match=r"old already holds a run; .*--resume"):
        runs.start("old", "seed=2")
    shutil.rmtree(runs.root / "old" / "checkpoints")  # to save space: the model is still one
    with pytest.raises(TrainingError, match=r"old already holds a run; .*--resume"):
        runs.start("old", "seed=2")
    for path, content in before.items():
        assert "checkpoints" in path.parts or path.name == ".lock" or path.read_bytes() == content


def test_a_damaged_checkpoint_is_passed_over_with_a_note(runs: Any) -> None:
    runs.start("whole", OFTEN)
    with pytest.raises(PowerCut):
        runs.start("cut", OFTEN, report=cut_at("step", 8))
    newest = checkpoints(runs.root / "cut")[-1]
    with (newest / "optimizer.safetensors").open("r+b") as file:
        file.truncate(100)
    runs.start("cut", OFTEN, resume=True)
    same_run(runs, "cut", "whole")
    notes = [record["text"] for record in runs.records("cut", "note")]
    assert any(f"{newest} is skipped" in note for note in notes)
    assert "continues from step-00000003" in notes


def test_where_every_checkpoint_is_damaged_nothing_is_lost_by_going_on(runs: Any) -> None:
    runs.start("run")
    for path in checkpoints(runs.root / "run"):
        (path / "model.safetensors").write_bytes(b"x")
    before = {path: path.read_bytes() for path in (runs.root / "run").rglob("*") if path.is_file()}
    with pytest.raises(TrainingError, match=r"no whole checkpoint .*step-00000010 is skipped"):
        runs.start("run", resume=True)
    assert all(path.read_bytes() == content for path, content in before.items())


def test_a_copy_of_a_checkpoint_is_left_alone(runs: Any) -> None:
    runs.start("run", OFTEN)
    folder = runs.root / "run" / "checkpoints"
    copies = [folder / name for name in ("step-00000003.bak", "step-00000000-first", "step-1")]
    for copy in copies:
        shutil.copytree(checkpoints(runs.root / "run")[0], copy)
    assert runs.start("run", OFTEN, "training.steps=20", resume=True).steps == 20
    assert all((copy / "state.json").is_file() for copy in copies)


def full_at(*steps: int) -> Callable[[Any, Path], None]:
    """A `save_file` for a disk that is full when the checkpoints of these steps are written."""
    save, names = stored.save_file, [f".step-{step:08d}.partial" for step in steps]

    def fill_up(tensors: Any, path: Path) -> None:
        save(tensors, path)
        if path.parent.name in names and path.name == "optimizer.safetensors":
            os.truncate(path, 200)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return fill_up


def test_a_run_goes_on_when_the_disk_is_full(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "save_file", full_at(6))
    with pytest.raises(PowerCut):
        runs.start("full", OFTEN, report=cut_at("step", 8))
    assert [path.name for path in checkpoints(runs.root / "full")] == ["step-00000003"]
    assert not list((runs.root / "full" / "checkpoints").glob(".*"))
    (told,) = [n["text"] for n in runs.records("full", "note") if "No space left" in n["text"]]
    assert told.startswith("the checkpoint of step 6 could not be written")
    assert "the last good one is step-00000003" in told
    assert told.endswith("; the run goes on without this checkpoint")
    runs.start("full", OFTEN, resume=True)  # from step 3
    runs.start("whole", OFTEN, "training.keep_last=9")
    assert runs.losses("full") == runs.losses("whole")


def test_a_disk_that_is_full_at_the_end_is_an_error(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "save_file", full_at(10))
    with pytest.raises(
        TrainingError,
        match=r"step 10 could not be written .*No space left.*last good one is step-00000009.*"
        r"free some space .*--resume",
    ):
        runs.start("full", OFTEN)
    monkeypatch.undo()
    runs.start("full", OFTEN, resume=True)
    runs.start("whole", OFTEN)
    same_run(runs, "full", "whole")


@pytest.mark.parametrize(
    ("overrides", "keys"),
    [
        (["seed=2"], "seed"),
        (["model.dropout=0.2", "data.train.0.pairs=121"], "data.train.0.pairs, model.dropout"),
        (
            ["optimizer.epsilon=1e-8", "training.batch_tokens=300"],
            "optimizer.epsilon, training.batch_tokens",
        ),
        (["training.accumulate=2"], "training.accumulate"),
    ],
)
def test_a_resumed_run_keeps_its_values(runs: Any, overrides: list[str], keys: str) -> None:
    runs.start("old", "training.steps=4")
    kept = (runs.root / "old" / "recipe.toml").read_bytes()
    with pytest.raises(TrainingError, match=f"was started with other values of {keys}, .*--into"):
        runs.start("old", *overrides, resume=True)
    assert (runs.root / "old" / "recipe.toml").read_bytes() == kept
    assert len(runs.losses("old")) == 4


def test_a_finished_run_goes_on_for_longer(runs: Any) -> None:
    assert runs.start("short", "training.steps=6").reason == "6 steps done"
    result = runs.start("short", "validation.samples=3", resume=True)
    assert (result.reason, result.steps) == ("10 steps done", 10)
    runs.start("long")
    assert runs.losses("short") == runs.losses("long")
    assert load_recipe(runs.root / "short" / "recipe.toml").training.steps == 10
    notes = [record["text"] for record in runs.records("short", "note")]
    assert "changed since the last start: training.steps, validation.samples" in notes


def test_a_constant_run_is_resumed_with_a_trapezoid(runs: Any) -> None:
    """Every loss is what it is where the trapezoid is named at first."""
    trunk = "schedule={name='constant', learning_rate=0.01, warmup=3}"
    falling = (
        "schedule={name='trapezoid', learning_rate=0.01, warmup=3, decay=4, steps=10}",
        "training.steps=10",
    )
    runs.start("trunk", trunk, "training.steps=6")
    assert runs.start("trunk", *falling, resume=True).steps == 10
    runs.start("whole", *falling)
    assert runs.losses("trunk") == runs.losses("whole")
    assert validations(runs, "trunk")[-1] == validations(runs, "whole")[-1]
    rates = [record["learning_rate"] for record in runs.records("trunk", "step")]
    assert rates[5:] == pytest.approx([0.01, 0.0075, 0.005, 0.0025, 0])


def test_a_finished_run_has_nothing_left_to_do(runs: Any) -> None:
    runs.start("done")
    weights, losses = runs.weights("done"), runs.losses("done")
    saved = [path.stat().st_mtime_ns for path in checkpoints(runs.root / "done")]
    result = runs.start("done", resume=True)
    assert result.steps == 10
    assert (runs.weights("done"), runs.losses("done")) == (weights, losses)
    assert [path.stat().st_mtime_ns for path in checkpoints(runs.root / "done")] == saved


def test_other_pairs_than_before_are_refused(runs: Any) -> None:
    corpus = runs.root / "pairs.tsv"
    lines = [f"{n} one\tein {n}\n" for n in range(40)]
    corpus.write_text("".join(lines), encoding="utf-8")
    files = f'data.train=[{{source = "{corpus}"}}]'
    runs.start("old", files, "training.steps=4")
    corpus.write_text("".join(lines) + "more\tmehr\n", encoding="utf-8")
    with pytest.raises(TrainingError, match=r"old was trained on other pairs than its corpora"):
        runs.start("old", files, resume=True)
    corpus.write_text("one\tein\n", encoding="utf-8")  # too little for the vocabulary's size
    with pytest.raises(TrainingError, match=r"old was trained on other pairs than its corpora"):
        runs.start("old", files, resume=True)
    corpus.write_text("".join(lines), encoding="utf-8")
    assert runs.start("old", files, resume=True).steps == 10


def test_a_refused_start_leaves_the_recipe_as_it_was(runs: Any) -> None:
    for name, count in (("own", 40), ("other", 30)):
        lines = "".join(f"{n} one\tein {n}\n" for n in range(count))
        (runs.root / f"{name}.tsv").write_text(lines, encoding="utf-8")
    files = {n: f'data.train=[{{source = "{runs.root}/{n}.tsv"}}]' for n in ("own", "other")}
    runs.start("old", files["own"], "training.steps=4")
    kept = (runs.root / "old" / "recipe.toml").read_bytes()
    with pytest.raises(TrainingError, match=r"old was trained on other pairs"):
        runs.start("old", files["other"], resume=True)
    assert (runs.root / "old" / "recipe.toml").read_bytes() == kept
    assert runs.start("old", files["own"], resume=True).steps == 10
    assert (runs.root / "old" / "recipe.toml").read_bytes() != kept


def test_another_model_in_inits_place_is_refused(runs: Any) -> None:
    for name, heads in (("two", 2), ("four", 4)):
        runs.start(name, f"model.heads={heads}", "training.steps=1")
    init = [f"training.init={runs.root / name / 'model'}" for name in ("two", "four")]
    runs.start("tuned", init[0], "training.steps=2")
    with pytest.raises(TrainingError, match=r"another model than .* now: heads 2 before, 4 now;"):
        runs.start("tuned", init[1], resume=True)
    assert runs.start("tuned", init[0], resume=True).steps == 10


def test_files_may_have_been_moved(runs: Any) -> None:
    def corpora(folder: Path) -> list[str]:
        folder.mkdir()
        for name, count in (("train", 40), ("valid", 5)):
            lines = "".join(f"{n} one\tein {n}\n" for n in range(count))
            (folder / f"{name}.tsv").write_text(lines, encoding="utf-8")
        return [f'data.{name}=[{{source="{folder}/{name}.tsv"}}]' for name in ("train", "valid")]

    before, after = (corpora(runs.root / name) for name in ("before", "after"))
    runs.start("moved", *before, "training.steps=4")
    shutil.rmtree(runs.root / "before")
    assert runs.start("moved", *after, resume=True).steps == 10
    runs.start("whole", *after)
    same_run(runs, "moved", "whole")
    notes = [note["text"] for note in runs.records("moved", "note")]
    assert "data.train.0.source, data.valid.0.source, training.steps" in " ".join(notes)


def test_other_validation_pairs_forget_the_best(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def say(loss: float) -> None:
        found = Validation(loss, None, None, ())
        monkeypatch.setattr(trainee, "validate", lambda *_: found)

    corpus = runs.root / "valid.tsv"
    corpus.write_text("one\tein\n", encoding="utf-8")
    files = f'data.valid=[{{source = "{corpus}"}}]'
    say(1e-9)
    runs.start("run", files, "training.steps=4")
    corpus.write_text("two\tzwei\n", encoding="utf-8")
    say(5.0)
    runs.start("run", files, resume=True)
    last = runs.records("run", "validation")[-1]
    assert (last["step"], last["best"]) == (10, False)
    assert [found["best"] for found in runs.records("run", "validation")] == [True, True, False]
    notes = [note["text"] for note in runs.records("run", "note")]
    assert any(note.startswith("the validation pairs have changed") for note in notes)


def test_a_torchrun_goes_on_with_what_it_began(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its count of restarts says nothing: a worker of another host may have died."""
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "0")
    half = "training.steps=4"
    runs.start("run", half)
    assert runs.start("run").steps == 10
    (newest,) = checkpoints(runs.root / "run")[-1:]
    path = newest / "state.json"
    kept = json.loads(path.read_text())
    kept["state"]["launcher"] = f"elsewhere:1 {kept['state']['launcher']}"
    path.write_text(json.dumps(kept))
    assert runs.start("run", "training.steps=12").steps == 12
    monkeypatch.setattr(run_folder, "launcher", lambda: "elsewhere:2")
    with pytest.raises(TrainingError, match="already holds a run"):
        runs.start("run", "training.steps=14")


def test_another_number_of_threads_is_told(runs: Any) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        runs.start("run", "training.steps=4")
        runs.start("run", "training.steps=6", resume=True)
        assert not any("threads" in note["text"] for note in runs.records("run", "note"))
        torch.set_num_threads(1)
        runs.start("run", resume=True)
    finally:
        torch.set_num_threads(before)
    told = [note["text"] for note in runs.records("run", "note") if "threads" in note["text"]]
    assert len(told) == 1
    assert told[0].startswith("with 1 threads, 2 before")
    assert told[0].endswith("--threads 2 gives them to the bit")


def test_what_is_reported_is_what_is_logged(runs: Any) -> None:
    reported: list[Record] = []
    preparing: list[Record] = []

    def watch(record: Record) -> None:
        (preparing if record["event"] == "preparing" else reported).append(record)
        cut_at("step", 5)(record)

    with pytest.raises(PowerCut):
        runs.start("run", "validation.sentences=2", report=watch)
    assert [(record["stage"], record["done"], record["total"]) for record in preparing] == [
        ("tokenising", 120, 120),
        ("tokenising", 20, 20),
    ]
    assert reported == read_log(runs.root / "run")
    lost = [record for record in reported if record["step"] > 4]
    again: list[Record] = []
    runs.start("run", "validation.sentences=2", resume=True, report=again.append)
    assert [*reported[: -len(lost)], *again] == read_log(runs.root / "run")
    assert {record["event"] for record in again} == {"note", "step", "validation", "final"}


def test_there_is_no_run_to_resume(runs: Any) -> None:
    """A misspelt --into begins no run of hours."""
    runs.start("first", "training.steps=1")
    with pytest.raises(
        TrainingError, match=r"typo holds no run to resume; there are runs in .*first"
    ):
        runs.start("typo", resume=True)
    assert not (runs.root / "typo").exists()


def test_a_run_that_was_cut_before_its_first_checkpoint_is_resumed(runs: Any) -> None:
    def cut(record: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.start("cut", report=cut)
    assert runs.start("cut", resume=True).steps == 10
    assert list(runs.losses("cut")) == list(range(1, 11))
    notes = [note["text"] for note in runs.records("cut", "note")]
    assert (
        f"{runs.root / 'cut'} holds no checkpoint to resume from, so training starts at step 0"
        in notes
    )


def rewrite_state(run: Path, change: Any) -> None:
    for file in run.glob("checkpoints/*/state.json"):
        contents = json.loads(file.read_text())
        change(contents["state"])
        file.write_text(json.dumps(contents))


def test_states_of_checkpoints_have_a_version(runs: Any) -> None:
    runs.start("run", "training.steps=4")
    folder = runs.root / "run"

    def before_versions(state: dict[str, Any]) -> None:
        assert state.pop("version") == 1
        del state["stopped"]  # as older versions wrote none

    rewrite_state(folder, before_versions)
    assert runs.start("run", "training.steps=5", resume=True).steps == 5
    rewrite_state(folder, lambda state: state.update(version=99))
    with pytest.raises(
        TrainingError, match="version 99, but this allyouneed reads versions up to 1"
    ):
        runs.start("run", "training.steps=6", resume=True)
    rewrite_state(folder, lambda state: state.update(version=1, renamed=3))
    with pytest.raises(TrainingError, match="holds renamed, which version 1 does not have"):
        runs.start("run", "training.steps=6", resume=True)
