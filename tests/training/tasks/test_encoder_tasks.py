"""Tasks of models without a decoder, from recipe to model folder, on data made here."""

import json
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from allyouneed.errors import DataError, RecipeError, UsageError
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.training import workers as workers_module
from allyouneed.training.checkpoint import checkpoints
from allyouneed.training.log import read_log
from allyouneed.training.recipe.toml_file import load_recipe, to_toml
from allyouneed.training.run import TrainingResult, train
from allyouneed.training.tasks.table import task_of
from allyouneed.training.tasks.task import Note, RunStart
from allyouneed.training.training_loss import TrainingLoss
from allyouneed.training.workers import ALONE, Workers

COMMON = """
name = "tiny"
[vocabulary]
size = 300
[model]
encoder_layers = 1
d_model = 32
d_ff = 32
heads = 2
dropout = 0.1
max_positions = 48
residual = "pre-norm"
positions = "learned"
scale_embeddings = false
normalise_embeddings = true
segments = 2
[schedule]
name = "inverse-sqrt"
learning_rate = 0.02
warmup = 10
[training]
steps = 40
batch_tokens = 512
label_smoothing = 0.0
average_last = 0
log_every = 1
validate_every_steps = 20
checkpoint_every_steps = 10
keep_last = 9
[validation]
samples = 2
"""
GOOD, BAD = ("fine", "lovely", "warm"), ("dull", "cold", "poor")
FILMS = ("film", "play", "book", "song")
TASKS = ("classify", "tag", "masked-lm")


def reviews(count: int, seed: int) -> str:
    """Texts with a good or a bad word among others; TSV with a header."""
    chance = random.Random(seed)
    lines = ["sentence\tlabel"]
    for _ in range(count):
        good = chance.random() < 0.5
        words = [*chance.sample(FILMS, 2), chance.choice(GOOD if good else BAD)]
        chance.shuffle(words)
        lines.append(f"{' '.join(words)}\t{'good' if good else 'bad'}")
    return "\n".join(lines) + "\n"


def tagged(count: int, seed: int) -> str:
    """Words, of which two lists are spans; CoNLL columns."""
    chance = random.Random(seed)
    blocks = []
    for _ in range(count):
        words = chance.sample([*GOOD, *BAD, *FILMS], 4)
        rows = [f"{word} x {'B-GOOD' if word in GOOD else 'O'}" for word in words]
        rows += ["dull x B-BAD", "song x I-BAD"]
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def story(sentences: int, seed: int) -> str:
    """Hard-wrapped prose in which one word tells the next."""
    chance = random.Random(seed)
    paragraphs = []
    for _ in range(sentences):
        number = chance.randrange(4)
        paragraphs.append(
            f"The {FILMS[number]} that we saw\nwas {('fine', 'dull', 'warm', 'cold')[number]}."
        )
    return "\n\n".join(paragraphs) + "\n"


@dataclass
class Encoders:
    """Starts tiny runs of each task, each in a folder of its own."""

    root: Path

    def write(self, task: str) -> Path:
        if task == "classify":
            (self.root / "train.tsv").write_text(reviews(200, 1), encoding="utf-8")
            (self.root / "valid.tsv").write_text(reviews(40, 2), encoding="utf-8")
            data = '[[data.train]]\nsource = "train.tsv"\n[[data.valid]]\nsource = "valid.tsv"\n'
        elif task == "tag":
            (self.root / "train.conll").write_text(tagged(120, 1), encoding="utf-8")
            (self.root / "valid.conll").write_text(tagged(30, 2), encoding="utf-8")
            data = (
                '[[data.train]]\nsource = "train.conll"\n[[data.valid]]\nsource = "valid.conll"\n'
            )
        else:
            books = self.root / "books"
            books.mkdir(exist_ok=True)
            (books / "one.txt").write_text(story(250, 1), encoding="utf-8")
            (books / "two.txt").write_text(story(50, 2), encoding="utf-8")
            data = (
                '[data]\nheld_out = 0.2\n[[data.train]]\nsource = "books"\n[masking]\nlength = 24\n'
            )
        path = self.root / f"{task}.toml"
        path.write_text(f'task = "{task}"\n{COMMON}\n{data}', encoding="utf-8")
        return path

    def recipe(self, task: str, *overrides: str) -> Any:
        return load_recipe(self.write(task), overrides)

    def start(self, task: str, name: str, *overrides: str, resume: bool = False) -> TrainingResult:
        recipe = self.recipe(task, *overrides)
        return train(recipe, self.root / name, resume=resume, device="cpu")

    def records(self, name: str, event: str) -> list[dict[str, Any]]:
        return [record for record in read_log(self.root / name) if record["event"] == event]


@pytest.fixture
def encoders(tmp_path: Path) -> Encoders:
    return Encoders(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Encoders:
    """A whole run of each task, which tests only read; their folders have the tasks' names."""
    made = Encoders(tmp_path_factory.mktemp("encoders"))
    for task in TASKS:
        made.start(task, task)
    return made


def test_a_toy_of_labels_is_learnt_wholly(finished: Encoders) -> None:
    (final,) = finished.records("classify", "final")
    assert final["accuracy"] == 1.0
    folder = open_model_folder(finished.root / "classify" / "model")
    assert folder.heads is not None
    assert folder.heads.labels == ("bad", "good")
    assert folder.trained_length == max(
        len(folder.tokenizer.encode_ids([line.partition("\t")[0]])[0]) + 1
        for line in reviews(200, 1).splitlines()[1:]
    )
    facts = json.loads((finished.root / "classify" / "model" / "training.json").read_text())
    assert facts["validation_accuracy"] == 1.0
    card = (finished.root / "classify" / "model" / "README.md").read_text()
    assert "validation accuracy: 100.0%" in card
    assert "nats per label" in card


def test_a_toy_of_tags_is_learnt_wholly(finished: Encoders) -> None:
    (final,) = finished.records("tag", "final")
    assert (final["accuracy"], final["f1"]) == (1.0, 1.0)
    folder = open_model_folder(finished.root / "tag" / "model")
    assert folder.heads is not None
    assert folder.heads.tags == ("B-BAD", "B-GOOD", "I-BAD", "O")


def test_masked_words_are_learnt_better_than_their_frequency_tells(finished: Encoders) -> None:
    validations = finished.records("masked-lm", "validation")
    (final,) = finished.records("masked-lm", "final")
    assert final["loss"] < 0.75 * final["unigram"]
    assert final["of_unigram"] == pytest.approx(final["loss"] / final["unigram"])
    assert {record["unigram"] for record in validations} == {final["unigram"]}
    text, hidden, found = final["samples"][0]
    assert text.count("[MASK]") == len(hidden.split("·")) == len(found.split("·"))


@pytest.mark.parametrize("task", TASKS)
def test_the_report_and_the_log_say_what_was_measured(finished: Encoders, task: str) -> None:
    page = (finished.root / task / "report.html").read_text(encoding="utf-8")
    measures = {"classify": "accuracy", "tag": "F1", "masked-lm": "loss / unigram"}
    assert f"validation {measures[task]}" in page
    assert "BLEU" not in page
    units = {"classify": "label", "tag": "tag", "masked-lm": "masked word"}
    assert f"nats per {units[task]}" in page
    assert {record["unit"] for record in finished.records(task, "step")} == {units[task]}
    counted = {"classify": "texts", "tag": "sentences", "masked-lm": "examples"}
    for record in finished.records(task, "data"):
        assert record["report"]["unit"] == counted[task]
        assert record["report"]["kept"] > 0


@pytest.mark.parametrize("task", TASKS)
def test_a_run_that_was_stopped_goes_on_to_the_bit(finished: Encoders, task: str) -> None:
    finished.start(task, f"{task}-again", "training.steps=10")
    finished.start(task, f"{task}-again", resume=True)
    losses = [
        {record["step"]: record["loss"] for record in finished.records(name, "step")}
        for name in (task, f"{task}-again")
    ]
    assert losses[0] == losses[1]
    assert len(losses[0]) == 40
    weights = [
        (finished.root / name / "model" / "model.safetensors").read_bytes()
        for name in (task, f"{task}-again")
    ]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("task", TASKS)
def test_a_recipe_is_written_back(encoders: Encoders, task: str) -> None:
    recipe = encoders.recipe(task)
    path = encoders.root / "back.toml"
    path.write_text(to_toml(recipe), encoding="utf-8")
    assert load_recipe(path) == recipe


def test_a_recipe_with_texts_to_validate_on_is_written_back(encoders: Encoders) -> None:
    text = encoders.write("masked-lm").read_text("utf-8")
    path = encoders.root / "valid.toml"
    held_out = text.replace("[masking]", '[[data.valid]]\nsource = "books"\n[masking]')
    path.write_text(held_out.replace("held_out = 0.2\n", ""), encoding="utf-8")
    recipe = load_recipe(path)
    path.write_text(to_toml(recipe), encoding="utf-8")
    assert load_recipe(path) == recipe


@pytest.mark.parametrize("task", TASKS)
def test_a_plan_counts_what_the_run_then_sees(finished: Encoders, task: str) -> None:
    recipe = finished.recipe(task)
    before = sorted(finished.root.rglob("*"))
    outlook = task_of(recipe).outlook(recipe, lambda *news: None)
    assert sorted(finished.root.rglob("*")) == before
    (data,) = (r for r in finished.records(task, "data") if r["part"] == "train")
    assert (outlook.epoch.pairs, outlook.epoch.kept) == (
        data["report"]["read"],
        data["report"]["kept"],
    )
    steps = finished.records(task, "step")
    batches = sum(1 for record in steps if record["epoch"] == 0)
    assert abs(outlook.epoch.epoch_batches - batches) <= 1
    rows, source, target = outlook.epoch.batches[0]
    batch = outlook.made_up(rows, source, target)
    loss = outlook.objective(torch.device("cpu"))(batch) / batch.target_tokens
    assert float(loss.detach()) > 0


def test_fine_tuning_takes_encoder_and_vocabulary_and_a_new_head(finished: Encoders) -> None:
    base = finished.root / "masked-lm" / "model"
    recipe = finished.recipe("classify", f"training.init={base}")
    from_it = finished.start("classify", "tuned", f"training.init={base}", "training.steps=1")
    assert from_it.model is not None
    own = json.loads((finished.root / "tuned" / "model" / "config.json").read_text())
    assert own["heads"]["labels"] == ["bad", "good"]
    assert own["model"] == json.loads((base / "config.json").read_text())["model"]
    assert open_model_folder(from_it.model).tokenizer.fingerprint() == (
        open_model_folder(base).tokenizer.fingerprint()
    )
    notes = [record["text"] for record in finished.records("tuned", "note")]
    assert any(
        "encoder and vocabulary (" in note and note.endswith(f") of {base}") for note in notes
    )
    task = task_of(recipe).prepared(recipe, _start(finished.root / "tuned"))
    first, given = task.new_model(1).state_dict(), load_file(base / "model.safetensors")
    taken = [name for name in given if name.startswith("encoder.")]
    assert len(taken) > 10
    assert all(torch.equal(first[name], given[name]) for name in taken)
    assert not any(name.startswith("heads.masked_words") for name in first)


class AmongOthers(Workers):
    """One of several workers: adding up gives every weight that is learnt a gradient."""

    def join(self, objective: TrainingLoss) -> nn.Module:
        self._objective = objective
        return objective

    def add_up(self) -> None:
        self._objective(None).backward()


@pytest.mark.parametrize("task", ["tag", "masked-lm"])
def test_a_pooler_that_no_head_looks_through_stays_as_it_was(
    encoders: Encoders, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process and in one of several, whose weights decay; either goes on from the other."""
    encoders.start("masked-lm", "base", "masking.next_sentence=true", "training.steps=1")
    given = load_file(encoders.root / "base" / "model" / "model.safetensors")
    overrides = ["optimizer.name=adamw", "optimizer.weight_decay=0.5", "training.average_decay=0.9"]
    overrides += [f"training.init={encoders.root / 'base' / 'model'}", "validation.samples=0"]
    for steps, workers in ((10, Workers()), (20, AmongOthers()), (30, Workers())):
        monkeypatch.setattr(workers_module, "ALONE", workers)
        encoders.start(task, "run", *overrides, f"training.steps={steps}", resume=steps > 10)
        *_, last = checkpoints(encoders.root / "run")
        for folder in (last, encoders.root / "run" / "best", encoders.root / "run" / "model"):
            kept = load_file(folder / "model.safetensors")
            assert torch.equal(kept["pooler.W.weight"], given["pooler.W.weight"])
            assert torch.equal(kept["pooler.W.bias"], given["pooler.W.bias"])
            assert not torch.equal(*(w["encoder.norm.weight"] for w in (kept, given)))


def _start(folder: Path, note: Note = lambda text: None) -> RunStart:
    return RunStart(folder, torch.device("cpu"), ALONE, note, lambda *news: None)


@pytest.mark.parametrize("task", TASKS)
def test_moved_files_leave_the_vocabulary_and_the_stores_as_they_are(
    encoders: Encoders, task: str
) -> None:
    run, (here, there) = encoders.root / "run", (encoders.root / name for name in "ab")
    notes: list[str] = []
    for place in (here, there):
        place.mkdir()
        recipe = Encoders(place).recipe(task)
        prepared = task_of(recipe).prepared(recipe, _start(run, notes.append))
    made = [*(run / "cache").glob("tokenizer-*.json"), *(run / "cache").glob("*/store.json")]
    assert len(made) == 3
    assert prepared.train.report.corpora[0].startswith(str(there))
    learnt = "learning a vocabulary of {} from the training text"
    assert [note for note in notes if note.startswith("learning")] == [learnt.format(300)]
    path = there / f"{task}.toml"
    path.write_text(path.read_text("utf-8").replace("size = 300", "size = 290"), encoding="utf-8")
    recipe = load_recipe(path)
    task_of(recipe).prepared(recipe, _start(run, notes.append))
    assert learnt.format(290) in notes


def test_fine_tuning_from_a_translator_is_refused(encoders: Encoders) -> None:
    with pytest.raises(UsageError, match=r"^training.init=.* needs a vocabulary with \[CLS\]"):
        encoders.start("classify", "run", "training.init=en-de", "model={}")


def test_another_shape_than_that_of_the_encoder_is_refused(finished: Encoders) -> None:
    base = finished.root / "masked-lm" / "model"
    with pytest.raises(RecipeError, match=r"model.d_ff=64: .* the weights of .*leave them out"):
        finished.start("classify", "wide", f"training.init={base}", "model.d_ff=64")


def test_a_label_that_training_never_saw_is_an_error_with_its_line(encoders: Encoders) -> None:
    recipe = encoders.recipe("classify")
    with (encoders.root / "valid.tsv").open("a", encoding="utf-8") as file:
        file.write("a fine song\tgod\n")
    with pytest.raises(
        DataError, match=r"valid\.tsv:42: the label 'god' is not one .*did you mean 'good'\?"
    ):
        train(recipe, encoders.root / "run")


def test_one_label_alone_is_nothing_to_learn(encoders: Encoders) -> None:
    recipe = encoders.recipe("classify")
    (encoders.root / "train.tsv").write_text("sentence\tlabel\nfine\tgood\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"train\.tsv: the only label is 'good'"):
        train(recipe, encoders.root / "run")


@pytest.mark.parametrize(
    ("task", "override", "what"),
    [
        ("classify", "training.sharded=true", "training.sharded does not apply"),
        ("tag", "model.decoder_layers=2", "decoder_layers = 2, but task = 'tag'"),
        ("tag", "vocabulary.dropout=0.1", "vocabulary.dropout does not apply"),
        ("masked-lm", "vocabulary.dropout=0.1", "vocabulary.dropout does not apply"),
        ("masked-lm", "data.held_out=0", "there is no validation text"),
        ("masked-lm", 'data.valid=[{source="books"}]', "held_out is not used"),
        ("masked-lm", 'data.valid=[{source="books", weight=2}]', "unknown key data.valid.0.weight"),
        ("classify", "data.valid.0.weight=2", "unknown key data.valid.0.weight"),
        ("tag", "data.valid.0.weight=2", "unknown key data.valid.0.weight"),
        ("masked-lm", "masking.lenght=9", "did you mean masking.length?"),
        ("masked-lm", "data.train.0.target=x", "unknown key data.train.0.target"),
        ("classify", "validation.beam=2", "unknown key validation.beam"),
        ("classify", "task=clasify", "task = 'clasify': should be one of 'translate'"),
    ],
)
def test_what_a_task_has_no_use_for_is_refused(
    encoders: Encoders, task: str, override: str, what: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        encoders.recipe(task, override)
    assert what in str(caught.value)


def test_one_paragraph_can_hold_nothing_out(encoders: Encoders) -> None:
    encoders.write("masked-lm")
    for path in (encoders.root / "books").iterdir():
        path.write_text(path.read_text("utf-8").replace("\n\n", "\n"), encoding="utf-8")
    recipe = load_recipe(encoders.root / "masked-lm.toml")
    with pytest.raises(DataError, match=r"no paragraph begins in the last 20% .* empty lines"):
        train(recipe, encoders.root / "run", device="cpu")


def test_examples_longer_than_the_model_are_refused(encoders: Encoders) -> None:
    with pytest.raises(RecipeError, match=r"masking.length = 64 is more than the model's 48"):
        encoders.start("masked-lm", "run", "masking.length=64")


def test_next_sentences_are_learnt_beside_words(encoders: Encoders) -> None:
    overrides = ("masking.next_sentence=true", "masking.whole_words=true", "training.steps=4")
    result = encoders.start("masked-lm", "run", *overrides)
    assert result.model is not None
    heads = open_model_folder(result.model).heads
    assert heads is not None
    assert (heads.masked_words, heads.next_sentence, heads.pooler) == (True, True, True)
    (final,) = encoders.records("run", "final")
    assert 0 <= final["next_sentence"] <= 1


def test_what_next_sentences_cost_does_not_follow_from_how_they_are_shared_out(
    finished: Encoders,
) -> None:
    recipe = finished.recipe("masked-lm", "masking.next_sentence=true", "model.dropout=0.0")
    task = task_of(recipe).prepared(recipe, _start(finished.root / "shared"))
    objective = task.objective(task.new_model(1), torch.device("cpu"))
    pairs = np.arange(9, dtype=np.uint32)
    whole, *parts = (task.batch(some, 0) for some in (pairs, pairs[:2], pairs[2:]))
    cost = [float(objective(batch).detach()) for batch in (whole, *parts)]
    assert cost[0] == pytest.approx(sum(cost[1:]), rel=1e-5)
    told = task.batch(pairs, 0)
    words = replace(told, elsewhere_B=None)
    share = cost[0] / float(objective(words).detach()) - 1
    assert share == pytest.approx(np.log(2) / np.log(task.shape.config.vocabulary), rel=0.5)


@pytest.mark.parametrize(
    ("task", "overrides"),
    [*((task, ()) for task in TASKS), ("masked-lm", ("masking.next_sentence=true",))],
)
def test_of_no_text_the_loss_is_nothing_for_every_weight(
    finished: Encoders, task: str, overrides: tuple[str, ...]
) -> None:
    """A worker to which nothing falls of an update takes part in it all the same."""
    recipe = finished.recipe(task, *overrides)
    prepared = task_of(recipe).prepared(recipe, _start(finished.root / task))
    batch = prepared.batch(np.zeros(0, dtype=np.uint32), 0)
    assert batch.target_tokens == 0
    model = prepared.new_model(1)
    loss = prepared.objective(model, torch.device("cpu"))(batch)
    loss.backward()
    assert float(loss.detach()) == 0
    assert all(weight.grad is not None and not weight.grad.any() for weight in model.parameters())


@pytest.mark.parametrize("task", TASKS)
def test_r_drop_without_dropout_costs_what_one_pass_does(finished: Encoders, task: str) -> None:
    """Two passes that agree: on the road with both, and on that with one."""
    losses = []
    for alpha in (0.0, 3.0):
        recipe = finished.recipe(task, "model.dropout=0.0", f"training.r_drop={alpha}")
        prepared = task_of(recipe).prepared(recipe, _start(finished.root / task))
        batch = prepared.batch(np.arange(8, dtype=np.uint32), 0)
        model = prepared.new_model(1)
        losses.append(float(prepared.objective(model, torch.device("cpu"))(batch).detach()))
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_masks_and_pairs_follow_from_seed_epoch_and_number(finished: Encoders) -> None:
    recipe = finished.recipe("masked-lm", "masking.next_sentence=true")
    task = task_of(recipe).prepared(recipe, _start(finished.root / "pairs"))
    pairs = np.arange(20, dtype=np.uint32)
    first, again, later = (task.batch(pairs, epoch) for epoch in (0, 0, 1))
    assert torch.equal(first.text.ids_BS, again.text.ids_BS)
    assert torch.equal(first.elsewhere_B, again.elsewhere_B)
    assert not torch.equal(first.text.ids_BS, later.text.ids_BS)
    assert not torch.equal(first.elsewhere_B, later.elsewhere_B)
    alone = task.batch(pairs[7:8], 0)  # whatever stands beside it in a batch
    width = alone.text.ids_BS.size(1)
    assert torch.equal(alone.text.ids_BS[0], first.text.ids_BS[7, :width])
    often = torch.cat([task.batch(pairs, epoch).elsewhere_B for epoch in range(30)])
    assert float(often.float().mean()) == pytest.approx(0.5, abs=0.1)
    segments = first.text.segments_BS[7].tolist()
    ids = first.text.ids_BS[7].tolist()
    assert segments[: ids.index(2) + 1] == [0] * (ids.index(2) + 1)
    assert sum(segments) == len([i for i in ids if i]) - ids.index(2) - 1
