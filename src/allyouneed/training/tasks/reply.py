"""Replies: trains a Transformer to write the next turn of a conversation from the turns before."""

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
    """The result for a model that replies. There is no BLEU, because a person's reply is only one
    of many good ones. `distinct_1` and `distinct_2` measure how varied the replies are (None if
    there are none). A sample is [turns before, a person's reply, the model's reply]."""

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
    """Learns to write the next turn of a conversation. A pair's source holds the earlier
    turns, which `History.source` joins; its target is the next turn."""

    def measure(
        self, model: Transformer, device: torch.device, workers: Workers
    ) -> RepliesValidation:
        """The loss over all held-out replies, and the variety of the replies that the model writes
        to the first of them."""
        loss, _ = self._held_out_losses(model, device, workers)
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
