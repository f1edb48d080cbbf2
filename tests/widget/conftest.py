"""A session over a small model with random weights, which translates at once."""

from collections.abc import Callable

import pytest

from allyouneed.core.transformer import Transformer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translator import Translator
from allyouneed.widget.session import Session

Model = Callable[..., Transformer]


@pytest.fixture(scope="session")
def translator(small_model: Model, small_tokenizer: Tokenizer) -> Translator:
    """2 encoder layers, 3 decoder layers, 2 heads each; d_model 16."""
    return Translator.of_model(small_model(encoder_layers=2, decoder_layers=3), small_tokenizer)


@pytest.fixture(scope="session")
def other_translator(small_model: Model, small_tokenizer: Tokenizer) -> Translator:
    """Of another shape, with the norms before the sub-layers."""
    return Translator.of_model(small_model(residual="pre-norm"), small_tokenizer)


@pytest.fixture
def session(translator: Translator, other_translator: Translator) -> Session:
    """A fresh session over both."""
    return Session([translator, other_translator], ["small", "other"])
