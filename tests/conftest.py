"""What tests of several floors share: a small tokenizer, and a model with random weights."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.model_folder import save_model_folder
from allyouneed.text.tokenizer import Tokenizer

SENTENCES = [
    "A man rides a bike.",
    "Two women are talking to each other in the street.",
    "The dog sleeps.",
    "Where is the station?",
    "I would like a cup of coffee, please.",
    "Ein Mann fährt Fahrrad.",
    "Zwei Frauen unterhalten sich auf der Straße.",
    "Der Hund schläft.",
    "Wo ist der Bahnhof?",
    "Ich hätte gerne eine Tasse Kaffee.",
]


def shout(model: Transformer, *, seed: int = 0, end: float = 0.0) -> Transformer:
    """Gives a model random weights far from their first values, so that its logits differ by more
    than 1 and nothing agrees by accident; `end` is added to the bias of the end token."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            drawn = torch.randn(weight.shape, generator=generator)
            if weight.dim() > 1:
                weight.copy_(drawn * 1.5 * weight.size(-1) ** -0.5)
            else:
                weight.copy_(drawn * 0.3 + (0 if name.endswith("bias") else 1))
        if model.config.output_bias:
            model.output.bias[model.config.end] += end
    return model.eval()


@pytest.fixture(scope="session")
def small_tokenizer() -> Tokenizer:
    """320 pieces, learnt from a few English and German sentences."""
    return Tokenizer.train(SENTENCES * 2, vocabulary=320)


@pytest.fixture(scope="session")
def small_model(small_tokenizer: Tokenizer) -> Callable[..., Transformer]:
    """Makes a small Transformer for that tokenizer, with random weights; `end` makes it brief."""

    def make(seed: int = 0, end: float = 4.0, **changes: object) -> Transformer:
        shape: dict[str, object] = {
            "vocabulary": len(small_tokenizer),
            "d_model": 32,
            "heads": 4,
            "d_ff": 48,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "max_positions": 128,
            "output_bias": True,
        }
        return shout(Transformer(TransformerConfig(**{**shape, **changes})), seed=seed, end=end)

    return make


@pytest.fixture
def model_folder(
    small_model: Callable[..., Transformer], small_tokenizer: Tokenizer, tmp_path: Path
) -> Path:
    """A whole model folder, to be read or broken."""
    path = tmp_path / "model"
    save_model_folder(
        path, small_model(), small_tokenizer, languages=("en", "de"), trained_length=40
    )
    return path
