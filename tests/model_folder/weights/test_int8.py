"""Weights stored in 8 bits: small, near, and nothing more lost by an int8 engine."""

from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file

from allyouneed.core.transformer import Transformer
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.model_folder.weights.int8 import from_int8, quantise, to_int8
from allyouneed.model_folder.weights.model import untied_weights
from allyouneed.text.tokenizer import Tokenizer

Make = Callable[..., Transformer]


def test_every_weight_is_within_half_a_step_of_its_row(small_model: Make) -> None:
    weights = untied_weights(small_model())
    found = from_int8(to_int8(weights))
    assert found.keys() == weights.keys()
    for name, tensor in weights.items():
        error = (found[name] - tensor).abs()
        if tensor.dim() == 2:
            step_O1 = tensor.abs().amax(dim=1, keepdim=True) / 127
            assert (error <= step_O1 * 0.5001).all()
            assert (tensor == 0).all() or error.any(), "it is rounded"
        else:
            assert not error.any(), "norms and biases are as they were"


def test_rounding_again_changes_nothing(small_model: Make) -> None:
    once = to_int8(untied_weights(small_model()))
    again = to_int8(from_int8(once))
    for name, tensor in once.items():
        if tensor.dtype is torch.int8:
            assert torch.equal(again[name], tensor)


def test_rows_of_zeros_stay_zeros() -> None:
    found = from_int8(to_int8({"w": torch.zeros(2, 3)}))
    assert torch.equal(found["w"], torch.zeros(2, 3))


def test_a_file_has_a_quarter_of_the_size_and_loads(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = small_model(d_model=64, d_ff=256)
    for name, dtype in (("whole", torch.float32), ("small", torch.int8)):
        save_model_folder(tmp_path / name, model, small_tokenizer, dtype=dtype)
    whole, small = (tmp_path / name / "model.safetensors" for name in ("whole", "small"))
    assert small.stat().st_size < 0.33 * whole.stat().st_size
    name = "decoder.layers.0.cross_attention.W_K.weight"
    values = load_file(small)[name]
    assert values.dtype is torch.int8
    loaded = open_model_folder(tmp_path / "small").load_model().state_dict()[name]
    assert torch.equal(quantise(loaded)[0], values)
