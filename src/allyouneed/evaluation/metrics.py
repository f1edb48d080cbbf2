"""BLEU and chrF of whole test sets, as sacreBLEU computes them, with their signatures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import sacrebleu

from allyouneed.checks import expect, expect_list
from allyouneed.errors import DataError

RESAMPLES = 1_000
"""How often the test set is resampled, with replacement, for an interval or a comparison."""


class _CharacterF(sacrebleu.CHRF):
    """chrF whose resamples all have one number type.

    sacreBLEU returns 0 in another type for a resample without any match, and then fails to compute
    the mean.
    """

    def _compute_f_score(self, statistics: Any) -> Any:
        score = super()._compute_f_score(statistics)
        return statistics.dtype.type(score) if isinstance(statistics, np.ndarray) else score


METRICS: Mapping[str, Callable[[], Any]] = {
    "BLEU": lambda: sacrebleu.BLEU(force=True),
    "BLEU lower-cased": lambda: sacrebleu.BLEU(lowercase=True, force=True),
    "chrF": _CharacterF,
}
"""The maker of each metric, by name. `force` only silences a warning about tokenised text, which
`evaluate` gives as a note."""


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One metric over a test set.

    `score` is from 0 to 100. `mean` is the mean score of the resamples, and `mean` ± `margin` is
    the 95 % interval; both are None without resamples. `signature` records how the score was
    computed, so that only comparable figures are compared (Post 2018).
    """

    metric: str
    score: float
    signature: str
    mean: float | None = None
    margin: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary, for JSON."""
        return asdict(self)


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    lowercase: bool = False,
    resamples: int = RESAMPLES,
) -> MetricScore:
    """BLEU (Papineni et al. 2002) with sacreBLEU's tokenizer 13a, cased unless `lowercase`.

    With fewer than 2 `resamples` the score has no interval.

    Raises:
        DataError: no sentences, or the numbers of lines differ.
    """
    return measure("BLEU lower-cased" if lowercase else "BLEU", hypotheses, references, resamples)


UNSPACED = ("ja", "th", "zh")
"""Languages whose words no spaces separate: BLEU counts their characters."""


def bleu_by_direction(
    hypotheses: Sequence[str], references: Sequence[str], directions: Sequence[tuple[str, str]]
) -> dict[str, float]:
    """BLEU of each direction, such as "en-de"; for targets without spaces, BLEU of characters."""
    scores = {}
    for source, target in dict.fromkeys(directions):
        here = [n for n, direction in enumerate(directions) if direction == (source, target)]
        characters = target.partition("-")[0] in UNSPACED
        metric = sacrebleu.BLEU(tokenize="char" if characters else "13a", force=True)
        found = metric.corpus_score([hypotheses[n] for n in here], [[references[n] for n in here]])
        scores[f"{source}-{target}"] = float(found.score)
    return scores


def chrf(
    hypotheses: Sequence[str], references: Sequence[str], *, resamples: int = RESAMPLES
) -> MetricScore:
    """chrF2 over character n-grams up to n = 6 (Popović 2015). Otherwise as `bleu`."""
    return measure("chrF", hypotheses, references, resamples)


def measure(
    metric: str, hypotheses: Sequence[str], references: Sequence[str], resamples: int = RESAMPLES
) -> MetricScore:
    """The score by the metric of this name in `METRICS`. Arguments and errors as in `bleu`."""
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
    """Raises DataError unless there is one reference for each hypothesis, and at least one; and
    UsageError for what is not a list of texts."""
    for name, texts in ((what, hypotheses), ("references", references)):
        expect_list(texts, name, "a list of texts")
        for text in texts:
            expect(text, str, f"a text of {name}", "a str")
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses):,} {what} but {len(references):,} references; "
            "line n of one file must translate line n of the other"
        )
    if not references:
        raise DataError("there are no sentences to score; the files are empty")
