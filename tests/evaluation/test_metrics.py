"""Scores against sacreBLEU's own command, and what happens with input that cannot be scored."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from allyouneed.errors import DataError
from allyouneed.evaluation.metrics import MetricScore, bleu, chrf
from allyouneed.evaluation.report import evaluate

WORDS = [
    "der",
    "die",
    "ein",
    "Mann",
    "Frau",
    "fährt",
    "läuft",
    "im",
    "Park",
    "auf",
    "Rad",
    ",",
    "rot",
]


def sentences(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(4, 12))) + "." for _ in range(count)]


def worsened(texts: list[str], share: float, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [
        " ".join(chance.choice(WORDS) if chance.random() < share else word for word in text.split())
        for text in texts
    ]


REFERENCES = sentences(60, seed=1)
HYPOTHESES = [text.upper() if n % 5 == 0 else text for n, text in enumerate(REFERENCES)]
HYPOTHESES = worsened(HYPOTHESES, 0.2, seed=2)


def sacrebleu_command(folder: Path, *options: str) -> dict[str, str | float]:
    """What `sacrebleu` prints for the same lines."""
    (folder / "references").write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    (folder / "hypotheses").write_text("\n".join(HYPOTHESES) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "references", "-i", "hypotheses"]
    command += ["--width", "6", "--confidence", "-f", "json", *options]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    printed: dict[str, str | float] = json.loads(run.stdout)
    return printed


def numbers_of(ours: MetricScore) -> list[float | None]:
    return [ours.score, ours.mean, ours.margin]


def printed_numbers(theirs: dict[str, str | float]) -> Any:
    names = ("score", "confidence_mean", "confidence_var")
    return pytest.approx([theirs[name] for name in names], abs=1e-6)


def test_bleu_is_what_sacrebleu_prints(tmp_path: Path) -> None:
    ours, theirs = bleu(HYPOTHESES, REFERENCES), sacrebleu_command(tmp_path, "-m", "bleu")
    assert numbers_of(ours) == printed_numbers(theirs)
    assert ours.signature == theirs["signature"]


def test_lower_cased_bleu_is_what_sacrebleu_prints(tmp_path: Path) -> None:
    ours = bleu(HYPOTHESES, REFERENCES, lowercase=True)
    theirs = sacrebleu_command(tmp_path, "-m", "bleu", "--lowercase")
    assert numbers_of(ours) == printed_numbers(theirs)
    assert ours.signature == theirs["signature"]
    assert ours.score > bleu(HYPOTHESES, REFERENCES).score + 1
    assert "case:lc" in ours.signature


def test_chrf_is_what_sacrebleu_prints(tmp_path: Path) -> None:
    ours, theirs = chrf(HYPOTHESES, REFERENCES), sacrebleu_command(tmp_path, "-m", "chrf")
    assert numbers_of(ours) == printed_numbers(theirs)
    assert ours.signature == theirs["signature"]


def test_the_interval_is_seeded_and_holds_the_score() -> None:
    one, other = (bleu(HYPOTHESES, REFERENCES, resamples=200) for _ in range(2))
    assert one == other
    assert one.mean is not None
    assert one.margin is not None
    assert 0 < one.margin < 15
    assert abs(one.score - one.mean) < one.margin
    assert "bs:200|seed:12345" in one.signature


def test_resamples_without_a_single_match() -> None:
    """Of two sentences, one empty, some resamples have nothing but the empty one."""
    score = chrf(["Guten Tag.", ""], ["Guten Tag.", "Auf Wiedersehen."])
    assert score.margin is not None
    assert score.margin > 10
    assert 0 < score.score < 100


def test_without_resamples_there_is_no_interval() -> None:
    score = bleu(HYPOTHESES, REFERENCES, resamples=0)
    assert (score.mean, score.margin) == (None, None)
    assert "bs:" not in score.signature


def test_a_perfect_system_scores_a_hundred() -> None:
    scores = evaluate(REFERENCES, REFERENCES, resamples=20).scores
    assert [score.metric for score in scores] == ["BLEU", "BLEU lower-cased", "chrF"]
    assert [score.score for score in scores] == pytest.approx([100, 100, 100])


def test_evaluation_becomes_json() -> None:
    values = json.loads(json.dumps(evaluate(HYPOTHESES, REFERENCES, resamples=20).to_dict()))
    assert values["sentences"] == 60
    assert set(values["scores"]["chrF"]) == {"metric", "score", "signature", "mean", "margin"}
    assert values["notes"] == []


def test_tokenised_text_is_noted() -> None:
    tokenised = [f"{text.removesuffix('.')} ." for text in HYPOTHESES]
    (note,) = evaluate(tokenised, REFERENCES, resamples=0).notes
    assert note.startswith("60 of 60 hypotheses end in ' .'")


def test_line_counts_must_agree() -> None:
    with pytest.raises(DataError, match="59 hypotheses but 60 references"):
        evaluate(HYPOTHESES[1:], REFERENCES)


def test_no_lines_are_no_test_set() -> None:
    with pytest.raises(DataError, match="no sentences"):
        bleu([], [])
