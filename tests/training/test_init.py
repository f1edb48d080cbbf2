"""Fine-tuning: training starts from the weights and the vocabulary of a model folder."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from allyouneed.core.config import TINY
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ModelFolderError, RecipeError
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.model_folder.weights.model import read_weights, untied_weights
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.carried_over import carried_over
from allyouneed.training.preparation import prepare
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.run import train
from allyouneed.training.schedule import Noam
from allyouneed.training.tasks.task import RunStart
from allyouneed.training.tasks.translate import Translate
from allyouneed.training.workers import ALONE

EXACT = ("model.dropout=0.0", "vocabulary.dropout=0.0")
# every training pair in one batch, and validation on the same pairs
SAME_PAIRS = (
    'data.valid=[{made = "reverse", pairs = 120, seed = 1}]',
    "training.batch_tokens=4096",
    "training.label_smoothing=0.0",
)


@pytest.fixture(scope="module")
def trained(shared_runs: Any) -> Path:
    shared_runs.start("first", *SAME_PAIRS, *EXACT, "training.steps=8")
    return Path(shared_runs.root / "first" / "model")


def test_it_starts_at_that_models_loss(runs: Any, shared_runs: Any, trained: Path) -> None:
    (final,) = shared_runs.records("first", "final")
    start = ("training.steps=2", "vocabulary.size=265")  # the size has no say here
    runs.start("second", f"training.init={trained}", *SAME_PAIRS, *EXACT, *start)
    losses = runs.losses("second")
    assert losses[1] == pytest.approx(final["loss"], rel=1e-5)
    assert losses[2] != losses[1]
    notes = [record["text"] for record in runs.records("second", "note")]
    assert f"training starts from the weights and vocabulary (276) of {trained}" in notes
    first, second = open_model_folder(trained), open_model_folder(runs.root / "second" / "model")
    assert second.tokenizer.fingerprint() == first.tokenizer.fingerprint()
    assert second.config == first.config


RENEWED = ("vocabulary.renew=true", "vocabulary.size=268")


def test_a_renewed_vocabulary_starts_from_the_layers_and_pieces_of_init(
    runs: Any, trained: Path
) -> None:
    recipe = runs.recipe(f"training.init={trained}", *RENEWED)
    material = prepare(recipe, runs.root / "second", lambda note: None)
    old, new = open_model_folder(trained).tokenizer, material.tokenizer
    assert isinstance(old, Tokenizer)
    assert (len(old), len(new)) == (276, 268)
    theirs = read_weights(trained / "model.safetensors")
    ours = untied_weights(material.new_model(seed=1))
    assert ours.keys() == theirs.keys()
    rows_of = {old.spelling(id): id for id in range(len(old))}
    common = 0
    for name, tensor in ours.items():
        if theirs[name].shape == tensor.shape:
            torch.testing.assert_close(tensor, theirs[name])
            continue
        for id in range(4, len(new)):
            if (spelling := new.spelling(id)) in rows_of:
                torch.testing.assert_close(tensor[id], theirs[name][rows_of[spelling]])
                common += 1
    assert common > 256  # every byte, and pieces of several


def test_a_piece_that_is_new_gets_the_mean_of_its_halves() -> None:
    old, new = (Tokenizer.train([text * 9], 264) for text in ("abab abab ", "cdcd cdcd "))
    model = Transformer(replace(TINY, vocabulary=len(new)))
    given = untied_weights(Transformer(replace(TINY, vocabulary=len(old))))
    ids = {new.spelling(id): id for id in range(4, len(new))}
    byte_of = {old.spelling(id): id for id in range(4, len(old))}
    for name, tensor in carried_over(given, old, new, model).items():
        if len(tensor) == len(new):
            halves = [given[name][byte_of[byte]] for byte in (b"c", b"d")]
            torch.testing.assert_close(tensor[ids[b"cd"]], torch.stack(halves).mean(0))


def test_a_run_with_a_renewed_vocabulary_trains_and_resumes(runs: Any, trained: Path) -> None:
    start = (f"training.init={trained}", *RENEWED)
    result = runs.start("second", *start, "training.steps=3")
    assert len(open_model_folder(result.model).tokenizer) == 268
    assert runs.start("second", *start, "training.steps=4", resume=True).model is not None


@pytest.mark.parametrize("override", ["vocabulary.renew=true", "vocabulary.renew=maybe"])
def test_a_vocabulary_is_renewed_only_with_init(runs: Any, override: str) -> None:
    with pytest.raises(RecipeError, match=r"vocabulary\.?renew"):
        runs.recipe(override)


def test_languages_are_those_of_init_where_the_recipe_names_none(runs: Any) -> None:
    runs.start("one", "source_language=Letters", "target_language=Srettel", "training.steps=1")
    init = f"training.init={runs.root / 'one' / 'model'}"
    runs.start("two", init, "training.steps=1")
    runs.start("three", init, "training.steps=1", "source_language=Words")
    languages = [open_model_folder(runs.root / n / "model").languages for n in ("two", "three")]
    assert languages == [("Letters", "Srettel"), ("Words", "")]


def test_dropout_and_computed_positions_are_free(runs: Any, trained: Path) -> None:
    free = ("model.dropout=0.3", "model.attention_dropout=0.1", "model.max_positions=99")
    runs.start("second", f"training.init={trained}", *free, "training.steps=1")
    config = open_model_folder(runs.root / "second" / "best").config
    assert (config.dropout, config.attention_dropout, config.max_positions) == (0.3, 0.1, 99)


@pytest.mark.parametrize(
    "override",
    [
        "model.d_model=32",
        "model.encoder_layers=2",
        "model.norm=rms",
        "model.heads=4",  # from here on the weights would fit, but mean something else
        "model.positions=rotary",
        "model.residual=pre-norm",
    ],
)
def test_another_model_is_refused(runs: Any, trained: Path, override: str) -> None:
    recipe = runs.recipe(f"training.init={trained}", override)
    with pytest.raises(RecipeError, match=f"^{override}: .* the weights of {trained}, .*you may"):
        prepare(recipe, runs.root / "second", lambda note: None)


def test_a_model_without_a_decoder_is_refused_before_anything_is_read_or_translated(
    runs: Any, trained: Path, encoder_folder: Path
) -> None:
    recipe = runs.recipe(f"training.init={encoder_folder}", f"data.train.0.distill={trained}")

    def nothing(*what: Any) -> None:
        raise AssertionError(what)

    start = RunStart(runs.root / "second", torch.device("cpu"), ALONE, nothing, nothing)
    for begin in (
        lambda: prepare(recipe, start.folder, nothing),
        lambda: Translate.prepared(recipe, start),
        lambda: Translate.outlook(recipe, nothing),
    ):
        with pytest.raises(ModelFolderError, match="an encoder without a decoder"):
            begin()


def test_another_model_is_refused_before_anything_is_translated(runs: Any, trained: Path) -> None:
    recipe = runs.recipe(
        f"training.init={trained}", "model.heads=4", f"data.train.0.distill={trained}"
    )

    def nothing(*what: Any) -> None:
        raise AssertionError(what)

    start = RunStart(runs.root / "second", torch.device("cpu"), ALONE, nothing, nothing)
    with pytest.raises(RecipeError, match=f"^model.heads=4: .* the weights of {trained}"):
        Translate.prepared(recipe, start)


def test_a_plan_refuses_another_model_as_the_run_does(runs: Any, trained: Path) -> None:
    recipe = runs.recipe(f"training.init={trained}", "model.heads=4")
    with pytest.raises(RecipeError, match=f"^model.heads=4: .* the weights of {trained}"):
        Translate.outlook(recipe, lambda *news: None)


def test_no_such_model(runs: Any) -> None:
    with pytest.raises(ModelFolderError, match="there is no model 'nowhere'"):
        runs.start("run", "training.init=nowhere")


def test_a_model_beside_the_recipe_is_found_from_anywhere(
    runs: Any, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(trained, runs.root / "first")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert runs.recipe("training.init=first").training.init == str(runs.root / "first")
    assert runs.recipe("training.init=elsewhere/none").training.init == "elsewhere/none"


@pytest.mark.parametrize("name", ["./en-de", "en-de/"])
def test_a_folder_that_is_called_like_a_bundled_model(runs: Any, trained: Path, name: str) -> None:
    absent = runs.recipe(f"training.init={name}", f"data.train.0.distill={name}")
    assert absent.training.init == absent.data.train[0].distill == name
    with pytest.raises(ModelFolderError, match="there is no model 'en-de'"):
        prepare(absent, runs.root / "run", lambda note: None)
    shutil.copytree(trained, runs.root / "en-de")
    there = runs.recipe(f"training.init={name}", f"data.train.0.distill={name}")
    assert there.training.init == there.data.train[0].distill == str(runs.root / "en-de")
    assert runs.recipe("training.init=en-de").training.init == "en-de"


def test_a_resumed_fine_tuning_does_not_start_over(runs: Any, trained: Path) -> None:
    init = (f"training.init={trained}",)
    runs.start("whole", *init)
    runs.start("parts", *init, "training.steps=5")
    runs.start("parts", *init, resume=True)
    assert runs.losses("parts") == runs.losses("whole")
    kept = load_recipe(runs.root / "parts" / "recipe.toml")
    assert kept.training.init == str(trained)


def test_trained_weights_go_on_at_a_constant_rate_where_no_schedule_is_named(
    runs: Any, trained: Path, tmp_path: Path
) -> None:
    file = tmp_path / "tuned.toml"
    made = '[[data.{}]]\nmade = "reverse"\npairs = 20\n'
    common = f'name = "tuned"\n{made.format("train")}{made.format("valid")}'
    file.write_text(f'{common}[training]\nsteps = 3\ninit = "{trained}"\nlog_every = 1\n')
    rates: list[float] = []
    notes: list[str] = []

    def heard(record: Any) -> None:
        rates.extend([record["learning_rate"]] if record["event"] == "step" else [])
        notes.extend([record["text"]] if record["event"] == "note" else [])

    train(file, tmp_path / "run", device="cpu", report=heard)
    assert rates == [1e-4] * 3
    assert not [text for text in notes if "never reaches its peak" in text]
    own = load_recipe(file, ["schedule.name=noam", "schedule.warmup=2"])
    assert own.schedule == Noam(warmup=2)
    file.write_text(f"{common}[training]\nsteps = 3\n")
    assert load_recipe(file).schedule == Noam()
