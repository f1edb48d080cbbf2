"""What a search finds."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One way to continue: ids without `start`, ending in `end` if it is finished.

    `token_log_probabilities` (natural logarithm) has one value for each id, the end's and those
    of a forced prefix among them; `log_probability` is their sum. `score` is what hypotheses are
    ranked by: with beam search `log_probability` over the length penalty, else the same number.
    `attention_TS` is how much each id looked at each source id, where the search was asked for it
    and its engine can tell; T target length, S source length, their ends among them.
    """

    ids: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    log_probability: float
    score: float
    finished: bool
    attention_TS: "NDArray[np.float32] | None" = field(default=None, compare=False, repr=False)
