import re
from dataclasses import FrozenInstanceError, asdict, replace
from typing import Any

import pytest
import torch

from allyouneed.core.config import BASE, BERT, BIG, PRESETS, SMALL, TINY, TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError

ERRORS: list[tuple[dict[str, Any], str]] = [
    (
        {"d_model": 512, "heads": 7},
        "heads=7 does not divide d_model=512; choose d_model=511 or 518, or set",
    ),
    ({"d_model": 4, "heads": 8}, "choose d_model=8, or set"),
    ({"vocabulary": 0}, "vocabulary=0 must be at least 1"),
    ({"d_ff": -1}, "d_ff=-1 must be at least 1"),
    ({"heads": 0}, "heads=0 must be at least 1"),
    ({"head_width": 0}, "head_width=0 must be at least 1; or leave"),
    (
        {"source_vocabulary": 0, "shared_embeddings": "none"},
        "source_vocabulary=0 must be at least 1; or leave",
    ),
    ({"encoder_layers": -1}, "encoder_layers=-1 must not be negative"),
    ({"segments": -1}, "segments=-1 must not be negative"),
    (
        {"d_model": 9, "heads": 3},
        "sinusoidal positions pair sines with cosines and need an even d_model, not 9; try 10",
    ),
    ({"positions": "rotary", "head_width": 5}, "need an even head width, not 5; try 6"),
    ({"residual": "post"}, "residual='post' is not one of 'post-norm', 'pre-norm'"),
    ({"norm": "batch"}, "norm='batch' is not one of 'layer', 'rms'"),
    ({"activation": "tanh"}, "activation='tanh' is not one of 'relu', 'gelu', 'silu', 'swiglu'"),
    ({"positions": "absolute"}, "positions='absolute' is not one of 'sinusoidal', 'stored',"),
    ({"shared_embeddings": True}, "shared_embeddings=True is not one of 'all', 'output', 'none'"),
    (
        {"source_vocabulary": 9},
        'source_vocabulary=9 needs separate source embeddings; set shared_embeddings="output" or',
    ),
    ({"dropout": 1.0}, "dropout=1.0 must lie in [0, 1)"),
    ({"attention_dropout": -0.1}, "attention_dropout=-0.1 must lie in [0, 1)"),
    ({"activation_dropout": float("nan")}, "activation_dropout=nan must lie in [0, 1)"),
    ({"norm_epsilon": 0.0}, "norm_epsilon=0.0 must be positive, such as 1e-5"),
    ({"norm_epsilon": float("nan")}, "norm_epsilon=nan must be positive, such as 1e-5"),
    ({"pad": 37_000}, "pad=37000 is not an id of a vocabulary of 37000; choose 0 … 36999"),
    ({"start": -1}, "start=-1 is not an id of a vocabulary of 37000; choose 0 … 36999"),
    (
        {"end": 9, "source_vocabulary": 9, "shared_embeddings": "none"},
        "end=9 is not an id of a vocabulary of 9; choose",
    ),
    ({"pad": 2}, "pad=2 and end=2 are the same id"),
]


@pytest.mark.parametrize(("values", "message"), ERRORS, ids=lambda value: str(value)[:40])
def test_what_cannot_be_built_is_refused_with_a_remedy(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        TransformerConfig(**values)
    assert ConfigError.exit_code == 2


def test_a_mistyped_name_is_an_error() -> None:
    with pytest.raises(TypeError, match="d_modle"):
        TransformerConfig(d_modle=512)  # type: ignore[call-arg]


def test_a_config_is_a_value() -> None:
    with pytest.raises(FrozenInstanceError):
        BASE.heads = 4  # type: ignore[misc]
    assert TransformerConfig(**asdict(BIG)) == BIG
    assert len({BASE, replace(BASE)}) == 1


def test_width_of_head() -> None:
    assert BASE.width_of_head == 64
    assert replace(BASE, head_width=10).width_of_head == 10
    assert replace(BASE, head_width=10, heads=7).width_of_head == 10  # they need not divide now


def test_presets_are_the_papers_table_3() -> None:
    assert (BASE.encoder_layers, BASE.d_model, BASE.d_ff, BASE.heads) == (6, 512, 2048, 8)
    assert (BIG.encoder_layers, BIG.d_model, BIG.d_ff, BIG.heads) == (6, 1024, 4096, 16)
    assert (BASE.dropout, BIG.dropout) == (0.1, 0.3)
    assert PRESETS == {"base": BASE, "big": BIG, "small": SMALL, "tiny": TINY, "bert": BERT}


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (BASE, 63_082_496),  # the paper rounds to 65 M and 213 M
        (BIG, 214_245_376),
        (replace(TINY, vocabulary=10_000), 2_605_056),
        (replace(SMALL, vocabulary=8_000), 7_313_920),
    ],
    ids=["base", "big", "tiny", "small"],
)
def test_parameters(config: TransformerConfig, count: int) -> None:
    with torch.device("meta"):  # shapes alone, no memory
        model = Transformer(config)
    assert sum(weight.numel() for weight in model.parameters()) == count
    d, f = config.d_model, config.d_ff
    attention, ffn, norm = 4 * (d * d + d), 2 * d * f + f + d, 2 * d
    encoder = config.encoder_layers * (attention + ffn + 2 * norm)
    decoder = config.decoder_layers * (2 * attention + ffn + 3 * norm)
    assert count == config.vocabulary * d + encoder + decoder
