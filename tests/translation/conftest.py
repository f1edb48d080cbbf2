"""A translator that anybody can call."""

from collections.abc import Callable

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator


@pytest.fixture(scope="session")
def babbler(small_model: Callable[..., Transformer], small_tokenizer: Tokenizer) -> Translator:
    """Random weights: what it says makes no sense, but differs from text to text."""
    model = small_model(d_model=32, shared_embeddings="none", output_bias=True)
    with torch.no_grad():
        model.output.bias[model.config.end] += 4
    return Translator.of_model(model, small_tokenizer)
