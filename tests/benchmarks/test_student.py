"""The benchmark of a student beside its teacher, on few sentences."""

from pathlib import Path

import pytest

from allyouneed import load

ROOT = Path(__file__).parents[2]
TEXTS = ["A man rides a bike.", "Two dogs play in the snow.", "A woman is reading a book."]


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def test_a_student_that_is_its_teacher_loses_nothing_and_gains_nothing() -> None:
    from student import measured

    model = load("en-de", "cpu-int8", threads=1)
    own = [one.text for one in model(TEXTS, beam=4)]
    found = measured(model, model, TEXTS, own, rounds=3)
    assert found["bleu"]["teacher, beam 4"] == found["bleu"]["student, beam 4"] == 100
    assert found["bleu"]["student, beam 1"] <= 100
    assert list(found["cells"]) == ["1x1", "32x4"]
    for cell in found["cells"].values():
        assert len(cell["rounds"]) == 3
        assert 0.4 < cell["faster"] < 2.5


@pytest.mark.parametrize(
    ("score", "faster", "verdicts"),
    [(40.5, 2.0, ("met", "met")), (40.4, 1.9, ("NOT met", "NOT met"))],
)
def test_the_bars_are_told(score: float, faster: float, verdicts: tuple[str, str]) -> None:
    from contest import machine
    from student import in_words

    cell = {"teacher": 10.0, "student": 10 * faster, "faster": faster, "rounds": [faster]}
    lines = in_words(
        {
            "bleu": {"teacher, beam 4": 41.0, "student, beam 4": score},
            "cells": {"1x1": cell},
            "machine": machine.described(1),
        }
    )
    quality, speed = (line for line in lines if "at most" in line or "at least" in line)
    assert quality.endswith(f": {verdicts[0]})")
    assert speed.endswith(f": {verdicts[1]})")
