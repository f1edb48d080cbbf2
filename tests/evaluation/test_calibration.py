"""Logistic regression finds the weights that made its examples; measures agree with counting."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from allyouneed.errors import DataError, ModelFolderError
from allyouneed.evaluation.calibration import fitted, held_out, quality, sigmoid
from allyouneed.model_folder.confidence import (
    TEXT,
    Calibration,
    open_calibration,
    save_calibration,
)
from allyouneed.translation.confidence import text_signals


def examples(count: int = 4000):
    """Signals on scales far apart, and what a known regression makes of them."""
    rng = np.random.default_rng(3)
    signals_NF = rng.normal(size=(count, 2)) * [1.0, 100.0] + [0.0, 50.0]
    odds_N = 0.5 + signals_NF @ [2.0, -0.01]
    return signals_NF, rng.random(count) < sigmoid(odds_N), odds_N


def test_the_weights_that_made_the_examples_are_found() -> None:
    signals_NF, accepted_N, _ = examples()
    assert fitted(signals_NF, accepted_N) == pytest.approx([0.5, 2.0, -0.01], rel=0.2)


def test_probabilities_that_are_true_have_no_error_and_others_have() -> None:
    signals_NF, accepted_N, odds_N = examples()
    p_N = held_out(signals_NF, accepted_N)
    good = quality(p_N, accepted_N, odds_N)
    assert good.ece is not None
    assert good.ece < 0.03
    assert good.spearman > 0.99
    shifted = quality(p_N * 0.5, accepted_N, odds_N)
    assert shifted.ece is not None
    assert shifted.ece > 0.15
    assert shifted.auroc == good.auroc


def test_auroc_counts_pairs() -> None:
    rng = np.random.default_rng(5)
    numbers_N = rng.integers(0, 8, 60) / 8  # with ties
    accepted_N = rng.random(60) < 0.4
    wins = [
        1.0 if yes > no else 0.5 if yes == no else 0.0
        for yes, no in itertools.product(numbers_N[accepted_N], numbers_N[~accepted_N])
    ]
    found = quality(numbers_N, accepted_N, numbers_N, probable=False)
    assert found.auroc == pytest.approx(np.mean(wins))
    assert found.ece is None
    assert found.spearman == pytest.approx(1.0)


def test_one_kind_alone_teaches_nothing() -> None:
    with pytest.raises(DataError, match="all 3 examples are acceptable"):
        fitted([[1.0], [2.0], [3.0]], [True, True, True])
    assert quality([0.1, 0.2], [True, True], [1.0, 2.0]).auroc is None


def test_a_rare_word_is_a_signal() -> None:
    frequent = text_signals([-0.1, -0.1], [5, 6, 3], [7, 3], "so so", "so")
    rare = text_signals([-0.1, -0.1], [5, 7000, 3], [7, 3], "so so", "so")
    by_name = dict(zip(TEXT, zip(frequent, rare, strict=True), strict=True))
    differ = [name for name, (one, other) in by_name.items() if one != other]
    assert differ == ["source_rarity", "source_rarest"]
    assert by_name["source_rarest"] == pytest.approx((math.log(7), math.log(7001)))


def test_a_calibration_without_the_later_signals_is_read(tmp_path: Path) -> None:
    whole = Calibration(threshold=50, text=tuple(map(float, range(1, 13))), word=(1.0, 2, 3, 4))
    save_calibration(whole, tmp_path)
    file = tmp_path / "confidence.json"
    assert open_calibration(tmp_path) == whole
    values = json.loads(file.read_text())
    for name in ("source_rarity", "source_rarest", "target_rarity"):
        del values["text"][name]
    file.write_text(json.dumps(values))
    read = open_calibration(tmp_path)
    assert read is not None
    assert read.text == (*whole.text[:9], 0.0, 0.0, 0.0)
    del values["text"]["mean"]
    file.write_text(json.dumps(values))
    with pytest.raises(ModelFolderError, match="mean"):
        open_calibration(tmp_path)
