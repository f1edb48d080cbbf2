"""Where a run stands, what has gathered since its last line of the log, and why it ended."""

import math
import time
from dataclasses import dataclass, field


@dataclass
class State:
    """Where a run stands; a checkpoint holds it.

    `data` is the key of the token store, which follows from all that the pairs follow from;
    `position` counts updates within the epoch; `threads` are those of the CPU, on whose number
    the last bit of a loss depends.
    """

    data: str
    threads: int
    step: int = 0
    epoch: int = 0
    position: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best_loss: float = math.inf
    best_step: int = 0
    validations_since_best: int = 0
    validated_step: int = 0


@dataclass
class Interval:
    """What has gathered since the last line of the log."""

    loss: float = 0.0
    tokens: int = 0
    steps: int = 0
    began: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run ended; it is not `complete` when a signal stopped it."""

    reason: str
    complete: bool = True
