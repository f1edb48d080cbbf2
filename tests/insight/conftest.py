"""What the tests of insight share: a small model whose parts all tell, and a translator."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator


@pytest.fixture(scope="session")
def make(small_model: Callable[..., Transformer]) -> Callable[..., Transformer]:
    """Two encoder and three decoder layers, 4 heads, in the paper's wiring or another."""

    def build(**changes: object) -> Transformer:
        shape: dict[str, object] = {
            "heads": 4,
            "encoder_layers": 2,
            "decoder_layers": 3,
            "shared_embeddings": "none",
            "output_bias": True,
            "dropout": 0.0,
        }
        model = small_model(**{**shape, **changes})
        if model.output.bias is not None:
            with torch.no_grad():
                model.output.bias[model.config.end] += 4  # so that sentences end
        return model

    return build


@pytest.fixture
def model(make: Callable[..., Transformer]) -> Transformer:
    return make()


@pytest.fixture
def babbler(model: Transformer, small_tokenizer: Tokenizer) -> Translator:
    """Its words make no sense, but differ from text to text."""
    return Translator.of_model(model, small_tokenizer)


@pytest.fixture(scope="session")
def pair() -> tuple[Tensor, Tensor]:
    """Three sources BS with ends, and three shifted targets BT, padded."""
    source_BS = torch.tensor([[9, 30, 31, 200, 2], [40, 41, 2, 0, 0], [50, 60, 70, 2, 0]])
    target_BT = torch.tensor([[1, 90, 91, 92], [1, 80, 0, 0], [1, 33, 34, 0]])
    return source_BS, target_BT
