"""Sums over the updates since the last line of the log."""

import time
from dataclasses import dataclass, field

from allyouneed.training.gradient import Cost


@dataclass
class Interval:
    """Sums over updates, and the time when the first of them began."""

    loss: float = 0.0
    tokens: int = 0
    steps: int = 0
    began: float = field(default_factory=time.monotonic)

    def add(self, cost: Cost) -> None:
        """Adds one update."""
        self.loss += sum(cost.losses)
        self.tokens += cost.tokens
        self.steps += 1
