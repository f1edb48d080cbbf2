"""What the tests of decoding share: a model that is a table, and a loud Transformer.

B batch · S source length · N hypotheses · V vocabulary
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer

Ids = tuple[int, ...]
Rule = Callable[[Ids, Ids], Tensor]
PAD, START, END = 0, 1, 2


@dataclass
class TableCache:
    """What each hypothesis has been fed, beginning with start."""

    sources: list[Ids]
    fed: list[list[Ids]]
    max_length: int
    selections: list[tuple[bool, bool]] = field(default_factory=list)

    def select(self, sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
        self.selections.append((sentences_B is not None, hypotheses_BN is not None))
        rows = range(len(self.fed)) if sentences_B is None else sentences_B.tolist()
        self.sources = [self.sources[row] for row in rows]
        self.fed = [self.fed[row] for row in rows]
        if hypotheses_BN is not None:
            assert len(hypotheses_BN) == len(self.fed)
            both = zip(self.fed, hypotheses_BN.tolist(), strict=True)
            self.fed = [[row[n] for n in order] for row, order in both]


class TableModel:
    """Speaks the decoding protocol; logits are a function of (source, target so far)."""

    def __init__(self, config: TransformerConfig, rule: Rule) -> None:
        self.config, self.rule = config, rule
        self.batch_sizes: list[int] = []
        self.cache: TableCache

    def encode(self, source_BS: Tensor) -> list[Ids]:
        return [tuple(i for i in row if i != self.config.pad) for row in source_BS.tolist()]

    def start(self, memory: list[Ids], hypotheses: int, max_length: int) -> TableCache:
        fed: list[list[Ids]] = [[()] * hypotheses for _ in memory]
        self.cache = TableCache(memory, fed, max_length)
        return self.cache

    def step(self, ids_BN: Tensor, cache: TableCache) -> Tensor:
        both = zip(cache.fed, ids_BN.tolist(), strict=True)
        cache.fed = [[(*old, new) for old, new in zip(row, ids, strict=True)] for row, ids in both]
        self.batch_sizes.append(len(cache.fed))
        assert all(len(fed) <= cache.max_length for row in cache.fed for fed in row)
        assert all(fed[0] == self.config.start for row in cache.fed for fed in row)
        logits = [
            torch.stack([self.rule(source, fed[1:]) for fed in row])
            for source, row in zip(cache.sources, cache.fed, strict=True)
        ]
        return torch.stack(logits)


def noise(vocabulary: int, *, seed: int = 0, loudness: float = 2.0, end: float = 0.0) -> Rule:
    """A different, random distribution after each (source, target so far); `end` is added to the
    end's logit."""

    @cache
    def rule(source: Ids, target: Ids) -> Tensor:
        generator = torch.Generator().manual_seed(hash((seed, source, target)) % 2**62)
        logits_V = torch.randn(vocabulary, generator=generator) * loudness
        logits_V[END] += end
        return logits_V

    return rule


def table(vocabulary: int, probabilities: Mapping[Ids, Mapping[int, float]]) -> Rule:
    """Distributions written out: target so far → id → probability; () where none is given."""

    def rule(source: Ids, target: Ids) -> Tensor:
        logits_V = torch.full((vocabulary,), -30.0)
        for id_, p in probabilities.get(target, probabilities[()]).items():
            logits_V[id_] = math.log(p)
        return logits_V

    return rule


def everything(
    rule: Rule, source: Ids, max_length: int, min_length: int = 1
) -> list[tuple[Ids, float]]:
    """All finished targets of at most `max_length` tokens with their log-probabilities."""
    vocabulary = rule(source, ()).numel()
    found = []
    for length in range(min_length, max_length):
        for words in product(range(3, vocabulary), repeat=length):
            ids = (*words, END)
            steps = [
                rule(source, ids[:t]).double().log_softmax(-1)[i].item() for t, i in enumerate(ids)
            ]
            found.append((ids, math.fsum(steps)))
    return found


@dataclass(frozen=True)
class Kit:
    """The makers above, for tests."""

    model: Callable[..., TableModel]
    noise: Callable[..., Rule]
    table: Callable[..., Rule]
    everything: Callable[..., list[tuple[Ids, float]]]


@pytest.fixture(scope="session")
def kit() -> Kit:
    def model(rule: Rule, **config: int) -> TableModel:
        sizes = {"vocabulary": rule((END,), ()).numel(), **config}
        return TableModel(TransformerConfig(**sizes), rule)

    return Kit(model, noise, table, everything)


@pytest.fixture(scope="session")
def batch() -> Callable[[Sequence[Sequence[int]]], Tensor]:
    """Source ids, filled up with pad."""

    def pad(rows: Sequence[Sequence[int]], width: int = 0) -> Tensor:
        longest = max([width, *map(len, rows)])
        return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])

    return pad


@pytest.fixture(scope="session")
def transformer() -> Callable[..., Transformer]:
    """A small Transformer with random weights far from their first values."""

    def build(seed: int = 0, **changes: Any) -> Transformer:
        sizes: dict[str, Any] = {
            "vocabulary": 23,
            "d_model": 16,
            "heads": 4,
            "d_ff": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "max_positions": 64,
            "shared_embeddings": "none",  # tied weights, when random, repeat the last token
            "output_bias": True,
        }
        model = Transformer(TransformerConfig(**{**sizes, **changes}))
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                drawn = torch.randn(weight.shape, generator=generator)
                if weight.dim() > 1:
                    weight.copy_(drawn * 2 * weight.size(-1) ** -0.5)
                else:
                    weight.copy_(drawn * 0.3 + (0 if name.endswith("bias") else 1))
            model.output.bias[END] += 2  # so that sentences end
        return model.eval()

    return build


@pytest.fixture(scope="session")
def sentences() -> list[list[int]]:
    """Forty sources of 1 to 12 words."""
    generator = torch.Generator().manual_seed(7)
    lengths = torch.randint(1, 13, (40,), generator=generator).tolist()
    return [
        [*torch.randint(3, 23, (length,), generator=generator).tolist(), END] for length in lengths
    ]
