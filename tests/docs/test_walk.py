"""The figures of docs/explanation/map.md are near what tools/walk.py counts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from allyouneed.core.config import BASE
from allyouneed.engine.native import why_not

ROOT = Path(__file__).resolve().parents[2]
FIGURES = re.compile(r"(\d+) files(?:,| and) (\d+) calls between files")
NEAR = 0.2  # a change of the code may pass a file more; processors take different ways


@pytest.mark.skipif(why_not(BASE) is not None, reason="the native engine does not run here")
def test_the_map_has_the_figures_of_the_walk(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-B", ROOT / "tools" / "walk.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    page = (ROOT / "docs" / "explanation" / "map.md").read_text(encoding="utf-8")
    told, counted = (
        [int(figure) for pair in FIGURES.findall(text) for figure in pair]
        for text in (page, done.stdout)
    )
    assert len(counted) == 4
    assert told == pytest.approx(counted, rel=NEAR)
