"""Scores as tables: with lines and colour on a terminal, plain in a file."""

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from allyouneed.evaluation.comparison import Comparison
    from allyouneed.evaluation.metrics import MetricScore
    from allyouneed.evaluation.report import Evaluation

FILE_WIDTH = 160  # columns of a table that is not shown on a terminal


def print_table(table: Table) -> None:
    """A table on standard output."""
    width = None if sys.stdout.isatty() else FILE_WIDTH
    Console(file=sys.stdout, width=width, highlight=False).print(table)


def evaluation_table(evaluation: "Evaluation", title: str) -> Table:
    """One row for each metric: score, 95 % interval, signature."""
    table = Table(title=f"{title}, {evaluation.sentences:,} sentences", title_justify="left")
    for name in ("metric", "score", "95 % interval", "signature"):
        table.add_column(name, overflow="fold", justify="right" if name == "score" else "left")
    for score in evaluation.scores:
        table.add_row(score.metric, f"{score.score:.2f}", interval(score), score.signature)
    return table


def comparison_table(comparison: "Comparison", baseline: str, system: str) -> Table:
    """One row for each metric: both systems, their difference, whether it is significant."""
    title = f"{system} against {baseline}, {comparison.sentences:,} sentences"
    table = Table(title=title, title_justify="left")
    for name in ("metric", "baseline", "system", "difference", "p", "significant", "signature"):
        table.add_column(name, overflow="fold", justify="left" if name == "signature" else "right")
    for one in comparison.metrics:
        table.add_row(
            one.system.metric,
            f"{one.baseline.score:.2f} ({interval(one.baseline)})",
            f"{one.system.score:.2f} ({interval(one.system)})",
            f"{one.difference:+.2f}",
            f"{one.p_value:.3f}",
            "yes" if one.significant else "no",
            one.system.signature,
        )
    return table


def interval(score: "MetricScore") -> str:
    """Mean over the resamples and half the width of the 95 % interval."""
    return "" if score.mean is None else f"{score.mean:.2f} ± {score.margin:.2f}"
