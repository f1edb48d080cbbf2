"""Decoding over the ids that each sentence can need: the plain road.

B sentences · S source length · N hypotheses · V vocabulary
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.protocol import Decodable, DecodingCache
from allyouneed.errors import ShapeError
from allyouneed.model_folder.vocabulary_selection import VocabularySelection


def for_batch(
    model: Decodable,
    selection: VocabularySelection | None,
    sources: Sequence[Sequence[int]],
    prefixes: Sequence[Sequence[int]] | None = None,
) -> Decodable:
    """The model for a batch of these sentences: over what each needs, if there is a selection."""
    if selection is None:
        return model
    return SelectedVocabulary(model, selection.rows(sources, prefixes))


class SelectedVocabulary:
    """A model of which each sentence has its own vocabulary (`VocabularySelection.rows`).

    Logits are the wrapped model's within the row of the sentence and minus infinity outside, so
    log-probabilities are normalised over the row, and a sentence's do not depend on its
    neighbours. A row that lacks an id of a forced prefix makes that prefix impossible: `rows`
    takes the prefixes for that.
    """

    def __init__(self, model: Decodable, rows: Sequence[NDArray[np.int64]]) -> None:
        """`rows` are the ids of each sentence of the batch that `encode` will be given."""
        self.model, self.rows = model, rows

    @property
    def config(self) -> TransformerConfig:
        """That of the wrapped model."""
        return self.model.config

    @property
    def training(self) -> bool:
        """Whether the wrapped model is in training mode."""
        return bool(getattr(self.model, "training", False))

    def encode(self, source_BS: Tensor) -> tuple[Any, Tensor]:
        """The wrapped model's memory, and which ids each sentence has, BV.

        Raises:
            ShapeError: another number of sentences than there are rows.
        """
        if len(self.rows) != source_BS.size(0):
            raise ShapeError(
                f"{source_BS.size(0)} sentences for {len(self.rows)} rows of selected ids; "
                "give one row for each sentence, in the same order"
            )
        selected_BV = torch.zeros(len(self.rows), self.config.vocabulary, dtype=torch.bool)
        for sentence, ids in enumerate(self.rows):
            selected_BV[sentence, torch.from_numpy(ids)] = True
        return self.model.encode(source_BS), selected_BV.to(source_BS.device)

    def start(
        self, memory: tuple[Any, Tensor], hypotheses: int, max_length: int
    ) -> "SelectedCache":
        """The wrapped model's cache beside the selected ids."""
        own, selected_BV = memory
        return SelectedCache(self.model.start(own, hypotheses, max_length), selected_BV)

    def step(self, ids_BN: Tensor, cache: "SelectedCache") -> Tensor:
        """Logits BNV, minus infinity for what is not selected."""
        logits_BNV = self.model.step(ids_BN, cache.own)
        return logits_BNV.masked_fill(~cache.selected_BV[:, None], float("-inf"))


@dataclass
class SelectedCache:
    """The wrapped model's cache, and which ids each sentence that is left has."""

    own: DecodingCache
    selected_BV: Tensor

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        """As `DecodingCache.select`."""
        self.own.select(sentences_B, hypotheses_BN)
        if sentences_B is not None:
            self.selected_BV = self.selected_BV[sentences_B]
