"""`allyouneed train --dry-run`: a plan by arithmetic, at once, for every packaged recipe."""

import gzip
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from allyouneed.cli.dry_run import as_text, measured_plan, plan
from allyouneed.core.encoder_only import build_encoder_only
from allyouneed.core.transformer import Transformer
from allyouneed.data import sizes
from allyouneed.data.corpus import Corpus
from allyouneed.data.lines import count_lines
from allyouneed.data.readers import read_pairs
from allyouneed.data.root import VARIABLE, data_root
from allyouneed.data.sizes import corpus_size, text_size
from allyouneed.errors import DataError
from allyouneed.model_folder.folder import bundled_models
from allyouneed.training.memory import process_memory
from allyouneed.training.outline import outline
from allyouneed.training.recipe.schema import PairsRecipe
from allyouneed.training.recipe.toml_file import load_recipe, packaged_recipes

PROCESSOR_S = 4.0  # seconds of the processor, the start of Python included; it takes 0.4 to 1.6
SCRIPT = (
    "import sys\n"
    "from allyouneed.cli.app import main\n"
    "try:\n"
    "    main()\n"
    "finally:\n"
    "    assert 'torch' not in sys.modules\n"
)


@pytest.mark.parametrize("name", packaged_recipes())
def test_every_packaged_recipe_is_answered_at_once(name: str, tmp_path: Path) -> None:
    """With the data where they are there, and with missing files named where not."""
    data = {VARIABLE: str(root.resolve())} if (root := data_root()) else {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "train", name, "--dry-run", "--json"],
        cwd=tmp_path,
        env={**os.environ, **data},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert seconds < PROCESSOR_S
    assert list(tmp_path.iterdir()) == []
    init = load_recipe(name).training.init
    if init and init not in bundled_models():  # another run makes it; the shape is its shape
        assert done.returncode == 1
        assert done.stderr.startswith(f"error: training.init: there is no model {init!r}")
        return
    planned = json.loads(done.stdout)
    assert done.returncode == (1 if planned["missing"] else 0), done.stderr
    assert planned["parameters"] > 10_000
    assert (planned["pairs"] is None) == bool(planned["missing"])


@pytest.mark.parametrize("name", packaged_recipes())
def test_the_parameters_are_those_of_the_model(name: str) -> None:
    recipe = load_recipe(name)
    if recipe.training.init:  # it may be the model of a run that was not made here
        recipe = load_recipe(name, ["training.init=en-de"])
    told = outline(recipe)
    with torch.device("meta"):
        model: Any
        if isinstance(recipe, PairsRecipe):
            model = Transformer(told.config)
        else:
            model = build_encoder_only(told.config, labels=2, pooler=True)
    count = sum(weight.numel() for weight in model.parameters())
    assert told.weights == (count if told.config.decoder_layers else pytest.approx(count, rel=0.05))


def test_missing_files_are_named_and_the_rest_is_told(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.tsv").write_text("a\tb\n")
    data = 'data.train=[{source="here.tsv"},{source="s.txt",target="t.txt"}]'
    done = call("train", "reverse", data, "--dry-run")
    assert done.code == 1
    assert "# missing: s.txt" in done.lines
    assert "# missing: t.txt" in done.lines
    assert f"# train: {tmp_path / 'here.tsv'} (4 bytes)" in done.lines
    assert any("252,672 parameters" in line for line in done.lines)
    assert "# 500 steps in all" in done.lines
    assert "per step" not in done.out
    assert "note: 2 files or models are missing; training needs them" in done.err
    done = call("train", "reverse", 'data.train=[{source="s.tsv"}]', "--dry-run")
    assert "note: 1 file or model is missing; training needs it" in done.err


def test_what_is_damaged_is_an_error(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "three.tsv").write_text("a\tb\tc\n")
    (tmp_path / "cut.tsv.gz").write_bytes(b"\x1f\x8b\x08\x00")
    os.mkfifo(tmp_path / "pipe.tsv")
    for name, words in {
        "three.tsv": "three.tsv: no pair is left; read 1 pairs; malformed: 1 (",
        "cut.tsv.gz": "cut.tsv.gz is damaged or cut short after line 0",
    }.items():
        done = call("train", "reverse", f'data.valid=[{{source="{name}"}}]', "--dry-run")
        assert (done.code, done.out) == (1, "")
        assert words in done.err
    with pytest.raises(DataError, match="is a folder or a pipe"):
        text_size(tmp_path / "pipe.tsv")


@pytest.mark.parametrize("block", [1 << 10, sizes.AT_ONCE])
def test_the_lines_before_damage_are_counted(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As training counts them."""
    monkeypatch.setattr(sizes, "AT_ONCE", block)
    path = tmp_path / "cut.tsv.gz"
    whole = gzip.compress("".join(f"line {n}\tZeile {n * n}\n" for n in range(9000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cut short after line \d{4} ") as counted:
        count_lines(path)
    with pytest.raises(DataError, match=re.escape(str(counted.value))):
        corpus_size(Corpus(path))


def test_two_files_of_different_lengths_are_the_error_of_training(tmp_path: Path) -> None:
    source, target = tmp_path / "s.txt", tmp_path / "t.txt"
    source.write_text("a\n" * 2000)
    target.write_text("b\n" * 1499 + "b")
    with pytest.raises(DataError) as trained:
        list(read_pairs(Corpus(source, target)))
    with pytest.raises(DataError, match=r"has 2,000 lines, .*has 1,500") as counted:
        corpus_size(Corpus(source, target))
    assert str(counted.value) == str(trained.value)


def test_measuring_belongs_to_a_dry_run(call: Any) -> None:
    done = call("train", "reverse", "--measure")
    assert done.code == 2
    assert "--measure belongs to --dry-run" in done.err


def test_the_estimate_is_near_what_is_measured(tmp_path: Path) -> None:
    recipe = load_recipe("reverse", ["training.epochs=3"])
    told, measured = plan(recipe), measured_plan(recipe, "cpu", lambda *news: None)
    for key in ("tokens_per_step", "steps_per_epoch", "steps"):
        assert told[key] == pytest.approx(measured[key], rel=0.2), key
    for key in ("parameters", "pairs", "vocabulary", "recipe", "warnings", "data"):
        assert told[key] == measured[key], key
    own, _ = process_memory()  # the measured plan counts all that the tests have loaded
    assert told["needed_bytes"] - 400e6 < max(measured["needed_bytes"] - own, 0) + 100e6
    assert "estimated from the sizes of the files" in as_text(told)
    assert "estimated from" not in as_text(measured)


def test_a_large_file_is_estimated_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"a line {n:05}\tzwei Zeilen, Nummer {n:05}\n" for n in range(20_000)))
    monkeypatch.setattr(sizes, "AT_ONCE", 1 << 14)
    whole = corpus_size(Corpus(path))
    assert (whole.pairs, whole.exact) == (20_000, True)
    assert whole.source_bytes == pytest.approx(20_000 * 12)
    assert whole.target_bytes == pytest.approx(20_000 * 25)
    turned = corpus_size(Corpus(path).turned())
    assert (turned.source_bytes, turned.target_bytes) == (whole.target_bytes, whole.source_bytes)
    monkeypatch.setattr(sizes, "MOST_STORED", 1 << 16)
    some = corpus_size(Corpus(path))
    assert not some.exact
    assert some.pairs == pytest.approx(20_000, rel=0.01)
    assert some.target_bytes == pytest.approx(whole.target_bytes, rel=0.01)


def test_a_small_file_that_unpacks_to_very_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\n" * 500_000))
    monkeypatch.setattr(sizes, "MOST_TEXT", 1 << 18)
    monkeypatch.setattr(sizes, "AT_ONCE", 1 << 14)
    size = text_size(path)
    assert not size.exact
    assert size.lines < 2_000_000


def test_two_files_and_a_last_line_without_its_end(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("one\ntwo")
    (tmp_path / "t.txt").write_text("eins und\nzwei und")
    size = corpus_size(Corpus(tmp_path / "s.txt", tmp_path / "t.txt"))
    assert (size.pairs, size.exact) == (2, True)
    assert size.target_bytes == pytest.approx(16, abs=1)
    assert corpus_size(Corpus(made="copy", pairs=700)).pairs == 700
