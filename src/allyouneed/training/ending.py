"""Why a run ends, and how near its end is."""

from dataclasses import dataclass

from allyouneed.training.recipe.sections import TrainingSection
from allyouneed.training.state import State


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


def planned_steps(training: TrainingSection, epoch_updates: int) -> int | None:
    """The most updates that a run makes by its recipe; None where nothing but time limits them."""
    ends = (training.steps, training.epochs and training.epochs * epoch_updates)
    return min((end for end in ends if end), default=None)


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
