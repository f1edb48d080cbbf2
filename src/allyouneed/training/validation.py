"""Validation: what held-out data say of a model."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import torch
from torch import nn

from allyouneed.training.workers import ALONE, Workers


@dataclass(frozen=True, slots=True)
class Measured:
    """What held-out data say: `loss`, in nats, unsmoothed, a mean, and what the task makes of it; a
    task's `samples` are for the log alone, in lists as JSON has them."""

    loss: float

    @property
    def cost(self) -> float:
        """What the best model has the least of: the loss, unless the task has another measure."""
        return self.loss

    def record(self) -> dict[str, Any]:
        """The values for the log; `measures.py` defines how they are shown."""
        return asdict(self)

    def facts(self) -> dict[str, Any]:
        """The values for training.json."""
        return {
            f"validation_{name}": value
            for name, value in asdict(self).items()
            if name != "samples" and value is not None
        }


class Measuring(Protocol):
    """A task, as far as it is asked here."""

    def measure(self, model: Any, device: torch.device, workers: Workers) -> Measured: ...


@dataclass(frozen=True, slots=True)
class Validation(Measured):
    """Of a model that translates. `loss` is in nats per target token, unsmoothed, the end token
    counted; `bleu` is cased sacreBLEU with its `signature` (None where nothing was translated);
    samples are source, reference, hypothesis."""

    bleu: float | None
    signature: str | None
    samples: Sequence[list[str]]

    def facts(self) -> dict[str, Any]:
        """The values for training.json."""
        return {
            "validation_loss": self.loss,
            "validation_bleu": self.bleu,
            "signature": self.signature,
        }


@dataclass(frozen=True, slots=True)
class ByErrors(Measured):
    """Of a model that tells labels or tags. `loss` is in nats per label, `accuracy` the share of
    right ones, `f1` what the task says it is (None where accuracy is the measure); samples are
    text, label, what the model says."""

    accuracy: float
    f1: float | None
    samples: Sequence[list[str]]

    @property
    def cost(self) -> float:
        """1 - the measure; of models with equal measures, the lower loss costs less."""
        measure = self.accuracy if self.f1 is None else self.f1
        return 1 - measure + 1e-9 * self.loss


@torch.inference_mode()
def validate(
    model: nn.Module, task: Measuring, device: torch.device, workers: Workers = ALONE
) -> Measured:
    """Measures the model, in eval mode and float32, and leaves it in the mode it was in.

    Each worker measures on its share of the pairs; all have the same result.
    """
    was_training = model.training
    model.eval()
    try:
        return task.measure(model, device, workers)
    finally:
        model.train(was_training)
