"""The lines of the log about training steps: loss, learning rate, speed."""

import time
from dataclasses import dataclass, field

from allyouneed.training.ending import share_done
from allyouneed.training.gradient import Cost
from allyouneed.training.trainee import Trainee


@dataclass
class _Sums:
    """Sums over updates, and the time when the first of them began."""

    loss: float = 0.0
    tokens: int = 0
    steps: int = 0
    began: float = field(default_factory=time.monotonic)


class StepLog:
    """Sums up updates, and writes a line of the log about them."""

    def __init__(self, trainee: Trainee) -> None:
        self._trainee = trainee
        self._sums = _Sums()

    def restart(self) -> None:
        """Forgets the updates so far. The next one is timed from now."""
        self._sums = _Sums()

    def add(self, cost: Cost) -> None:
        """Adds one update."""
        self._sums.loss += sum(cost.losses)
        self._sums.tokens += cost.tokens
        self._sums.steps += 1

    def write(self, epoch_updates: int, seconds: float) -> None:
        """Writes a line about the updates since the last line, if there are any. `epoch_updates` is
        the number of updates in this epoch, `seconds` the time since the run's beginning."""
        sums, self._sums = self._sums, _Sums()
        if not sums.steps:
            return
        trainee = self._trainee
        self._trainee.record(
            {
                "event": "step",
                "epoch": trainee.state.epoch,
                "loss": sums.loss / sums.tokens,
                "learning_rate": trainee.optimizer.param_groups[0]["lr"],
                "tokens_per_second": sums.tokens / (time.monotonic() - sums.began),
                "tokens": trainee.state.tokens,
                "unit": trainee.task.UNIT,
                "seconds": seconds,
                "share_done": share_done(
                    trainee.recipe.training, trainee.state, epoch_updates, seconds
                ),
            }
        )
