"""Decoding over the ids that each sentence can need, written with torch. The native engine
computes the same.

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
    """The model for a batch of these sentences, restricted to the ids that each needs if there is a
    selection."""
    if selection is None:
        return model
    return SelectedVocabulary(model, selection.rows(sources, prefixes))


class SelectedVocabulary:
    """A model that gives each sentence its own vocabulary, a row of `VocabularySelection.rows`.

    For ids in the sentence's row the logits are the wrapped model's, for others minus infinity.
    Log-probabilities are therefore normalised over the row and do not depend on the batch's other
    sentences. A prefix is impossible if the row lacks one of its ids, so the prefixes must have
    been given to `VocabularySelection.rows`.
    """

    def __init__(self, model: Decodable, rows: Sequence[NDArray[np.int64]]) -> None:
        """`rows` are the ids for each sentence of the batch that `encode` will receive."""
        self.model, self.rows = model, rows

    @property
    def config(self) -> TransformerConfig:
        """The shape of the wrapped model."""
        return self.model.config

    @property
    def training(self) -> bool:
        """Whether the wrapped model is in training mode."""
        return bool(getattr(self.model, "training", False))

    def encode(self, source_BS: Tensor) -> tuple[Any, Tensor]:
        """The wrapped model's memory, and a mask BV of the ids that each sentence may use.

        Raises:
            ShapeError: there is not one row for each sentence.
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
        """The wrapped model's cache, with the mask of selected ids."""
        own, selected_BV = memory
        return SelectedCache(self.model.start(own, hypotheses, max_length), selected_BV)

    def step(self, ids_BN: Tensor, cache: "SelectedCache") -> Tensor:
        """Logits BNV, minus infinity for ids that are not selected."""
        logits_BNV = self.model.step(ids_BN, cache.own)
        return logits_BNV.masked_fill(~cache.selected_BV[:, None], float("-inf"))


@dataclass
class SelectedCache:
    """The wrapped model's cache, and the mask of ids for each sentence that is still decoded."""

    own: DecodingCache
    selected_BV: Tensor

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        """As `DecodingCache.select`."""
        self.own.select(sentences_B, hypotheses_BN)
        if sentences_B is not None:
            self.selected_BV = self.selected_BV[sentences_B]
