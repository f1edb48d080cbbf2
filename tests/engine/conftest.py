"""What tests of engines share: small models of every kind that the core knows, and sentences.

B sentences · S source length
"""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer

KINDS: dict[str, dict[str, object]] = {
    "the paper": {},
    "pre-norm, rms, rotary, swiglu": {
        "residual": "pre-norm",
        "norm": "rms",
        "positions": "rotary",
        "activation": "swiglu",
    },
    "learned positions": {"positions": "learned", "normalise_embeddings": True},
    "stored positions": {"positions": "stored"},
    "no positions": {"positions": "none", "scale_embeddings": False},
    "gelu, output bias": {"activation": "gelu", "output_bias": True},
    "silu": {"activation": "silu", "shared_embeddings": "output"},
    "head width": {"head_width": 6, "heads": 3},
    "no bias": {"bias": False},
    "apart": {"shared_embeddings": "none", "source_vocabulary": 290},
    "starts with pad": {"start": 0},
    "no decoder layers": {"decoder_layers": 0},
}


@pytest.fixture(scope="session", params=KINDS)
def model_of_a_kind(
    request: pytest.FixtureRequest, small_model: Callable[..., Transformer]
) -> Transformer:
    """Two layers on each side, 32 wide."""
    sizes = {"d_model": 32, "d_ff": 64, "encoder_layers": 2, "decoder_layers": 2}
    model = small_model(**{**sizes, **KINDS[request.param]})
    if request.param == "stored positions":
        for stack in (model.encoder, model.decoder):
            stack.embeddings.positions.table.normal_(generator=torch.Generator().manual_seed(7))
    return model


@pytest.fixture(scope="session")
def padded_sentences() -> Callable[..., Tensor]:
    """Random sources BS of the given lengths, their end included, filled up with 0."""

    def draw(lengths: Sequence[int], *, seed: int = 0, width: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        ids_BS = torch.zeros(len(lengths), max(*lengths, width), dtype=torch.long)
        for row_S, length in zip(ids_BS, lengths, strict=True):
            row_S[: length - 1] = torch.randint(3, 280, (length - 1,), generator=generator)
            row_S[length - 1] = 2
        return ids_BS

    return draw
