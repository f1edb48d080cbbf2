import pytest
import torch

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.model_folder.weights.model import untied_weights
from allyouneed.model_folder.weights.shapes import weight_shapes

SHAPES = {
    "as in the paper": {},
    "pre-norm": {"residual": "pre-norm", "norm": "rms", "activation": "swiglu", "bias": False},
    "output shared": {"shared_embeddings": "output", "source_vocabulary": 9, "output_bias": True},
    "nothing shared": {"shared_embeddings": "none", "head_width": 3, "decoder_layers": 0},
    "stored": {"positions": "stored", "normalise_embeddings": True, "norm": "rms"},
    "learned": {"positions": "learned", "residual": "pre-norm", "encoder_layers": 0},
    "ssru": {"decoder": "ssru", "decoder_layers": 2},
    "ssru without biases": {"decoder": "ssru", "bias": False, "residual": "pre-norm"},
    "rotary": {"positions": "rotary", "activation": "gelu"},
}


@pytest.mark.parametrize("changes", SHAPES.values(), ids=SHAPES)
def test_shapes_are_those_of_the_model(changes: dict[str, object]) -> None:
    small = {"vocabulary": 10, "d_model": 8, "heads": 2, "d_ff": 6, "max_positions": 5}
    layers = {"encoder_layers": 2, "decoder_layers": 1}
    config = TransformerConfig(**{**small, **layers, **changes})
    with torch.device("meta"):
        model = Transformer(config)
    expected = {name: tuple(weight.shape) for name, weight in untied_weights(model).items()}
    assert weight_shapes(config) == expected
