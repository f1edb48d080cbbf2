"""The benchmark of decoding runs from end to end, and tells what it measures."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ENGINES = ("core", "ctranslate2-int8", "ctranslate2-float32", "huggingface")
pytest.importorskip("ctranslate2", reason="the extra interop is not installed")
pytest.importorskip("transformers", reason="the extra interop is not installed")


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "decode.py", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_every_engine_in_every_cell(tmp_path: Path) -> None:
    done = run("--quick", "--engines", ",".join(ENGINES), "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "peak memory" in done.stderr
    [path] = tmp_path.glob("decode-*.json")
    document = json.loads(path.read_text("utf-8"))
    results = document["results"]
    cells = ("1x1", "2x4", "everyday-1", "everyday-4")
    assert [(r["cell"], r["engine"]) for r in results] == [(c, e) for c in cells for e in ENGINES]
    for result in results:
        natural = result["cell"].startswith("everyday")
        assert result["sentences_per_second"][0] > 0
        assert result["over"].keys() == set(ENGINES) - {"core", result["engine"]}
        assert natural or result["target_tokens"] == 6 * result["sentences"]
        assert not natural or result["quality"]["BLEU"]["score"] == pytest.approx(100)
        assert natural == (result["ms_per_step"] is None)
        assert not sys.platform.startswith("linux") or result["peak_mib"] > 1
        assert f"│ {result['engine']} " in done.stdout
    [core, *_] = (r for r in results if r["cell"] == "everyday-4")
    agreed = core["quality"]["against ctranslate2-float32"]
    assert agreed == {"sentences": 4, "same": 4, "worse": 0, "better": 0}
    assert document["machine"]["processor"]
    table = path.with_suffix(".md").read_text("utf-8")
    assert table.count("\n| ") == 1 + len(results)
    assert document["machine"]["processor"] in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--engines", "marian"),
            "'marian' is not one of cpu-int8, cpu-float32, core, ctranslate2",
        ),
        (("--cells", "1x3"), "'1x3' is not one of 1x1, 1x4,"),
        (("--rounds", "0"), "--rounds and --cores must be at least 1"),
    ],
)
def test_calls_that_are_wrong(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_floor_of_the_base_shape() -> None:
    from contest import cells, floor, models

    base = models.BASE_SHAPE
    weights = 6 * (6 * 512**2 + 2 * 512 * 2048) + 512 * 32_000
    assert floor.decoder_weights(base) == weights
    small, large = cells.forced_cells([(1, 1), (128, 4)], 32_000, 25)
    assert floor.step_bytes(base, small) == weights + (13 + 25) * 2 * 512 * 2 * 6
    # The encoder's 25 tokens count beside the decoder's 25 steps.
    encoder = 6 * (4 * 512**2 + 2 * 512 * 2048) + 6 * 2 * 512**2
    assert floor.cell_operations(base, small, 25) == 2 * 25 * (
        weights + len(small.sources) * encoder
    )
    assert floor.step_bytes(base, large) == weights + 128 * (4 * 13 + 25) * 2 * 512 * 2 * 6


def test_cells_have_two_batches_for_each_of_two_workers() -> None:
    from contest import cells

    forced = list(cells.forced_cells(cells.SHAPES, 32_000, 25))
    assert [cell.name for cell in forced] == ["1x1", "1x4", "8x1", "8x4", "32x1", "32x4", "128x4"]
    assert all(cell.batches >= 4 for cell in forced)
    assert {len(ids) for cell in forced for ids in cell.sources} == {25}
    assert {ids[-1] for cell in forced for ids in cell.sources} == {2}
    assert len({tuple(ids) for ids in forced[-1].sources}) == 4 * 128


def test_lines_are_put_together_again() -> None:
    from contest import cells

    from allyouneed.model_folder.folder import open_model_folder

    folder = open_model_folder("en-de")
    lines = ["A dog.", "", "  " + "It is late and we go home. " * 12]
    test_set = cells.TestSet.of("lines", lines, lines, folder)
    assert len(test_set.sources) > 3
    parts = [folder.tokenizer.decode(ids) for ids in test_set.sources]
    assert test_set.texts(parts) == lines


class Fixed:
    """An engine that gives each sentence so many tokens."""

    name, description, slow = "fixed", "", False

    def __init__(self, tokens: int, dropped: int = 0) -> None:
        self.tokens, self.dropped = tokens, dropped

    def layouts(self, cores: int) -> list[tuple[int, int]]:
        return [(2, 1), (1, 2)]

    def batches(self, cell: Any) -> list[tuple[int, str]]:
        return [(cell.batch, "examples")]

    def share(self, cell: Any) -> Any:
        return cell

    def run(self, cell: Any, setting: Any, scores: bool = False) -> Any:
        return cell.sources[self.dropped :]

    def read(self, cell: Any, raw: Any) -> Any:
        from contest.runners import Found

        return [Found([5] * self.tokens, self.tokens, -1.0) for _ in raw]


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        (Fixed(24), "8x4: fixed gave 24 tokens, not 25"),
        (Fixed(25, dropped=1), "8x4: fixed translated 63 sentences of 64"),
    ],
)
def test_less_work_ends_the_run(engine: Fixed, message: str) -> None:
    from contest import cells
    from contest.measure import measure

    [cell] = cells.forced_cells([(8, 4)], 100, 25)
    with pytest.raises(SystemExit, match=message):
        measure(cell, [engine], 2, 1)


def test_hypotheses_are_compared_by_score() -> None:
    from contest import cells
    from contest.measure import agreement, tried_out
    from contest.runners import Found

    [cell] = cells.forced_cells([(8, 4)], 100, 25)
    one, other = (tried_out(Fixed(tokens), cell, 2) for tokens in (25, 24))
    assert (agreement(one, one).same, agreement(one, other).same) == (64, 0)
    scores = iter((-1.5, -0.5, -1.0))
    one.runner.read = lambda cell, raw: [Found([1], 1, score) for score in scores]  # type: ignore[method-assign]
    other.cell = replace(cell, sources=cell.sources[:3])
    compared = agreement(one, other)
    assert (compared.worse, compared.better, compared.same) == (1, 1, 0)
