"""What the tests of the core share: a small shape, weights loud enough to tell, padded ids."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from allyouneed.core.config import TransformerConfig


@pytest.fixture(scope="session")
def config() -> TransformerConfig:
    return TransformerConfig(
        vocabulary=23,
        d_model=16,
        heads=4,
        d_ff=24,
        encoder_layers=2,
        decoder_layers=2,
        dropout=0.0,
        max_positions=32,
    )


@pytest.fixture(scope="session")
def loud() -> Callable[..., nn.Module]:
    """Random weights far from their first values, biases and norms included: at first values
    attention is flat, biases are zero and everything agrees with everything."""

    def louden(module: nn.Module, seed: int = 0) -> nn.Module:
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, weight in module.named_parameters():
                noise = torch.randn(weight.shape, generator=generator)
                if weight.dim() > 1:
                    weight.copy_(noise * 2 * weight.size(-1) ** -0.5)
                else:
                    weight.copy_(noise * 0.3 + (0 if name.endswith("bias") else 1))
        return module.eval()

    return louden


@pytest.fixture(scope="session")
def sentences() -> Callable[..., Tensor]:
    """Random ids of the given lengths, filled up with pad (0) on one side."""

    def draw(
        lengths: Sequence[int], *, seed: int = 0, vocabulary: int = 23, left: bool = False
    ) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        ids_BT = torch.zeros(len(lengths), max(lengths), dtype=torch.int64)
        for row, length in zip(ids_BT, lengths, strict=True):
            here = slice(len(row) - length, None) if left else slice(length)
            row[here] = torch.randint(3, vocabulary, (length,), generator=generator)
        return ids_BT

    return draw
