"""The native engine as a `Decodable`, for searches that are written in Python.

B batch · S source length · N hypotheses · V vocabulary
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.engine.native.packed import PackedModel
from allyouneed.engine.native.worker import Worker


class NativeDecodable:
    """A packed model as a `Decodable`. Each batch has a worker of its own."""

    def __init__(self, model: PackedModel, threads: int) -> None:
        self.model = model
        self.threads = threads

    @property
    def config(self) -> TransformerConfig:
        """The shape of the model."""
        return self.model.config

    def encode(self, source_BS: Tensor) -> Worker:
        """A worker that has encoded the batch, without its padding."""
        worker = Worker(self.model, self.threads)
        worker.encode([row[row != self.config.pad].tolist() for row in source_BS.cpu()])
        return worker

    def start(self, memory: Worker, hypotheses: int, max_length: int) -> "NativeCache":
        """Starts decoding the batch that `memory` has encoded. An earlier cache of the same worker
        becomes invalid."""
        memory.start(hypotheses)
        return NativeCache(memory, hypotheses)

    def step(self, ids_BN: Tensor, cache: "NativeCache") -> Tensor:
        """Logits BNV of the next token, given each hypothesis' newest id."""
        ids = np.ascontiguousarray(ids_BN.numpy(force=True).ravel(), dtype=np.int32)
        logits = torch.from_numpy(cache.worker.step(ids))
        return logits.view(*ids_BN.shape, -1).to(ids_BN.device)


@dataclass(slots=True)
class NativeCache:
    """The cache of one batch. The worker holds the state itself."""

    worker: Worker
    hypotheses: int
    sentences: int | None = None  # None: all that were encoded

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        """Keeps these sentences and, within each, these hypotheses, as `core.cache.Cache` does."""
        if sentences_B is None and hypotheses_BN is None:
            return
        count = self.worker.sentences if self.sentences is None else self.sentences
        kept_B = torch.arange(count) if sentences_B is None else sentences_B.cpu()
        if hypotheses_BN is None:
            hypotheses_BN = torch.arange(self.hypotheses)[None]
        parents_BN = kept_B[:, None] * self.hypotheses + hypotheses_BN.cpu()
        self.worker.select(parents_BN.flatten().numpy().astype(np.int32))
        self.sentences, self.hypotheses = kept_B.numel(), parents_BN.size(1)
