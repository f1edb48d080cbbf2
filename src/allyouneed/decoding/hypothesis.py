"""What a search finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One way to continue: ids without `start`, ending in `end` if it is finished.

    `token_log_probabilities` (natural logarithm) has one value for each id, the end's and those
    of a forced prefix among them; `log_probability` is their sum. `score` is what hypotheses are
    ranked by: with beam search `log_probability` over the length penalty, else the same number.
    """

    ids: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    log_probability: float
    score: float
    finished: bool
