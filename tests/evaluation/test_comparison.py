"""Paired comparisons against sacreBLEU's own command, and their two ends: same and much better."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from allyouneed.errors import DataError
from allyouneed.evaluation.comparison import compare

WORDS = [
    "the",
    "a",
    "man",
    "woman",
    "rides",
    "runs",
    "park",
    "bike",
    "in",
    "on",
    "red",
    "blue",
    "house",
]


def texts(seed: int, count: int = 40) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=9)) + "." for _ in range(count)]


def mixed(one: list[str], other: list[str], share: float) -> list[str]:
    """Lines whose first words come from one text and whose last from another."""
    pairs = zip(one, other, strict=True)
    return [" ".join(a.split()[: int(share * 9)] + b.split()[int(share * 9) :]) for a, b in pairs]


REFERENCES = texts(1)
BASELINE = mixed(REFERENCES, texts(2), 0.6)
SYSTEM = mixed(REFERENCES, texts(3), 0.8)


def test_the_comparison_is_what_sacrebleu_prints(tmp_path: Path) -> None:
    for name, lines in {"r": REFERENCES, "b": BASELINE, "s": SYSTEM}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "r", "-i", "b", "s", "--paired-bs"]
    command += ["-m", "bleu", "--width", "6", "-f", "json"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    theirs = [row["BLEU"] for row in json.loads(run.stdout)]

    ours = compare(BASELINE, SYSTEM, REFERENCES).metrics[0]

    for mine, other in zip((ours.baseline, ours.system), theirs, strict=True):
        assert mine.score == pytest.approx(other["score"], abs=1e-6)
        assert mine.mean == pytest.approx(other["mean"], abs=1e-6)
        assert mine.margin == pytest.approx(other["ci"], abs=1e-6)
    assert ours.p_value == pytest.approx(theirs[1]["p_value"], abs=1e-6)


def test_a_system_that_is_clearly_better_is_significantly_so() -> None:
    comparison = compare(BASELINE, SYSTEM, REFERENCES, resamples=300)
    assert [one.system.metric for one in comparison.metrics] == ["BLEU", "BLEU lower-cased", "chrF"]
    assert all(one.difference > 5 and one.significant for one in comparison.metrics)


def test_a_system_against_itself_is_not() -> None:
    for one in compare(SYSTEM, SYSTEM, REFERENCES, resamples=100).metrics:
        assert one.difference == 0
        assert not one.significant


def test_a_comparison_becomes_json() -> None:
    comparison = compare(BASELINE, SYSTEM, REFERENCES, resamples=100)
    values = json.loads(json.dumps(comparison.to_dict()))
    assert values["sentences"] == 40
    assert values["metrics"]["BLEU"]["difference"] == comparison.metrics[0].difference
    assert values["metrics"]["BLEU"]["significant"] is True


def test_both_systems_need_every_line() -> None:
    with pytest.raises(DataError, match="39 hypotheses of the system but 40 references"):
        compare(BASELINE, SYSTEM[1:], REFERENCES)
    with pytest.raises(DataError, match="38 hypotheses of the baseline but 40 references"):
        compare(BASELINE[2:], SYSTEM, REFERENCES)
