"""Blocks sentences that a model must not produce, such as a reply it has already given twice.

B sentences · N hypotheses · T tokens so far · S source length · V vocabulary
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.protocol import Decodable, DecodingCache


class BlockedSentences:
    """A wrapped model that never ends a hypothesis that equals one of the blocked sentences.

    Such a hypothesis must continue, or differ earlier. The probability of the end goes to the other
    tokens. Every search can use this model.
    """

    def __init__(self, model: Decodable, blocked: Sequence[Sequence[int]]) -> None:
        """`blocked` are the blocked sentences, as ids without the end."""
        self.model, self.blocked = model, [list(ids) for ids in blocked]

    @property
    def config(self) -> TransformerConfig:
        """The configuration of the wrapped model."""
        return self.model.config

    @property
    def training(self) -> bool:
        """Whether the wrapped model is in training mode."""
        return bool(getattr(self.model, "training", False))

    def encode(self, source_BS: Tensor) -> tuple[Any, int]:
        """The wrapped model's memory, and the number of sentences in it."""
        return self.model.encode(source_BS), source_BS.size(0)

    def start(self, memory: tuple[Any, int], hypotheses: int, max_length: int) -> "BlockingCache":
        """The wrapped model's cache, with room for the tokens so far."""
        own, sentences = memory
        nothing_BNT = torch.empty(sentences, hypotheses, 0, dtype=torch.long)
        return BlockingCache(self.model.start(own, hypotheses, max_length), nothing_BNT)

    def step(self, ids_BN: Tensor, cache: "BlockingCache") -> Tensor:
        """Logits BNV; minus infinity for the end of a blocked sentence."""
        logits_BNV = self.model.step(ids_BN, cache.own)
        tokens_BNT = torch.cat([cache.tokens_BNT.to(ids_BN.device), ids_BN[..., None]], dim=-1)
        cache.tokens_BNT = tokens_BNT
        for ids in self.blocked:
            if len(ids) + 1 == tokens_BNT.size(-1):  # the first token is the start
                same_BN = (tokens_BNT[..., 1:] == tokens_BNT.new_tensor(ids)).all(dim=-1)
                end_BNV = torch.zeros_like(logits_BNV, dtype=torch.bool)
                end_BNV[..., self.config.end] = same_BN
                logits_BNV = logits_BNV.masked_fill(end_BNV, float("-inf"))
        return logits_BNV


@dataclass
class BlockingCache:
    """The wrapped model's cache, and the tokens BNT of each hypothesis, beginning with `start`."""

    own: DecodingCache
    tokens_BNT: Tensor

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        """Keeps some sentences and re-orders their hypotheses (see `DecodingCache.select`)."""
        self.own.select(sentences_B, hypotheses_BN)
        if sentences_B is not None:
            self.tokens_BNT = self.tokens_BNT[sentences_B]
        if hypotheses_BN is not None:
            columns_BNT = hypotheses_BN[..., None].expand(-1, -1, self.tokens_BNT.size(-1))
            self.tokens_BNT = self.tokens_BNT.gather(1, columns_BNT)
