"""Where a run stands, what has gathered since its last line of the log, and why it ended."""

import math
import time
from dataclasses import dataclass, field
from typing import Any

from allyouneed.training.gradient import Cost
from allyouneed.training.sections import TrainingSection


@dataclass
class State:
    """Where a run stands; a checkpoint holds it.

    `data` and `valid` are the keys of the token stores of training and validation, which follow
    from all that their pairs follow from; `config` is the model's;
    `position` counts updates within the epoch; `threads` (of the CPU) and `workers` are numbers on
    which the last bit of a loss depends; `launcher` names the `torchrun` that started each worker;
    `best_loss` is the cost (`Measured.cost`) of the best model so far, of step `best_step`;
    `stopped`: a signal is why this was written, it is no checkpoint that the recipe asks for.
    """

    data: str
    valid: str
    config: dict[str, Any]
    threads: int
    workers: int = 1
    launcher: str = ""
    step: int = 0
    epoch: int = 0
    position: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best_loss: float = math.inf
    best_step: int = 0
    validations_since_best: int = 0
    validated_step: int = 0
    stopped: bool = False


@dataclass
class Interval:
    """What has gathered since the last line of the log."""

    loss: float = 0.0
    tokens: int = 0
    steps: int = 0
    began: float = field(default_factory=time.monotonic)

    def add(self, cost: Cost) -> None:
        """One more update."""
        self.loss += sum(cost.losses)
        self.tokens += cost.tokens
        self.steps += 1


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run ended, and the number of the signal that stopped it before its end (0: none)."""

    reason: str
    signal: int = 0

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return not self.signal


def ending(training: TrainingSection, state: State) -> Ending | None:
    """Why a run ends here by what its recipe says, or None."""
    if training.steps is not None and state.step >= training.steps:
        return Ending(f"{training.steps} steps done")
    if training.epochs is not None and state.epoch >= training.epochs:
        return Ending(f"{training.epochs} epochs done")
    if training.max_minutes is not None and state.seconds >= 60 * training.max_minutes:
        return Ending(f"{training.max_minutes:g} minutes are over")
    if training.patience is not None and state.validations_since_best >= training.patience:
        return Ending(f"no better for {training.patience} validations")
    return None


def share_done(
    training: TrainingSection, state: State, epoch_updates: int, seconds: float
) -> float:
    """How much of a run is behind it, by whichever limit comes first; `epoch_updates` are those of
    this epoch, `seconds` those since the run's beginning."""
    shares = []
    if training.steps:
        shares.append(state.step / training.steps)
    if training.epochs:
        shares.append((state.epoch + state.position / epoch_updates) / training.epochs)
    if training.max_minutes:
        shares.append(seconds / 60 / training.max_minutes)
    return min(1.0, max(shares))
