"""Paired comparison of two systems: is their difference larger than chance? (Koehn 2004)"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.significance import PairedTest

from allyouneed.evaluation.metrics import METRICS, RESAMPLES, MetricScore, check_line_counts

LEVEL = 0.05
"""A difference with a p-value below this is called significant."""


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """Two systems by one metric.

    `p_value` is computed by sacreBLEU. Both systems are scored on the same resampled test sets. For
    each resample, the absolute difference of the two scores is taken. The p-value is the share of
    resamples whose absolute difference exceeds the mean absolute difference by more than the
    difference on the test set itself; 1 is added to both counts. A two-sided test would subtract
    the mean before taking absolute values. This test is therefore nearer to a one-sided test: if
    the difference has the same sign on all resamples, the p-value is about half as large.
    """

    baseline: MetricScore
    system: MetricScore
    p_value: float

    @property
    def difference(self) -> float:
        """The system's score minus the baseline's score, in points."""
        return self.system.score - self.baseline.score

    @property
    def significant(self) -> bool:
        """Whether the p-value is below 0.05.

        A difference of 0 is never significant, although sacreBLEU gives it a small p-value.
        """
        return self.difference != 0 and self.p_value < LEVEL

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary, for JSON."""
        return {
            "baseline": self.baseline.to_dict(),
            "system": self.system.to_dict(),
            "difference": self.difference,
            "p_value": self.p_value,
            "significant": self.significant,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same test set, compared by every metric."""

    sentences: int
    metrics: tuple[MetricComparison, ...]

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary, for JSON, with one entry per metric's name."""
        return {
            "sentences": self.sentences,
            "metrics": {one.system.metric: one.to_dict() for one in self.metrics},
        }


def compare(
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[str],
    *,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Two systems' translations of the same sentences, compared by paired bootstrap resampling.

    Raises:
        DataError: no sentences, or the numbers of lines differ.
    """
    check_line_counts(baseline, references, "hypotheses of the baseline")
    check_line_counts(system, references, "hypotheses of the system")
    metrics = tuple(_compare(name, baseline, system, references, resamples) for name in METRICS)
    return Comparison(len(references), metrics)


def _compare(
    metric: str,
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[str],
    resamples: int,
) -> MetricComparison:
    named: list[tuple[str, Sequence[str]]] = [("baseline", baseline), ("system", system)]
    test = PairedTest(named, {metric: METRICS[metric]()}, [references], "bs", resamples)
    signatures, columns = test()
    ((name, signature),) = signatures.items()
    results: list[Any] = columns[name]
    scores = [
        MetricScore(metric, result.score, str(signature), float(result.mean), float(result.ci))
        for result in results
    ]
    return MetricComparison(scores[0], scores[1], float(results[1].p_value))
