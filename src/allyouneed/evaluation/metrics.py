"""BLEU and chrF of whole test sets, as sacreBLEU computes them, with their signatures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import sacrebleu

from allyouneed.errors import DataError

RESAMPLES = 1_000
"""How often the test set is drawn anew, with replacement, for an interval or a comparison."""


class _CharacterF(sacrebleu.CHRF):
    """chrF whose resamples are numbers of one type: sacreBLEU gives 0 in another for one that has
    no match at all, and then cannot take their mean."""

    def _compute_f_score(self, statistics: Any) -> Any:
        score = super()._compute_f_score(statistics)
        return statistics.dtype.type(score) if isinstance(statistics, np.ndarray) else score


METRICS: Mapping[str, Callable[[], Any]] = {
    "BLEU": lambda: sacrebleu.BLEU(force=True),
    "BLEU lower-cased": lambda: sacrebleu.BLEU(lowercase=True, force=True),
    "chrF": _CharacterF,
}
"""By name, what makes each metric. `force` only stops a warning; `evaluate` gives it as a note."""


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One metric over a test set.

    `score` is from 0 to 100. Over the resamples its mean is `mean`, and the 95 % interval is
    `mean` ± `margin` (both None where nothing was resampled). `signature` says how it was
    computed, so that only like figures are compared (Post 2018).
    """

    metric: str
    score: float
    signature: str
    mean: float | None = None
    margin: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything in it, for JSON."""
        return asdict(self)


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    lowercase: bool = False,
    resamples: int = RESAMPLES,
) -> MetricScore:
    """BLEU (Papineni et al. 2002) with sacreBLEU's 13a tokens, cased unless `lowercase`.

    `resamples` below 2 leave the interval out.

    Raises:
        DataError: no sentences, or not one reference for each hypothesis.
    """
    return measure("BLEU lower-cased" if lowercase else "BLEU", hypotheses, references, resamples)


def chrf(
    hypotheses: Sequence[str], references: Sequence[str], *, resamples: int = RESAMPLES
) -> MetricScore:
    """chrF2 over character 6-grams (Popović 2015); otherwise as `bleu`."""
    return measure("chrF", hypotheses, references, resamples)


def measure(
    metric: str, hypotheses: Sequence[str], references: Sequence[str], resamples: int = RESAMPLES
) -> MetricScore:
    """A metric of `METRICS` by its name; otherwise as `bleu`."""
    check_line_counts(hypotheses, references)
    computed = METRICS[metric]()
    result = computed.corpus_score(list(hypotheses), [list(references)], n_bootstrap=resamples)
    signature = str(computed.get_signature())
    if resamples < 2:
        return MetricScore(metric, result.score, signature)
    return MetricScore(metric, result.score, signature, float(result._mean), float(result._ci))


def check_line_counts(
    hypotheses: Sequence[str], references: Sequence[str], what: str = "hypotheses"
) -> None:
    """Raises DataError unless there is one reference for each hypothesis, and at least one."""
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses):,} {what} but {len(references):,} references; "
            "each line of one belongs to the same line of the other"
        )
    if not references:
        raise DataError("there are no sentences to score; the files are empty")
