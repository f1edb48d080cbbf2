"""The benchmark of quality runs from end to end, and its bars can be missed."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAIRS = [
    ("Good morning!", "Guten Morgen!"),
    ("Where is the train station?", "Wo ist der Bahnhof?"),
    ("My sister lives in Berlin.", "Meine Schwester lebt in Berlin."),
    ("The children are playing in the garden.", "Die Kinder spielen im Garten."),
]
pytest.importorskip("ctranslate2", reason="the extra interop is not installed")


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Test sets and training pairs, but a few lines."""
    from contest import cells, questions

    files = {questions.TRAINED_ON: ["\t".join(pair) for pair in PAIRS] * 4}
    for name in cells.SETS.values():
        for side, lines in zip(("en", "de"), zip(*PAIRS, strict=True), strict=True):
            files[Path(f"{name}.{side}.gz")] = list(lines)
    for path, lines in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    return tmp_path


def run(data: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "quality.py", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "ALLYOUNEED_DATA": str(data)},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_every_question_is_answered(data: Path, tmp_path: Path) -> None:
    from allyouneed.engine.choice import choose
    from allyouneed.errors import UsageError
    from allyouneed.model_folder.folder import open_model_folder

    try:
        choose("cpu-float32", open_model_folder("en-de"))
    except UsageError as error:
        pytest.skip(str(error))
    done = run(data, "--sentences", 3, "--cores", 1, "--results", tmp_path / "results")
    assert done.returncode == 0, done.stderr
    [path] = (tmp_path / "results").glob("quality-*.json")
    document = json.loads(path.read_text("utf-8"))
    results = document["results"]
    assert document["sentences"] == {"test2016": 3, "newstest2013": 3}
    assert document["machine"]["cores_used"] == 1
    assert "tok:13a" in document["signatures"]["BLEU"]
    assert document["signatures"]["BLEU"] in done.stdout
    asked = {(r["question"], r["engine"]): r for r in results if r["beam"] == 4}
    assert len(results) == 2 * 2 * (3 + 2 + 2 + 1)
    assert all(r["met"] for r in results if "bar" in r)
    assert {name for name, r in asked.items() if "bar" not in r} == {
        ("metrics", "core"), ("selection", "cpu-int8")
    }  # fmt: skip
    assert asked["metrics", "cpu-int8"]["figures"]["BLEU"] == pytest.approx(100)
    assert asked["ctranslate2", "cpu-float32"]["figures"]["same"] == 1
    assert asked["neighbours", "cpu-int8"]["figures"]["same"] == 1
    selected = asked["selection", "cpu-int8"]["figures"]
    assert 256 < selected["pieces"] < 1000
    assert 0 < selected["covered"] <= 1
    assert selected["times as fast"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--questions", "speed"), "'speed' is not one of metrics, ctranslate2, neighbours,"),
        (("--sentences", "0"), "--cores and --sentences must be at least 1"),
    ],
)
def test_calls_that_are_wrong(arguments: Sequence[str], message: str, tmp_path: Path) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_data_that_are_not_there(tmp_path: Path) -> None:
    done = run(tmp_path, "--results", tmp_path)
    assert done.returncode == 1
    assert "newstest2013 and test2016 are missing; set ALLYOUNEED_DATA" in done.stderr
    assert list(tmp_path.iterdir()) == []


class Moody:
    """An engine whose every result depends on how many sentences it is given."""

    workers = 1

    def __init__(self, moved: float, words: int) -> None:
        self.moved, self.words = moved, words

    def search(self, sources: Sequence[Sequence[int]], options: Any) -> Any:
        from allyouneed.decoding.hypothesis import Hypothesis

        more = len(sources) > 1
        ids = (5 + more * self.words, 2)
        found = Hypothesis(ids, (-0.5, -0.5), -1.0, -0.5 - more * self.moved, finished=True)
        return [[found] for _ in sources]


@pytest.mark.parametrize(
    ("moved", "words", "met"), [(0, 0, True), (5e-5, 0, True), (2e-4, 0, False), (0, 1, False)]
)
def test_neighbours_that_disturb_are_seen(
    moved: float, words: int, met: bool, tmp_path: Path
) -> None:
    from contest import cells
    from contest.questions import Questions

    from allyouneed.model_folder.folder import open_model_folder

    asked = Questions(tmp_path, 1)
    asked.runner = lambda name: type("Runner", (), {"engine": Moody(moved, words)})  # type: ignore
    sources, targets = ([*side] for side in zip(*PAIRS, strict=True))
    test_set = cells.TestSet.of("everyday", sources, targets, open_model_folder("en-de"))
    for row in asked.neighbours(test_set, 1):
        assert row["met"] == met
        assert row["figures"]["same"] == (not words)
        assert row["figures"]["largest difference of scores"] == pytest.approx(moved)
