"""A whole run: which weights become the model, what the folders hold, what is refused."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from allyouneed import files
from allyouneed.errors import DataError, TrainingError, UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.training import final_model as final_module
from allyouneed.training import trainee
from allyouneed.training.averaging import average_checkpoints
from allyouneed.training.checkpoint import checkpoints
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.run import train
from allyouneed.training.validation import Validation

MODEL_FILES = ["README.md", "config.json", "model.safetensors", "tokenizer.json", "training.json"]


def say(monkeypatch: pytest.MonkeyPatch, loss: float) -> None:
    """Every validation on the way finds this loss; those of the final model are real."""
    found = Validation(loss, None, None, ())
    monkeypatch.setattr(trainee, "validate", lambda *_: found)


def finally_say(monkeypatch: pytest.MonkeyPatch, *losses: float) -> None:
    """What the final validations find, one after the other."""
    found = iter([Validation(loss, None, None, ()) for loss in losses])
    monkeypatch.setattr(final_module, "validate", lambda *_: next(found))


def test_the_final_model_is_the_average_of_the_last_checkpoints(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, 1e9)
    runs.start("run", "training.checkpoint_every_steps=2", "training.average_last=3")
    last = checkpoints(runs.root / "run")[-3:]
    assert [path.name[-2:] for path in last] == ["06", "08", "10"]
    ours = load_file(runs.root / "run" / "model" / "model.safetensors")
    expected = average_checkpoints(last)
    assert ours.keys() == expected.keys()
    assert all(torch.equal(ours[name], expected[name]) for name in ours)
    (final,) = runs.records("run", "final")
    assert final["origin"] == "the average of the last 3 checkpoints"


def test_without_an_average_it_is_the_last_one(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    say(monkeypatch, 1e9)
    runs.start("run", "training.average_last=0")
    last = checkpoints(runs.root / "run")[-1]
    assert (last / "model.safetensors").read_bytes() == runs.weights("run")
    assert runs.records("run", "final")[0]["origin"] == "the last one"


def test_the_best_is_the_final_model_where_it_is_better(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, 1e-9)
    finally_say(monkeypatch, 2.0, 1.0)
    runs.start("run", "training.validate_every_steps=4")
    assert runs.weights("run") == runs.weights("run", "best")
    assert runs.records("run", "final")[0]["origin"].startswith("that of step 4, the best")
    assert open_model_folder(runs.root / "run" / "best").load_model().config.d_model == 16


def test_the_best_may_be_no_better_once_it_is_stored(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, 1.9)
    finally_say(monkeypatch, 2.0, 2.1)
    runs.start("run", "training.stored_precision=bfloat16", "training.validate_every_steps=4")
    stored = average_checkpoints(checkpoints(runs.root / "run")[-2:])
    ours = load_file(runs.root / "run" / "model" / "model.safetensors")
    assert all(torch.equal(ours[name], stored[name].bfloat16()) for name in ours)
    (final,) = runs.records("run", "final")
    assert (final["loss"], final["origin"]) == (2.0, "the average of the last 2 checkpoints")


def test_a_best_from_after_the_checkpoint_gone_on_from_is_not_taken(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after a validation and before the next checkpoint; then better than ever again."""
    say(monkeypatch, 1.0)
    often = "training.validate_every_steps=2", "training.checkpoint_every_steps=4"
    runs.start("run", *often, "training.steps=4")
    facts = runs.root / "run" / "best" / "training.json"
    facts.write_text(json.dumps({"step": 6}), encoding="utf-8")
    say(monkeypatch, 3.0)
    finally_say(monkeypatch, 2.0)
    runs.start("run", *often, resume=True)
    assert runs.records("run", "final")[0]["origin"].startswith("the average of")
    notes = [note["text"] for note in runs.records("run", "note")]
    assert any("best is of step 6, not of 2; the final model is the average" in n for n in notes)


def test_without_the_best_the_run_still_has_a_model(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, 1e-9)

    def move(record: Any) -> None:
        if record["event"] == "note" and record["text"] == "10 steps done":
            (runs.root / "run" / "best").rename(runs.root / "moved")

    assert runs.start("run", report=move).model == runs.root / "run" / "model"
    assert runs.records("run", "final")[0]["origin"].startswith("the average of")
    (note,) = [n["text"] for n in runs.records("run", "note") if "is missing" in n["text"]]
    assert note.endswith("though the best one was better")


def test_best_is_the_one_with_the_lowest_loss(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = iter([5.0, 3.0, 4.0])
    monkeypatch.setattr(trainee, "validate", lambda *_: Validation(next(losses), None, None, ()))
    runs.start("run", "training.keep_last=9")
    facts = json.loads((runs.root / "run" / "best" / "training.json").read_text())
    assert (facts["step"], facts["validation_loss"]) == (8, 3.0)
    at_8 = runs.root / "run" / "checkpoints" / "step-00000008" / "model.safetensors"
    assert runs.weights("run", "best") == at_8.read_bytes()


def test_a_recipe_that_is_read_already_takes_no_overrides(runs: Any) -> None:
    with pytest.raises(UsageError, match=r"overrides=\['seed=3'\] .*'tiny' is already loaded"):
        train(runs.recipe(), runs.root / "run", overrides=["seed=3"])
    assert not (runs.root / "run").exists()


def test_what_a_run_leaves(runs: Any) -> None:
    path = runs.root / "tiny.toml"
    runs.recipe()
    overrides = [
        "validation.sentences=4",
        "training.stored_precision=float16",
        "source_language=letters",
        "target_language=sretteL",
        "licence=Made by a rule.",
        "description=Letters turned round.",
    ]
    result = train(path, runs.root / "run", overrides=overrides)
    folder = runs.root / "run"
    assert result.model == folder / "model"
    for model in (folder / "model", folder / "best"):
        assert sorted(path.name for path in model.iterdir()) == MODEL_FILES
    assert {path.name for path in folder.iterdir()} == {
        ".lock", ".lock-holder", "recipe.toml", "log.jsonl", "checkpoints", "best", "model",
        "report.html", "cache",
    }  # fmt: skip
    weights = load_file(folder / "model" / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}
    opened = open_model_folder(folder / "model")
    assert opened.languages == ("letters", "sretteL")
    translator = load(folder / "model")
    assert translator("a b c d").source == "a b c d"

    validation = result.validation
    assert validation is not None
    facts = json.loads((folder / "model" / "training.json").read_text())
    assert facts["validation_loss"] == validation.loss
    assert facts["validation_bleu"] == validation.bleu
    assert facts["steps"] == 10
    assert facts["parameters"] == sum(p.numel() for p in translator.model.parameters())
    assert facts["recipe"]["training"]["stored_precision"] == "float16"
    card = (folder / "model" / "README.md").read_text()
    for said in (
        "# tiny: letters → sretteL",
        "Letters turned round.",
        "Made by a rule.",
        f"allyouneed train {path} validation.sentences=4",
        "'description=Letters turned round.'",
        f"validation loss: {validation.loss:.3f} nats",
        f"validation BLEU: {validation.bleu:.1f} (`nrefs:1|case:mixed",
    ):
        assert said in card
    assert "tiny" in (folder / "report.html").read_text()
    assert str(runs.root) not in (folder / "best" / "training.json").read_text()


def test_the_scores_are_those_of_the_weights_as_stored(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, 1e9)
    stored = runs.start("run", "training.stored_precision=bfloat16")
    wide = runs.start("wide")
    assert stored.validation.loss != wide.validation.loss
    init = f"training.init={stored.model}"
    again = runs.start("again", init, "schedule={name='constant', learning_rate=1e-30}")
    assert again.validation.loss == pytest.approx(stored.validation.loss, rel=1e-6)


def test_files_of_the_package_are_told_by_their_names() -> None:
    """The place of the installation is not told."""
    recipe = load_recipe("de-en")
    sources = [corpus.source for corpus in recipe.data.train]  # type: ignore[attr-defined]
    packaged = [source.name for source in sources].index("short.de-en.tsv")
    assert sources[packaged].is_absolute()
    told = final_module._told(recipe)
    assert told["data"]["train"][packaged]["source"] == "short.de-en.tsv"
    assert told["training"]["steps"] == recipe.training.steps


@pytest.mark.parametrize("shape", ['name="cosine"', 'name="trapezoid", decay=2'])
def test_a_schedule_that_ends_before_the_run_is_told_of(runs: Any, shape: str) -> None:
    ended = f"schedule={{{shape}, learning_rate=0.01, steps=3}}"
    runs.start("longer", ended, "training.steps=5")
    notes = [record["text"] for record in runs.records("longer", "note")]
    (told,) = [note for note in notes if "learning rate is 0" in note]
    assert told.startswith("the learning rate is 0 from step 3 on")
    runs.start("right", ended, "training.steps=3")
    assert not any("rate is 0" in record["text"] for record in runs.records("right", "note"))


def test_a_recipe_of_ones_own_is_not_overwritten(runs: Any) -> None:
    mine = runs.root / "mine"
    mine.mkdir()
    path = mine / "recipe.toml"
    runs.recipe()
    path.write_text("# my remarks\n" + (runs.root / "tiny.toml").read_text())
    with pytest.raises(TrainingError, match=r"mine is not the folder of a run, .*--into"):
        train(path, mine)
    assert path.read_text().startswith("# my remarks")
    assert sorted(entry.name for entry in mine.iterdir()) == ["recipe.toml"]


def test_a_folder_that_cannot_be_made(runs: Any) -> None:
    (runs.root / "file").write_text("")
    with pytest.raises(TrainingError, match=r"file/run cannot be written: .*--into"):
        runs.start("file/run")


def test_the_command_that_is_told_gives_the_same_recipe(runs: Any) -> None:
    recipe = runs.recipe("training.steps=1", "model.d_ff=24")
    result = train(recipe, runs.root / "run")
    assert result.model is not None
    facts = json.loads((result.model / "training.json").read_text(encoding="utf-8"))
    *_, start = facts["command"].split()
    assert load_recipe(start) == recipe


def test_a_recipe_that_a_full_disk_does_not_take(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = files.put_in_place

    def full_for_recipes(beside: Path, path: Path) -> None:
        if path.name == "recipe.toml":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        put(beside, path)

    monkeypatch.setattr(files, "put_in_place", full_for_recipes)
    with pytest.raises(
        TrainingError, match=r"recipe\.toml cannot be written: No space left.*--into"
    ):
        runs.start("run")
    assert not (runs.root / "run" / "recipe.toml").exists()
    monkeypatch.undo()
    assert runs.start("run").steps == 10


def test_a_device_that_is_not_there(runs: Any) -> None:
    with pytest.raises(UsageError, match="'abacus'"):
        train(runs.recipe(), runs.root / "run", device="abacus")
    assert not (runs.root / "run").exists()


def test_a_start_that_failed_early_binds_nobody(runs: Any) -> None:
    with pytest.raises(DataError):
        runs.start("run", 'data.train=[{source = "nowhere.tsv"}]', "seed=7")
    assert runs.start("run").steps == 10
    assert load_recipe(runs.root / "run" / "recipe.toml") == runs.recipe()
    assert runs.records("run", "note")[-1]["text"] == "10 steps done"


def test_the_folder_names_the_normaliser(runs: Any) -> None:
    done = runs.start("one", 'data.normaliser="plain-marks"', "training.steps=2")
    assert open_model_folder(done.model).normaliser == "plain-marks"
    again = runs.start("two", f'training.init="{done.model}"', "training.steps=1")
    assert open_model_folder(again.model).normaliser == "plain-marks"
