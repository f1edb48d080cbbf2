"""An ensemble: several models that decode as one, with the mean of their probabilities.

B batch · S source length · T target length · N hypotheses · V vocabulary
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Protocol

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.protocol import Decodable, DecodingCache, TeacherForced
from allyouneed.errors import ConfigError


class Member(Decodable, TeacherForced, Protocol):
    """A model that can search for translations and score given ones."""


class Ensemble:
    """Several models used as one model: P(token) is the mean of the models' probabilities.

    The models must have the same vocabulary. This class compares sizes and special ids. The caller
    must make sure that the same id means the same piece.

    Raises:
        ConfigError: no model, or the models differ in vocabulary size or special ids.
    """

    def __init__(self, models: Sequence[Member]) -> None:
        if not models:
            raise ConfigError("an ensemble needs at least one model")
        self.models = tuple(models)
        first = self.models[0].config
        for number, model in enumerate(self.models):
            theirs_by_name = _vocabulary(model.config)
            for name, ours in _vocabulary(first).items():
                theirs = theirs_by_name[name]
                if ours != theirs:
                    raise ConfigError(
                        f"model {number} of the ensemble has {name}={theirs}, the first has "
                        f"{ours}; use models with the same vocabulary"
                    )
        shortest = min(model.config.max_positions for model in self.models)
        self.config: TransformerConfig = replace(first, max_positions=shortest)

    @property
    def training(self) -> bool:
        """Whether any of the models is in training mode."""
        return any(getattr(model, "training", False) for model in self.models)

    def encode(self, source_BS: Tensor) -> list[Any]:
        """The memory of each model."""
        return [model.encode(source_BS) for model in self.models]

    def start(self, memory: list[Any], hypotheses: int, max_length: int) -> "EnsembleCache":
        """The caches of all models."""
        both = zip(self.models, memory, strict=True)
        return EnsembleCache([model.start(own, hypotheses, max_length) for model, own in both])

    def step(self, ids_BN: Tensor, cache: "EnsembleCache") -> Tensor:
        """log P of each hypothesis' next token, BNV."""
        both = zip(self.models, cache.caches, strict=True)
        return log_mean([model.step(ids_BN, own) for model, own in both])

    def __call__(self, source_BS: Tensor, target_BT: Tensor) -> Tensor:
        """log P of the token after each position of `target_BT` (shifted right), BTV."""
        return log_mean(model(source_BS, target_BT) for model in self.models)


class EnsembleCache:
    """The caches of all models, changed together."""

    def __init__(self, caches: Sequence[DecodingCache]) -> None:
        self.caches = caches

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        """Calls `DecodingCache.select` of every cache."""
        for cache in self.caches:
            cache.select(sentences_B, hypotheses_BN)


def log_mean(logits: Iterable[Tensor]) -> Tensor:
    """The logarithm of the mean of softmax(logits) over all given logits, float32."""
    log_p = [each.log_softmax(dim=-1, dtype=torch.float32) for each in logits]
    return reduce(torch.logaddexp, log_p) - math.log(len(log_p))


def _vocabulary(config: TransformerConfig) -> dict[str, int]:
    """The sizes and special ids that models of one ensemble must share."""
    return {
        "vocabulary": config.vocabulary,
        "source_vocabulary": config.source_vocabulary or config.vocabulary,
        "pad": config.pad,
        "start": config.start,
        "end": config.end,
    }
