"""The loop: what an update is made of, when things happen, and what stops it."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from allyouneed.data.batches import BatchSampler
from allyouneed.errors import TrainingError
from allyouneed.training import objective, trainee, update
from allyouneed.training import workers as workers_module
from allyouneed.training.checkpoint import checkpoints
from allyouneed.training.preparation import prepare
from allyouneed.training.schedule import learning_rate
from allyouneed.training.tasks import translate
from allyouneed.training.tasks.translate import Translate
from allyouneed.training.validation import Validation, validate
from allyouneed.training.validator import Validator
from allyouneed.training.workers import Workers

EXACT = ("model.dropout=0.0", "vocabulary.dropout=0.0")
STRICT = "training.max_skipped=0"


def first_weights(runs: Any, *overrides: str) -> dict[str, Tensor]:
    """The weights before the first step."""
    recipe = runs.recipe(*overrides)
    material = prepare(recipe, runs.root / "first", lambda note: None)
    return material.new_model(recipe.seed).state_dict()


def moved(runs: Any, *overrides: str) -> dict[str, Tensor]:
    """How the first update moves the weights."""
    before = first_weights(runs, *overrides)
    runs.start("run", *overrides, "training.steps=1")
    after = load_file(checkpoints(runs.root / "run")[-1] / "model.safetensors")
    return {name: weight - before[name] for name, weight in after.items()}


def test_accumulated_batches_weigh_every_token_the_same(runs: Any) -> None:
    """All batches of an epoch as one update, against all pairs of the epoch in one batch. Batches
    hold different numbers of tokens, so a mean of their means would be another loss."""
    runs.start("one", *EXACT, "training.batch_tokens=4096", "training.steps=5")
    runs.start("many", *EXACT, "training.accumulate=99", "training.steps=5")
    one, many = runs.losses("one"), runs.losses("many")
    assert one.keys() == many.keys()
    for step in one:
        assert many[step] == pytest.approx(one[step], rel=1e-5)
    tokens = [runs.records(name, "step")[-1]["tokens"] for name in ("one", "many")]
    assert tokens[0] == tokens[1]


def test_the_loss_in_the_log_is_a_mean_over_tokens(runs: Any) -> None:
    runs.start("each", "training.steps=8", "training.validate_every_steps=100")
    runs.start(
        "few",
        "training.log_every=3",
        "training.steps=8",
        "training.validate_every_steps=100",
        "training.checkpoint_every_steps=100",
    )
    each = runs.records("each", "step")
    few = runs.records("few", "step")
    assert [record["step"] for record in few] == [3, 6, 8]
    totals = [0, *(record["tokens"] for record in each)]
    for record, last in zip(few, (3, 6, 8), strict=True):
        first = 3 * ((last - 1) // 3)
        shares = [totals[n + 1] - totals[n] for n in range(first, last)]
        losses = [each[n]["loss"] for n in range(first, last)]
        mean = math.fsum(a * b for a, b in zip(shares, losses, strict=True)) / sum(shares)
        assert record["loss"] == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize(
    "watching",
    [
        ("training.validate_every_steps=1", "validation.sentences=3", "validation.beam=2"),
        ("training.checkpoint_every_steps=1", "training.keep_last=9"),
        ("training.checkpoint_every_minutes=0.0001",),
        ("training.log_every=100",),
    ],
)
def test_watching_a_run_does_not_change_it(runs: Any, watching: tuple[str, ...]) -> None:
    runs.start("plain", "training.steps=6", "training.average_last=0")
    runs.start("watched", "training.steps=6", "training.average_last=0", *watching)
    last = [checkpoints(runs.root / name)[-1] for name in ("plain", "watched")]
    assert [path.name for path in last] == ["step-00000006"] * 2
    weights = [(path / "model.safetensors").read_bytes() for path in last]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("training", [True, False])
def test_validation_leaves_the_model_and_chance_alone(runs: Any, training: bool) -> None:
    recipe = runs.recipe("validation.sentences=3")
    material = prepare(recipe, runs.root / "run", lambda note: None)
    model = material.new_model(1).train(training)
    before = torch.get_rng_state(), {n: w.clone() for n, w in model.state_dict().items()}
    first = validate(model, Translate(recipe, material), torch.device("cpu"))
    assert all(module.training == training for module in model.modules())
    assert torch.equal(torch.get_rng_state(), before[0])
    assert all(torch.equal(w, before[1][n]) for n, w in model.state_dict().items())
    assert validate(model, Translate(recipe, material), torch.device("cpu")) == first
    model.encode(torch.tensor([[5, 2]])).states_BSD.sum().backward()  # can be trained on


def test_the_validation_loss_is_the_plain_mean_over_all_tokens(runs: Any) -> None:
    recipe = runs.recipe()
    material = prepare(recipe, runs.root / "run", lambda note: None)
    model = material.new_model(1).eval()
    total, tokens = 0.0, 0
    with torch.no_grad():
        for n in range(len(material.valid)):
            source, target = (
                torch.from_numpy(ids.astype("int64")) for ids in material.valid.pair(n)
            )
            shifted = torch.cat([torch.tensor([model.config.start]), target[:-1]])
            logits_TV = model(source[None], shifted[None])[0]
            total += float(torch.nn.functional.cross_entropy(logits_TV, target, reduction="sum"))
            tokens += len(target)
    found = validate(model, Translate(recipe, material), torch.device("cpu")).loss
    assert found == pytest.approx(total / tokens, rel=1e-5)


SCHEDULES = {
    "noam": ["schedule.factor=2.0", "schedule.warmup=3"],
    "inverse-sqrt": ["schedule.learning_rate=0.02", "schedule.warmup=3"],
    "cosine": ["schedule.learning_rate=0.02", "schedule.warmup=2", "schedule.steps=5"],
    "constant": ["schedule.learning_rate=0.02", "schedule.warmup=0"],
    "trapezoid": ["schedule.learning_rate=0.02", "schedule.decay=1", "schedule.steps=6"],
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_learning_rate_is_the_schedules(runs: Any, name: str) -> None:
    other = {"noam": "schedule={name='noam'}"}.get(name, f"schedule.name={name}")
    overrides = [other, *SCHEDULES[name], "training.steps=6"]
    runs.start("run", *overrides)
    section = runs.recipe(*overrides).schedule
    logged = [record["learning_rate"] for record in runs.records("run", "step")]
    assert logged == [learning_rate(section, step, 16) for step in range(1, 7)]
    assert len(set(logged)) > 1 or name == "constant"


def test_the_learning_rate_reaches_the_weights(runs: Any) -> None:
    """Adam's first update moves every weight with a gradient by the learning rate."""
    steps = moved(runs, "schedule={name='constant', learning_rate=0.003}")
    largest = max(float(step.abs().max()) for step in steps.values())
    assert largest == pytest.approx(0.003, rel=1e-3)


def test_the_gradient_is_clipped(runs: Any) -> None:
    """With a large epsilon, Adam's first update is near to learning rate times gradient."""
    steps = moved(
        runs,
        "schedule={name='constant', learning_rate=1.0}",
        "optimizer.epsilon=1.0",
        "optimizer.clip_norm=0.001",
    )
    norm = math.sqrt(sum(float(step.double().square().sum()) for step in steps.values()))
    assert norm == pytest.approx(0.001, rel=0.01)


def test_weights_decay_and_biases_and_norms_do_not(runs: Any) -> None:
    overrides = ["optimizer.name=adamw", "schedule={name='constant', learning_rate=0.01}"]
    before = first_weights(runs, *overrides)
    plain = moved(runs, *overrides)
    runs.start("decayed", *overrides, "training.steps=1", "optimizer.weight_decay=0.5")
    after = load_file(checkpoints(runs.root / "decayed")[-1] / "model.safetensors")
    for name, step in plain.items():
        share = 0.005 if before[name].dim() > 1 else 0.0
        torch.testing.assert_close(after[name], before[name] * (1 - share) + step)


def test_bf16_is_near_float32(runs: Any) -> None:
    runs.start("wide", *EXACT, "training.steps=4")
    runs.start("narrow", *EXACT, "training.steps=4", "training.precision=bf16")
    wide, narrow = runs.losses("wide"), runs.losses("narrow")
    assert wide != narrow
    for step in wide:
        assert narrow[step] == pytest.approx(wide[step], rel=0.01)


def test_bpe_dropout_trains_on_the_same_texts_in_other_pieces(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = runs.recipe("vocabulary.dropout=0.5", "training.epochs=2", "training.steps=99")
    material = prepare(recipe, runs.root / "prepared", lambda note: None)
    decode, texts = material.tokenizer.decode, []
    written: list[tuple[int, ...]] = []
    collate = translate.collate

    def watched(store: Any, indices: Any, *rest: Any) -> Any:
        batch = collate(store, indices, *rest)
        if store.folder.name != material.train.folder.name:  # validation's
            return batch
        for index, source, labels in zip(
            indices, batch.source_BS.tolist(), batch.labels_BT.tolist(), strict=True
        ):
            for ids, kept in zip((source, labels), store.pair(int(index)), strict=True):
                texts.append((decode(ids), decode(kept.tolist())))
                written.append((int(index), *(id for id in ids if id)))
        return batch

    monkeypatch.setattr(translate, "collate", watched)
    runs.start("run", "vocabulary.dropout=0.5", "training.epochs=2", "training.steps=99")
    assert len(texts) == 2 * 2 * 120
    assert all(seen == meant for seen, meant in texts)
    first, second = (set(written[: len(written) // 2]), set(written[len(written) // 2 :]))
    assert len(first & second) < len(first) / 2  # each epoch in other pieces


def test_bpe_dropout_never_outgrows_the_positions(runs: Any) -> None:
    """The longest pair has 9 tokens, of up to 17 bytes."""
    overrides = ("vocabulary.dropout=0.99", "model.max_positions=10", "training.steps=4")
    assert runs.start("run", *overrides).steps == 4


def test_it_ends_after_so_many_epochs(runs: Any) -> None:
    result = runs.start("run", "training.epochs=2", "training.steps=99")
    assert (result.reason, result.steps) == ("2 epochs done", 8)
    assert [record["step"] for record in runs.records("run", "validation")] == [4, 8]
    assert [path.name[-2:] for path in checkpoints(runs.root / "run")] == ["04", "08"]


def test_it_ends_after_so_many_minutes_all_starts_together(runs: Any) -> None:
    limit = ("training.max_minutes=0.003", "training.steps=1000000")
    result = runs.start("run", *limit)
    assert result.reason == "0.003 minutes have passed"
    assert result.model is not None
    assert runs.start("run", *limit, resume=True).steps == result.steps


@pytest.fixture
def validation_losses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the loop's validations are to find, one after the other."""
    coming: list[float] = []

    def found(*_: Any) -> Validation:
        return Validation(coming.pop(0), None, None, ())

    monkeypatch.setattr(trainee, "validate", found)
    return coming


def test_it_ends_when_validations_are_no_better(runs: Any, validation_losses: list[float]) -> None:
    validation_losses += [3.0, 2.0, 2.5, 2.0, 1.0]
    every = ("training.validate_every_steps=2", "training.patience=2", "training.steps=50")
    result = runs.start("run", *every)
    assert (result.reason, result.steps) == ("no better for 2 validations", 8)
    assert [record["best"] for record in runs.records("run", "validation")] == [
        True, True, False, False
    ]  # fmt: skip
    assert validation_losses == [1.0]


def test_a_better_model_that_the_disk_does_not_take_is_better_all_the_same(
    runs: Any, validation_losses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Patience counts validations, not what was written."""
    monkeypatch.setattr(Validator, "_kept_as_best", lambda *_: False)
    validation_losses += [5.0, 4.0, 3.0, 2.0]
    every = ("training.validate_every_steps=2", "training.patience=2", "training.steps=8")
    assert runs.start("run", *every).reason == "8 steps done"
    assert not any(record["best"] for record in runs.records("run", "validation"))


def test_patience_is_not_forgotten_by_a_stop(runs: Any, validation_losses: list[float]) -> None:
    every = ("training.validate_every_steps=2", "training.patience=3")
    validation_losses += [2.0, 2.5, 2.5]
    runs.start("run", *every, "training.steps=6")
    validation_losses += [2.5, 1.0]
    result = runs.start("run", *every, "training.steps=50", resume=True)
    assert (result.reason, result.steps) == ("no better for 3 validations", 8)


def blow_up_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A learning rate that spoils the weights in one update."""

    def rate(section: Any, now: int, d_model: int) -> float:
        return 1e30 if now == step else learning_rate(section, now, d_model)

    monkeypatch.setattr(update, "learning_rate", rate)


def files(run: Path) -> Iterator[tuple[Path, bytes]]:
    for part in ("checkpoints", "best"):
        for path in sorted((run / part).rglob("*")):
            if path.is_file():
                yield path, path.read_bytes()


def test_a_loss_that_is_not_finite_stops_it(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    blow_up_at(6, monkeypatch)
    often = ("training.checkpoint_every_steps=2", "training.keep_last=9", STRICT)
    kept: dict[Path, bytes] = {}

    def watch(record: Any) -> None:
        if record["step"] == 6:
            kept.update(files(runs.root / "run"))

    with pytest.raises(TrainingError) as error:
        runs.start("run", *often, report=watch)
    said = str(error.value)
    folder = runs.root / "run" / "checkpoints"
    assert said.startswith("the loss is nan at step 7 (batch with made:reverse:1:")
    assert f"the last good checkpoint is {folder / 'step-00000004'} (" in said
    assert "(spoilt-step-00000006 has spoilt weights): lower the learning rate or" in said
    assert said.endswith("--resume")
    assert len(kept) > 6
    for path, content in kept.items():
        aside = str(path).replace("step-00000006", "spoilt-step-00000006")
        assert Path(aside).read_bytes() == content
    assert not (runs.root / "run" / "model").exists()

    monkeypatch.undo()  # now follow the advice of the message
    calmer = ("schedule.learning_rate=0.001", "optimizer.clip_norm=1")
    result = runs.start("run", *often, *calmer, resume=True)
    assert result.steps == 10
    assert list(runs.losses("run")) == list(range(1, 11))
    assert result.validation is not None
    assert math.isfinite(result.validation.loss)


@pytest.mark.parametrize(
    ("validated", "said"),
    [
        (1, r"validation loss is nan at step 1;"),
        (100, r"loss is nan at step \d.*has spoilt weights"),
    ],
)
def test_weights_that_are_no_numbers_are_told_before_anything_is_translated(
    runs: Any, validated: int, said: str
) -> None:
    wild = ('schedule={name="constant", learning_rate=1e30}', "optimizer.clip_norm=0.0")
    often = ("training.checkpoint_every_steps=1", f"training.validate_every_steps={validated}")
    with pytest.raises(TrainingError, match=said) as error:
        runs.start("run", *wild, *often, STRICT, "validation.sentences=3")
    assert "lower the learning rate" in str(error.value)
    assert [path.name for path in checkpoints(runs.root / "run")] == []


def test_the_lines_that_are_named_are_those_of_the_batch(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    blow_up_at(2, monkeypatch)
    recipe = runs.recipe()
    material = prepare(recipe, runs.root / "prepared", lambda note: None)
    sampler = BatchSampler(material.train, 256, recipe.seed)
    lines = {material.train.line_of(int(n))[1] for n in sampler.epoch_batches(0)[2]}
    with pytest.raises(TrainingError, match=r"at step 3 .*checkpoint is none") as error:
        runs.start("run", STRICT)
    named = str(error.value).partition("made:reverse:1:")[2].partition(")")[0]
    assert {int(line) for line in named.split(", ")} == lines


def test_a_gradient_that_is_not_finite_stops_it(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the update: the weights are as they were, but their next step is this one again."""
    real, calls = objective.fused_loss, []

    def steep(states_PD: Tensor, *rest: Any) -> Tensor:
        calls.append(None)
        if len(calls) == 6:
            states_PD = states_PD + 0 * (states_PD - states_PD.detach()).abs().sqrt()
        return real(states_PD, *rest)

    monkeypatch.setattr(objective, "fused_loss", steep)
    with pytest.raises(
        TrainingError, match=r"norm of the gradient is nan at step 6 .*step-00000004"
    ):
        runs.start("run", STRICT, "training.checkpoint_every_steps=2")


def spoil(calls: set[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes the loss of these calls NaN; the numbers of rows of all calls are returned."""
    real = objective.fused_loss
    rows: list[int] = []

    def losses(states_PD: Tensor, *rest: Any) -> Tensor:
        rows.append(len(states_PD))
        return real(states_PD, *rest) * (math.nan if len(rows) in calls else 1.0)

    monkeypatch.setattr(objective, "fused_loss", losses)
    return rows


def test_a_batch_whose_loss_is_not_finite_is_skipped_with_its_lines(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two batches in an update the first is bad: neither is learnt from, its lines are named."""
    recipe = runs.recipe("training.accumulate=2")
    material = prepare(recipe, runs.root / "prepared", lambda note: None)
    bad = BatchSampler(material.train, 256, recipe.seed).epoch_batches(0)[2]
    spoil({3}, monkeypatch)
    often = ("training.checkpoint_every_steps=1", "training.keep_last=9")
    result = runs.start("run", "training.accumulate=2", "training.steps=6", *often)
    assert result.model is not None
    (note,) = [n["text"] for n in runs.records("run", "note") if "skipped" in n["text"]]
    assert note.startswith("the loss is nan at step 2 (batch with made:reverse:1:")
    assert note.endswith("): skipped, 1 in a row")
    named = note.partition("made:reverse:1:")[2].partition(")")[0].split(", ")
    assert sorted(map(int, named)) == sorted(material.train.line_of(int(n))[1] for n in bad)
    steps = runs.records("run", "step")
    assert [record["step"] for record in steps] == [1, 3, 4, 5, 6]
    assert all(math.isfinite(record["loss"]) for record in steps)
    # nothing is saved while the weights are in doubt: what is due at step 2 comes after step 3
    assert [path.name[-1] for path in checkpoints(runs.root / "run")] == ["1", "3", "4", "5", "6"]


def test_after_too_many_in_a_row_it_stops_at_the_last_good_checkpoint(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("training.max_skipped=2", "training.checkpoint_every_steps=1")
    spoil({3, 4, 6, 7, 8}, monkeypatch)  # two in a row are let pass, the third is not
    with pytest.raises(TrainingError, match="loss is nan at step 8 ") as error:
        runs.start("run", *few, "training.validate_every_steps=100")
    good = (
        r"last good checkpoint is \S*/step-00000005: the weights are sound \(validation loss "
        r"\d\.\d\d\), so look at"
    )
    assert re.search(good, str(error.value))
    assert "made:reverse:1:" in str(error.value)
    assert checkpoints(runs.root / "run")[-1].name == "step-00000005"
    monkeypatch.undo()
    assert runs.start("run", *few, resume=True).steps == 10
    assert list(runs.losses("run")) == [1, 2, 5, 6, 7, 8, 9, 10]


def test_finite_weights_that_know_less_than_a_guess_are_spoilt(
    runs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only the norm of a gradient overflows, validation still gives a number."""
    real = trainee.Trainee.measured

    def measured(self: Any) -> tuple[Any, Any]:
        model, result = real(self)
        return model, replace(result, loss=50.0)

    monkeypatch.setattr(trainee.Trainee, "measured", measured)
    spoil({6}, monkeypatch)
    often = ("training.checkpoint_every_steps=1", "training.keep_last=9", STRICT)
    with pytest.raises(TrainingError, match=r"step-00000004 \(spoilt-step-00000005 has spoilt"):
        runs.start("run", *often, "training.validate_every_steps=100")
    assert checkpoints(runs.root / "run")[-1].name == "step-00000004"


ON_A_GPU = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
ON_A_CPU = RuntimeError("[enforce fail at alloc_cpu.cpp:127] … can't allocate memory: you tried")


def out_of_memory(
    rows: int, calls: range, monkeypatch: pytest.MonkeyPatch, error: Exception = ON_A_GPU
) -> list[int]:
    """From call to call, what holds more target positions than `rows` is too large."""
    real = objective.fused_loss
    seen: list[int] = []

    def losses(states_PD: Tensor, *rest: Any) -> Tensor:
        seen.append(len(states_PD))
        if len(states_PD) > rows and len(seen) in calls:
            raise error
        return real(states_PD, *rest)

    monkeypatch.setattr(objective, "fused_loss", losses)
    return seen


@pytest.mark.parametrize("error", [ON_A_GPU, ON_A_CPU])
def test_a_batch_too_large_for_memory_is_split_and_counts_in_full(
    runs: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The second of two batches: what the first has left in the gradients counts once."""
    same = (*EXACT, "training.accumulate=2", "training.steps=4")
    runs.start("whole", *same)
    seen = out_of_memory(100, range(4, 7), monkeypatch, error)
    runs.start("split", *same)
    assert len(seen) > 8
    whole, split = runs.losses("whole"), runs.losses("split")
    assert list(whole) == list(split)
    for step in whole:
        assert split[step] == pytest.approx(whole[step], rel=1e-5)
    tokens = [runs.records(name, "step")[-1]["tokens"] for name in ("whole", "split")]
    assert tokens[0] == tokens[1]
    notes = [n["text"] for n in runs.records("split", "note") if "memory" in n["text"]]
    assert notes
    assert notes[0].startswith("step 2: there was not enough memory for 3 of the batches")
    assert notes[0].endswith("saves the time of the second try")


class OneSplit(Workers):
    """Another worker has to split a piece of the first update."""

    def __init__(self) -> None:
        self.splits = 1

    def sum(self, numbers: Sequence[float]) -> list[float]:
        if len(numbers) != 3:  # the losses of two batches, and the splits
            return list(numbers)
        splits, self.splits = self.splits, 0
        return [*numbers[:2], numbers[2] + splits]


def test_a_split_on_another_worker_is_told(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "ALONE", OneSplit())
    runs.start("run", "training.accumulate=2", "training.steps=2")
    (told,) = [n["text"] for n in runs.records("run", "note") if "memory" in n["text"]]
    assert told.startswith("step 1: there was not enough memory for 1 of the batches or parts")


def test_a_pair_too_large_for_memory_is_named(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    out_of_memory(0, range(1, 99), monkeypatch)
    with pytest.raises(
        TrainingError,
        match=r"^made:reverse:1:\d+: this example of \d+ and \d+ tokens alone does not fit into",
    ):
        runs.start("run")


def test_a_validation_loss_that_is_not_finite_stops_it(
    runs: Any, validation_losses: list[float]
) -> None:
    validation_losses += [2.0, math.inf]
    with pytest.raises(
        TrainingError, match=r"validation loss is inf at step 8; .* is .*step-00000004: lower"
    ):
        runs.start("run")
    assert len(checkpoints(runs.root / "run")) == 1


def test_tokens_and_share_done_are_counted(runs: Any) -> None:
    runs.start("run", *EXACT, "training.epochs=2", "training.steps=99")
    steps = runs.records("run", "step")
    material = prepare(runs.recipe(*EXACT), runs.root / "run", lambda note: None)
    assert steps[-1]["tokens"] == 2 * int(material.train.lengths()[1].sum())
    shares = [record["share_done"] for record in steps]
    assert shares == sorted(shares)
    assert shares[3] == pytest.approx(4 / 8, abs=1 / 8)
    assert all(record["tokens_per_second"] > 0 for record in steps)
    assert [record["epoch"] for record in steps] == sorted(record["epoch"] for record in steps)


def test_a_warm_up_longer_than_the_run_is_told(runs: Any) -> None:
    runs.start("low", "schedule.warmup=10")
    told = [record["text"] for record in runs.records("low", "note")]
    assert any("rises for 10 steps" in text and "the run has 10" in text for text in told)
