"""Validation: measures a model on held-out data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import torch
from torch import nn

from allyouneed.training.workers import ALONE, Workers

BY_DIRECTION = ("bleu_by_direction", "loss_by_direction")


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a validation. `loss` is the mean loss in nats, without label smoothing. Tasks
    add measures of their own; their `samples` are lists of texts for the log only."""

    loss: float

    @property
    def cost(self) -> float:
        """The number by which models are compared; the best model has the lowest. It is the loss,
        unless the task has another measure."""
        return self.loss

    def record(self) -> dict[str, Any]:
        """The values for the log; report/measures.py defines how they are shown."""
        return asdict(self)

    def facts(self) -> dict[str, Any]:
        """The values for training.json."""
        return {
            f"validation_{name}": value
            for name, value in asdict(self).items()
            if name != "samples" and value is not None
        }


class Measuring(Protocol):
    """The part of a task that validation uses."""

    def measure(self, model: Any, device: torch.device, workers: Workers) -> Measured: ...


@dataclass(frozen=True, slots=True)
class Validation(Measured):
    """The result for a model that translates. `loss` is in nats per target token (the end token is
    counted), without label smoothing. `bleu` is cased sacreBLEU with its `signature`; both are None
    if nothing was translated. A sample is [source, reference, hypothesis].

    For a model of several directions, `bleu_by_direction` and `loss_by_direction` have a value for
    each direction, by keys such as "en-de". `bleu` is then the mean over the directions, and `loss`
    the mean over all tokens."""

    bleu: float | None
    signature: str | None
    samples: Sequence[list[str]]
    bleu_by_direction: Mapping[str, float] | None = None
    loss_by_direction: Mapping[str, float] | None = None

    def record(self) -> dict[str, Any]:
        """The values for the log; those by direction only for a model of several directions."""
        absent = [name for name in BY_DIRECTION if getattr(self, name) is None]
        return {name: value for name, value in asdict(self).items() if name not in absent}

    def facts(self) -> dict[str, Any]:
        """The values for training.json."""
        return {
            "validation_loss": self.loss,
            "validation_bleu": self.bleu,
            "signature": self.signature,
            **{
                f"validation_{name}": dict(values)
                for name in BY_DIRECTION
                if (values := getattr(self, name)) is not None
            },
        }


@dataclass(frozen=True, slots=True)
class ByErrors(Measured):
    """The result for a model that predicts labels or tags. `loss` is in nats per label, `accuracy`
    the share of correct predictions, `f1` as the task defines it (None if the measure is the
    accuracy). A sample is [text, label, prediction]."""

    accuracy: float
    f1: float | None
    samples: Sequence[list[str]]

    @property
    def cost(self) -> float:
        """1 - f1, or 1 - accuracy where the task has no f1. Between equal values the loss
        decides."""
        measure = self.accuracy if self.f1 is None else self.f1
        return 1 - measure + 1e-9 * self.loss


@torch.inference_mode()
def validate(
    model: nn.Module, task: Measuring, device: torch.device, workers: Workers = ALONE
) -> Measured:
    """Measures the model in eval mode and float32, and then restores the model's mode.

    Each worker measures on its share of the pairs, and all workers get the same result.
    """
    was_training = model.training
    model.eval()
    try:
        return task.measure(model, device, workers)
    finally:
        model.train(was_training)
