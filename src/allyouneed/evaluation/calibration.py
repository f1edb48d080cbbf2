"""Logistic regression, which turns signals into probabilities, and measures of how good these
probabilities are.

N examples · F signals · K = F + 1, the bias first
"""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allyouneed.errors import DataError

FOLDS = 5
BINS = 10
STEPS = 50  # at most; Newton's method converges in far fewer
RIDGE = 1.0  # the penalty on the weights w of standardised signals is RIDGE / 2 · w², in nats

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a number for each translation tells acceptable translations from others.

    `auroc` is the probability that an acceptable translation has a higher number than another one;
    None if all translations are acceptable, or none is. `spearman` is the rank correlation of the
    numbers with the metric that decided what is acceptable. `ece` is the expected calibration error
    over ten equal intervals (Naeini et al. 2015); None for numbers that are not probabilities.
    """

    auroc: float | None
    spearman: float
    ece: float | None = None

    def to_dict(self) -> dict[str, float | None]:
        """All fields by name, for JSON."""
        return asdict(self)


def fitted(signals_NF: ArrayLike, accepted_N: ArrayLike) -> tuple[float, ...]:
    """The weights K of a logistic regression, found by Newton's method. A ridge penalty on the
    standardised signals keeps the weights small (Hastie et al. 2009, section 4.4).

    Raises:
        DataError: all examples are accepted, or none is, so that there is nothing to tell apart.
    """
    x_NF = np.asarray(signals_NF, np.float64)
    y_N = np.asarray(accepted_N, np.float64)
    if len(y_N) == 0 or y_N.min() == y_N.max():
        kind = "acceptable" if len(y_N) and y_N[0] else "not acceptable"
        raise DataError(
            f"all {len(y_N)} examples are {kind}; calibrating needs both kinds: give more pairs, "
            "or another threshold"
        )
    mean_F, spread_F = x_NF.mean(0), x_NF.std(0)
    spread_F = np.where(spread_F > 0, spread_F, 1.0)
    x_NK = np.column_stack([np.ones(len(x_NF)), (x_NF - mean_F) / spread_F])
    ridge_K = np.array([0.0, *([RIDGE] * x_NF.shape[1])])
    weights_K = np.zeros(x_NK.shape[1])
    for _ in range(STEPS):
        p_N = sigmoid(x_NK @ weights_K)
        slope_K = x_NK.T @ (p_N - y_N) + ridge_K * weights_K
        bend_KK = (x_NK * (p_N * (1 - p_N))[:, None]).T @ x_NK + np.diag(ridge_K + 1e-9)
        step_K = np.linalg.solve(bend_KK, slope_K)
        weights_K -= step_K
        if np.abs(step_K).max() < 1e-8:
            break
    slopes_F = weights_K[1:] / spread_F
    return (float(weights_K[0] - slopes_F @ mean_F), *map(float, slopes_F))


def held_out(signals_NF: ArrayLike, accepted_N: ArrayLike) -> Floats:
    """The probability N of each example, from a regression fitted without the example's fold."""
    x_NF, y_N = np.asarray(signals_NF, np.float64), np.asarray(accepted_N, np.float64)
    folds_N = np.random.default_rng(0).permutation(len(y_N)) % FOLDS
    p_N = np.empty(len(y_N))
    for fold in range(FOLDS):
        bias, *slopes = fitted(x_NF[folds_N != fold], y_N[folds_N != fold])
        p_N[folds_N == fold] = sigmoid(x_NF[folds_N == fold] @ np.array(slopes) + bias)
    return p_N


def quality(
    numbers_N: ArrayLike, accepted_N: ArrayLike, metric_N: ArrayLike, *, probable: bool = True
) -> Quality:
    """The quality of the numbers. `probable` says that they are probabilities."""
    numbers_N, accepted_N = np.asarray(numbers_N, np.float64), np.asarray(accepted_N, bool)
    ranks_N = _ranks(numbers_N)
    yes, no = int(accepted_N.sum()), int((~accepted_N).sum())
    auroc = None
    if yes and no:
        auroc = float((ranks_N[accepted_N].sum() - yes * (yes + 1) / 2) / (yes * no))
    spearman = _correlation(ranks_N, _ranks(np.asarray(metric_N, np.float64)))
    return Quality(auroc, spearman, expected_error(numbers_N, accepted_N) if probable else None)


def expected_error(p_N: Floats, accepted_N: NDArray[np.bool_]) -> float:
    """The expected calibration error: the distance between the mean probability in an interval and
    the share of accepted examples there, averaged over the examples."""
    bins_N = np.minimum((p_N * BINS).astype(int), BINS - 1)
    error = 0.0
    for number in range(BINS):
        inside_N = bins_N == number
        if inside_N.any():
            error += abs(p_N[inside_N].mean() - accepted_N[inside_N].mean()) * inside_N.mean()
    return float(error)


def sigmoid(odds_N: Floats) -> Floats:
    """The probabilities N of these log-odds."""
    return np.asarray(0.5 * (1 + np.tanh(odds_N / 2)), np.float64)


def _ranks(numbers_N: Floats) -> Floats:
    """Ranks from 1. Equal numbers all get the mean of their ranks."""
    _, inverse_N, count_U = np.unique(numbers_N, return_inverse=True, return_counts=True)
    last_U = np.cumsum(count_U)
    return np.asarray((last_U - (count_U - 1) / 2)[inverse_N], np.float64)


def _correlation(a_N: Floats, b_N: Floats) -> float:
    if len(a_N) < 2 or a_N.std() == 0 or b_N.std() == 0:
        return 0.0
    return float(np.corrcoef(a_N, b_N)[0, 1])
