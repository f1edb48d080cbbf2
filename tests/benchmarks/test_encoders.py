"""The benchmarks of models without a decoder, on toys."""

import json
import runpy
import sys
from pathlib import Path

import pytest

from allyouneed.data.labelled import LabelledText
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.run import train

RECIPE = """
name = "tiny"
task = "masked-lm"
[data]
held_out = 0.3
[[data.train]]
source = "book.txt"
[masking]
length = 16
[vocabulary]
size = 280
[model]
d_model = 16
d_ff = 16
heads = 2
encoder_layers = 1
[training]
steps = 2
batch_tokens = 256
"""


BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def labelled(*texts: str) -> list[LabelledText]:
    return [LabelledText((text[2:],), text[0], n) for n, text in enumerate(texts, start=2)]


def test_a_bag_of_words_knows_two_words_beside_each_other() -> None:
    """No word alone tells these apart."""
    train = labelled("1 not bad", "0 not good", "1 so good", "0 so bad") * 20
    valid = labelled("1 was not bad", "0 is so bad", "1 that is so good", "0 not good , it was")
    sst2 = runpy.run_path(str(BENCHMARKS / "sst2.py"))
    found = sst2["bag_of_words"](train, valid, [16.0])
    assert found["features"] == 4 + 4
    assert found["by_strength"].keys() == {"1.0", "16.0"}
    assert found["usual"] == found["best"] == 1.0
    assert sst2["grams"](train[0]) == {("not",), ("bad",), ("not", "bad")}


def test_masked_words_are_measured_as_the_run_measured_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = "".join(f"It was the {word} of times.\n\n" for word in ("best", "worst") * 60)
    (tmp_path / "book.txt").write_text(book, encoding="utf-8")
    (tmp_path / "tiny.toml").write_text(RECIPE, encoding="utf-8")
    run = tmp_path / "run"
    result = train(load_recipe(tmp_path / "tiny.toml"), run, device="cpu")
    assert result.validation is not None
    monkeypatch.setattr(
        sys, "argv", ["masked_words", "--run", str(run), "--results", str(tmp_path)]
    )
    runpy.run_path(str(BENCHMARKS / "masked_words.py"), run_name="__main__")
    found = json.loads((tmp_path / "masked-words.json").read_text())
    assert found["loss"] == pytest.approx(result.validation.loss, rel=1e-6)
    assert found["loss_by_it"] == pytest.approx(found["loss"] / found["unigram_of_training_pages"])
    assert 0 < found["unigram_of_the_hidden_words"] < found["unigram_of_training_pages"]
    assert found["hidden_words"] > 30
