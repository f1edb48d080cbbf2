"""Tables of scores: with lines and colours on a terminal, plain in a file."""

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from allyouneed.engine.selection_learning import Coverage
    from allyouneed.evaluation.comparison import Comparison
    from allyouneed.evaluation.metrics import MetricScore
    from allyouneed.evaluation.report import Evaluation
    from allyouneed.evaluation.variety import Variety
    from allyouneed.insight.head_report import HeadReport

WIDE = 250  # columns of output to a file, wide enough for every table


def print_result(table: Table, scores: Iterable["MetricScore"]) -> None:
    """Prints a table of scores on standard output, and below it the signature of each score."""
    terminal = sys.stdout.isatty()
    console = Console(
        file=sys.stdout,
        highlight=False,
        markup=False,  # texts of the user may contain brackets and colons
        emoji=False,
        soft_wrap=not terminal,
        width=None if terminal else WIDE,
    )
    console.print(table)
    for score in scores:
        console.print(f"{score.metric}: {score.signature}", soft_wrap=True)


def evaluation_table(evaluation: "Evaluation", title: str) -> Table:
    """A table with a row for each metric: score and 95 % interval."""
    table = _table(
        f"{title}, {evaluation.sentences:,} sentences", "metric", "score", "95 % interval"
    )
    for score in evaluation.scores:
        table.add_row(score.metric, f"{score.score:.2f}", interval(score))
    return table


def comparison_table(comparison: "Comparison", baseline: str, system: str) -> Table:
    """A table with a row for each metric: both systems, the difference, and its significance."""
    title = f"{system} against {baseline}, {comparison.sentences:,} sentences"
    table = _table(title, "metric", "baseline", "system", "difference", "p", "significant")
    for one in comparison.metrics:
        table.add_row(
            one.system.metric,
            f"{one.baseline.score:.2f} ± {one.baseline.margin:.2f}",
            f"{one.system.score:.2f} ± {one.system.margin:.2f}",
            f"{one.difference:+.2f}",
            f"{one.p_value:.3f}" if one.difference else "-",
            "yes" if one.significant else "no",
        )
    return table


def coverage_table(covered: "Mapping[str, Coverage]", vocabulary: int, title: str) -> Table:
    """A table with a row for each set of pairs: the ids selected for a sentence, and the
    coverage."""
    table = _table(title, "pairs", "sentences", f"selected of {vocabulary:,}", "covered")
    for name, one in covered.items():
        selected = f"{one.selected:,.0f}"
        table.add_row(name, f"{one.sentences:,}", selected, f"{one.covered:.2%}")
    return table


def variety_table(found: "Mapping[str, Variety]", title: str) -> Table:
    """A table with a row for each set of replies: their variety, and the most frequent reply."""
    table = _table(title, "replies", "words", "distinct-1", "distinct-2", "commonest")
    for name, one in found.items():
        commonest = f"{one.commonest_share:.1%} {one.commonest}"
        table.add_row(
            name, f"{one.words:,}", f"{one.distinct_1:.3f}", f"{one.distinct_2:.3f}", commonest
        )
    return table


def head_table(report: "HeadReport", title: str) -> Table:
    """A table with a row for each head and a column for each measure."""
    if report.loss is not None and report.bleu is not None:
        title += f"; with all heads: loss {report.loss:.3f}, BLEU {report.bleu:.2f}"
    measures = report.measured()
    table = _table(title, "attention", "layer", "head", *(n.replace("_", " ") for n in measures))
    for column in table.columns:
        column.overflow = "fold"  # a narrow terminal folds texts and does not cut them
    for head in report.heads:
        values = (_measure(name, head.measures.get(name)) for name in measures)
        table.add_row(head.kind, str(head.layer), str(head.head), *values)
    return table


def _measure(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:+.3f}" if name.endswith("_change") else f"{value:.2f}"


def interval(score: "MetricScore") -> str:
    """The mean over the resamples ± half the width of the 95 % interval."""
    return "" if score.mean is None else f"{score.mean:.2f} ± {score.margin:.2f}"


def _table(title: str, first: str, *columns: str) -> Table:
    table = Table(title=Text(title), title_justify="left")
    table.add_column(first)
    for name in columns:
        table.add_column(name, justify="right")
    return table
