"""Decides whether a run ends, and how much of it is done."""

from dataclasses import dataclass

from allyouneed.errors import counted
from allyouneed.training.recipe.sections import TrainingSection
from allyouneed.training.state import State


@dataclass(frozen=True, slots=True)
class Ending:
    """The reason why a run ended, and the number of the signal that stopped it early (0: none)."""

    reason: str
    signal: int = 0

    @property
    def complete(self) -> bool:
        """Whether the run reached the end that its recipe sets."""
        return not self.signal


def ending(training: TrainingSection, state: State) -> Ending | None:
    """The limit of the recipe that a run has reached in this state; None if it goes on."""
    if training.steps is not None and state.step >= training.steps:
        return Ending(f"{counted(training.steps, 'step')} done")
    if training.epochs is not None and state.epoch >= training.epochs:
        return Ending(f"{counted(training.epochs, 'epoch')} done")
    if training.max_minutes is not None and state.seconds >= 60 * training.max_minutes:
        passed = "minute has passed" if training.max_minutes == 1 else "minutes have passed"
        return Ending(f"{training.max_minutes:g} {passed}")
    if training.patience is not None and state.validations_since_best >= training.patience:
        return Ending(f"no better for {counted(training.patience, 'validation')}")
    return None


def planned_steps(training: TrainingSection, epoch_updates: int) -> int | None:
    """The largest number of updates that the recipe allows; None if only time limits them."""
    ends = (training.steps, training.epochs and training.epochs * epoch_updates)
    return min((end for end in ends if end), default=None)


def share_done(
    training: TrainingSection, state: State, epoch_updates: int, seconds: float
) -> float:
    """The share of a run that is done, measured by the limit that comes first. `epoch_updates` is
    the number of updates in this epoch, `seconds` the time since the run's beginning."""
    shares = []
    if training.steps:
        shares.append(state.step / training.steps)
    if training.epochs:
        shares.append((state.epoch + state.position / epoch_updates) / training.epochs)
    if training.max_minutes:
        shares.append(seconds / 60 / training.max_minutes)
    return min(1.0, max(shares))
