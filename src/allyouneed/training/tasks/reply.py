"""Replies: what was said in a conversation in; a Transformer that writes the next turn out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from allyouneed.core.transformer import Transformer
from allyouneed.evaluation.variety import variety
from allyouneed.training.tasks.translate import Translate
from allyouneed.training.validation import Measured
from allyouneed.training.workers import Workers


@dataclass(frozen=True, slots=True)
class RepliesValidation(Measured):
    """Of a model that replies. There is no BLEU: the reply that somebody gave is one of many good
    ones. `distinct_1` and `distinct_2` say how varied the replies are (None where there are none);
    samples are what was said, somebody's reply, the model's."""

    distinct_1: float | None
    distinct_2: float | None
    samples: Sequence[list[str]]

    def facts(self) -> dict[str, Any]:
        """The values for training.json."""
        return {
            "validation_loss": self.loss,
            "distinct_1": self.distinct_1,
            "distinct_2": self.distinct_2,
        }


class Reply(Translate):
    """Pairs of what was said, as `History.source` writes it, and the next turn: learnt as
    translations are."""

    def measure(
        self, model: Transformer, device: torch.device, workers: Workers
    ) -> RepliesValidation:
        """The loss over all held-out replies; variety and samples over the first of them."""
        loss = self._held_out_loss(model, device, workers)
        if not math.isfinite(loss):
            return RepliesValidation(loss, None, None, [])
        written = self._translations(model, workers)
        samples = [
            [source, reference, text]
            for (source, reference), text in zip(self.material.valid_pairs, written, strict=True)
        ][: self.recipe.validation.samples]
        if not any(map(str.split, written)):
            return RepliesValidation(loss, None, None, samples)
        found = variety(written)
        return RepliesValidation(loss, found.distinct_1, found.distinct_2, samples)
