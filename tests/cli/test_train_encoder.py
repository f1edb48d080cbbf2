"""Training a model without a decoder on the command line: plan, run, and what uses its folder."""

import json
from pathlib import Path

import pytest

RECIPE = """
name = "reviews"
task = "classify"
[[data.train]]
source = "reviews.tsv"
[[data.valid]]
source = "reviews.tsv"
[vocabulary]
size = 280
[model]
encoder_layers = 1
d_model = 16
d_ff = 16
heads = 2
max_positions = 16
[schedule]
name = "constant"
learning_rate = 0.02
warmup = 0
[training]
steps = 25
batch_tokens = 256
label_smoothing = 0.0
average_last = 0
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reviews.toml").write_text(RECIPE, encoding="utf-8")
    rows = "".join(f"a {word}\t{label}\n" for word, label in (("good", "yes"), ("bad", "no")) * 8)
    (tmp_path / "reviews.tsv").write_text(f"sentence\tlabel\n{rows}", encoding="utf-8")
    return tmp_path


def test_a_dry_run_speaks_of_texts_and_labels(call, here: Path) -> None:
    done = call("train", "reviews.toml", "--dry-run", "--measure")
    assert done.code == 0, done.err
    assert "# 16 of 16 texts are kept\n" in done.out
    assert "# about 16 labels per step, 1 steps per epoch, 25 steps in all" in done.out
    assert f"# train: {here / 'reviews.tsv'}" in done.out
    assert sorted(path.name for path in here.iterdir()) == ["reviews.toml", "reviews.tsv"]
    planned = json.loads(call("train", "reviews.toml", "--dry-run", "--measure", "--json").out)
    assert (planned["pairs"], planned["counted"], planned["unit"]) == (16, "texts", "label")


def test_a_run_leaves_a_model_that_predicts(call, here: Path) -> None:
    done = call("train", "reviews.toml", "--threads", 1)
    assert done.code == 0, done.err
    assert done.lines == ["runs/reviews/model"]
    assert "labels/s" in done.err
    assert "accuracy 100.0%" in done.err
    assert "note: labels: no 8, yes 8" in done.err
    found = call("predict", "--model", "runs/reviews/model", "--json", "a good", "a bad")
    assert [json.loads(line)["label"] for line in found.lines] == ["yes", "no"]


def test_records_as_json_name_accuracy_and_unit(call, here: Path) -> None:
    done = call("train", "reviews.toml", "training.steps=2", "training.log_every=1", "--json")
    assert (done.code, done.err) == (0, "")
    records = [json.loads(line) for line in done.lines]
    assert {r["unit"] for r in records if r["event"] == "step"} == {"label"}
    assert 0 <= records[-1]["accuracy"] <= 1
