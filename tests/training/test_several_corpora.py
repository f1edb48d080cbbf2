"""Several corpora in one run: weights, temperature, folders of shards; the same when resumed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allyouneed.data.batches import BatchSampler
from allyouneed.errors import DataError
from allyouneed.training.preparation import Material, prepare

MADE = 'data.train=[{made="copy", pairs=200, seed=1}, {made="reverse", pairs=20, seed=2}]'


def prepared(runs: Any, *overrides: str) -> tuple[Material, list[str]]:
    notes: list[str] = []
    return prepare(runs.recipe(*overrides), runs.root / "run", notes.append), notes


def test_temperature_draws_small_corpora_more_often(runs: Any) -> None:
    material, notes = prepared(runs, MADE, "data.temperature=5")
    shares = np.array([200, 20]) ** 0.2
    expected = 220 * shares / shares.sum() / [200, 20]
    assert material.weights == pytest.approx(expected.tolist())
    assert notes[-1] == (
        "temperature 5 multiplies the weights of the corpora: "
        f"made:copy:1 {expected[0]:.3g}×, made:reverse:2 {expected[1]:.3g}×"
    )
    epoch = np.concatenate(BatchSampler(material.train, 256, 1, material.weights).epoch_batches(0))
    assert abs(len(epoch) - 220) <= 1
    assert (epoch >= 200).sum() == round(20 * expected[1])


def test_without_temperature_nothing_is_said_of_it(runs: Any) -> None:
    material, notes = prepared(runs, MADE)
    assert material.weights == [1.0, 1.0]
    assert "temperature" not in " ".join(notes)


def test_shards_of_a_table_count_as_one_corpus(runs: Any, tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    for n in range(4):
        lines = (f"{n} {line}\t{line} {n}\n" for line in range(50))
        (folder / f"{n}.tsv").write_text("".join(lines))
    tables = 'data.train=[{source="shards"}, {made="reverse", pairs=20, seed=2}]'
    material, _ = prepared(runs, tables, "data.temperature=5")
    assert material.train.corpora == 5
    assert len(set(material.weights[:4])) == 1
    whole, _ = prepared(runs, MADE, "data.temperature=5")
    assert [material.weights[0], material.weights[4]] == pytest.approx(whole.weights)


def test_a_resumed_run_draws_what_an_undisturbed_one_draws(runs: Any) -> None:
    changes = (MADE, "data.temperature=3", "data.train.1.weight=1.7")
    runs.start("whole", *changes, "training.steps=10")
    runs.start("halves", *changes, "training.steps=7")
    runs.start("halves", *changes, "training.steps=10", resume=True)
    assert runs.losses("halves") == runs.losses("whole")
    assert runs.weights("halves") == runs.weights("whole")


def test_a_source_without_suffix_that_is_nowhere(runs: Any) -> None:
    with pytest.raises(DataError, match="shards: no such file"):
        prepared(runs, 'data.train=[{source="shards"}]')


def test_the_trained_length_is_that_of_nearly_all_pairs(runs: Any, tmp_path: Path) -> None:
    lines = [f"{'a ' * (n % 7)}{n}\tb\n" for n in range(1990)] + ["a " * 90 + "\tb\n"]
    (tmp_path / "pairs.tsv").write_text("".join(lines))
    limits = ("data.filters.max_ratio=500", "model.max_positions=500")
    material, _ = prepared(runs, 'data.train=[{source="pairs.tsv"}]', *limits)
    lengths = np.sort(material.train.lengths()[0])
    assert material.trained_length == lengths[int(np.ceil(0.999 * len(lengths))) - 1]
    assert material.trained_length < lengths[-1]
