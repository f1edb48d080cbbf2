"""benchmarks/serve.py: how a figure stands to its bar and aim, and the parts in its help."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from load.clients import quantile  # noqa: E402
from load.rows import Row, table  # noqa: E402


@pytest.mark.parametrize(
    ("figure", "most", "kept"),
    [
        (1.0, False, "aim"),
        (0.8, False, "bar"),
        (0.7, False, "MISSED"),
        (0.5, True, "aim"),
        (0.7, True, "bar"),
        (0.8, True, "MISSED"),
    ],
)
def test_a_figure_reaches_the_aim_the_bar_or_neither(figure: float, most: bool, kept: str) -> None:
    bar, aim = (0.75, 0.6) if most else (0.75, 0.95)
    row = Row("share", figure, bar, aim, most)
    assert row.kept == kept
    assert table([row]).split("\n")[1].split()[-1] == kept


def test_a_row_without_a_bar_claims_nothing() -> None:
    assert Row("speed", 12.0).kept == ""
    assert table([Row("speed", 12.0)]).split("\n")[1].split() == ["speed", "12"]


def test_quantiles() -> None:
    assert [quantile([1.0, 2.0, 3.0, 4.0], share) for share in (0, 0.5, 0.99, 1)] == [1, 3, 4, 4]


def test_help_names_every_part() -> None:
    command = [sys.executable, str(BENCHMARKS / "serve.py"), "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for part in ("start", "clients", "half", "beside", "overload", "memory", "peers"):
        assert f"\n    {part} " in shown
