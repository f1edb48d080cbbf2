"""The result of a search."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One translation found by a search: ids without `start`, ending in `end` if it is finished.

    `token_log_probabilities` (natural logarithms) has one value for each id, also for the end and
    for ids of a forced prefix. `log_probability` is their sum. Hypotheses are ranked by `score`:
    in beam search `log_probability` divided by the length penalty, otherwise `log_probability`.
    `attention_TS` is the attention of each target id to each source id, both with their ends. It is
    None unless the caller asked for it and the engine supports it.
    """

    ids: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    log_probability: float
    score: float
    finished: bool
    attention_TS: "NDArray[np.float32] | None" = field(default=None, compare=False, repr=False)
