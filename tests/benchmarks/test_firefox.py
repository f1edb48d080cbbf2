"""The benchmark's models in the shapes of Firefox, and Bergamot, which they are compared in."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


@pytest.fixture
def model(tmp_path: Path) -> Any:
    from contest.models import Models

    return Models(tmp_path, quick=True)["tiny"]


def test_a_text_of_words_is_the_source_of_a_cell(model: Any) -> None:
    from contest import firefox

    tokenizer = model.opened().tokenizer
    [cell] = firefox.firefox_cells("tiny", [(8, 1)], 1_000, 25, None)
    assert (cell.name, cell.batches) == ("tiny-8x1", 8)
    for source in cell.sources[:8]:
        text = tokenizer.decode(source[:-1])
        assert len(source) == 25
        assert tokenizer.encode(text).ids == source


def test_words_are_drawn_by_rank() -> None:
    import numpy as np
    from contest import firefox

    ids = firefox.drawn(np.random.default_rng(0), 10_000, firefox.PIECES)
    counts = np.bincount(ids, minlength=firefox.PIECES)
    assert counts[: firefox.WORDS].sum() == 0
    assert counts[firefox.WORDS] / counts[firefox.WORDS + 9] == pytest.approx(10, rel=0.3)
    assert ids.max() < firefox.PIECES


def test_the_selection_leaves_most_of_the_vocabulary_out(tmp_path: Path) -> None:
    from contest import firefox
    from contest.models import Models

    model = Models(tmp_path, quick=True)["memory"]
    selection = firefox.selection_of(model.opened().tokenizer)
    [row] = selection.rows([[500, 700, 0]])
    assert {500, 700, 0, 1_000} <= set(row.tolist())
    assert firefox.FREQUENT < len(row) < 300


def test_without_bergamot_its_name_says_what_to_do(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contest.runners import make_runner

    from allyouneed.errors import UsageError

    monkeypatch.delenv("ALLYOUNEED_BERGAMOT", raising=False)
    with pytest.raises(UsageError, match="ALLYOUNEED_BERGAMOT does not name a Python with"):
        make_runner("bergamot", model, 1)


@pytest.mark.slow
@pytest.mark.skipif("ALLYOUNEED_BERGAMOT" not in os.environ, reason="Bergamot is not installed")
def test_bergamot_decodes_the_cells(model: Any) -> None:
    from contest import firefox
    from contest.measure import check_tokens, measure
    from contest.runners import make_runner

    cells = firefox.firefox_cells("tiny", [(1, 1), (2, 4)], 1_000, 6, 4)
    runners = [make_runner(name, model, 1) for name in ("cpu-int8", "bergamot")]
    for cell in cells:
        for measured in measure(cell, runners, 1, 1).values():
            check_tokens(measured)
            assert len(measured.found) == len(cell.sources)


def test_the_process_of_bergamot_says_what_is_missing() -> None:
    program = ROOT / "benchmarks" / "contest" / "bergamot_process.py"
    done = subprocess.run(
        [sys.executable, "-I", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "the package bergamot is not installed here\n")
