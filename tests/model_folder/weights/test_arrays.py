import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.model_folder.weights.arrays import StoredArrays
from allyouneed.text.tokenizer import Tokenizer

Make = Callable[..., Transformer]


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8]
)
def test_arrays_are_the_models_weights(
    dtype: torch.dtype, small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    save_model_folder(tmp_path / "m", small_model(), small_tokenizer, dtype=dtype)
    folder = open_model_folder(tmp_path / "m")
    arrays, expected = folder.load_arrays(), folder.load_model().state_dict()
    assert arrays.keys() == expected.keys()
    for name, array in arrays.items():
        assert array.dtype == np.float32
        assert not array.flags.writeable
        assert array.flags.aligned
        np.testing.assert_array_equal(array, expected[name].numpy())


@pytest.mark.parametrize("shared", ["all", "output", "none"])
def test_tied_names_share_one_array(
    shared: str, small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    save_model_folder(tmp_path / "m", small_model(shared_embeddings=shared), small_tokenizer)
    folder = open_model_folder(tmp_path / "m")
    arrays, tied = folder.load_arrays(), folder.config.tied_weights()
    assert len(load_file(tmp_path / "m" / "model.safetensors")) == len(arrays) - len(tied)
    assert all(np.array_equal(arrays[name], arrays[owner]) for name, owner in tied.items())


def test_arrays_are_read_when_they_are_asked_for_and_not_kept(model_folder: Path) -> None:
    arrays = open_model_folder(model_folder).load_arrays()
    assert arrays["output.weight"] is not arrays["output.weight"]
    file = model_folder / "model.safetensors"
    content = file.read_bytes()
    file.unlink()
    assert np.isfinite(arrays["output.weight"]).all(), "an open file outlives its name"
    file.write_bytes(content)
    arrays = open_model_folder(model_folder).load_arrays()
    with file.open("r+b") as cut:
        cut.truncate(len(content) // 2)
    with pytest.raises(ModelFolderError, match="has become shorter since it was opened"):
        dict(arrays)


def refused(path: Path) -> str:
    folder = open_model_folder(path)
    with pytest.raises(ModelFolderError) as with_arrays:
        folder.load_arrays()
    with pytest.raises(ModelFolderError) as with_torch:
        folder.load_model()
    assert str(with_arrays.value) == str(with_torch.value), "both roads say the same"
    return str(with_arrays.value)


def test_weights_that_do_not_fit_are_refused_as_torch_refuses_them(model_folder: Path) -> None:
    file = model_folder / "model.safetensors"
    weights, name = load_file(file), "decoder.layers.0.cross_attention.W_K.bias"
    for broken, said in (
        ({k: w for k, w in weights.items() if k != name}, f"it lacks {name} \\(1 such"),
        ({**weights, "extra": torch.zeros(1)}, r"it has the unknown extra \(1 such"),
        ({**weights, name: torch.zeros(3)}, rf"{name} has the shape \(3,\), .* needs \(16,\)"),
    ):
        save_file(broken, file)
        with pytest.raises(ModelFolderError, match=said):
            open_model_folder(model_folder).load_arrays()
        refused(model_folder)


@pytest.mark.parametrize(
    "content", [None, b"", b"x" * 30, b"\x80\x02 a pickle", b"\x09" + b"\0" * 99]
)
def test_files_that_are_no_weights_are_refused(content: bytes | None, model_folder: Path) -> None:
    file = model_folder / "model.safetensors"
    file.unlink() if content is None else file.write_bytes(content)
    assert str(file) in refused(model_folder)


def test_a_file_that_is_cut_short_is_refused(model_folder: Path) -> None:
    file = model_folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    assert "cut short" in refused(model_folder)


def test_other_dtypes_are_named(model_folder: Path) -> None:
    file = model_folder / "model.safetensors"
    weights = load_file(file)
    weights["decoder.layers.0.cross_attention.W_K.bias"] = torch.ones(16, dtype=torch.int32)
    save_file(weights, file)
    with pytest.raises(ModelFolderError, match=r"W_K\.bias is stored as I32; .* F16, BF16"):
        open_model_folder(model_folder).load_arrays()


@pytest.mark.parametrize("scale", [None, torch.ones(3), torch.ones(1, 16)])
def test_int8_without_a_scale_for_each_row_is_refused(
    scale: torch.Tensor | None, small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    save_model_folder(tmp_path / "m", small_model(), small_tokenizer, dtype=torch.int8)
    file, name = tmp_path / "m" / "model.safetensors", "encoder.layers.0.self_attention.W_Q.weight"
    weights = load_file(file)
    del weights[name + ".scale"]
    save_file(weights if scale is None else {**weights, name + ".scale": scale}, file)
    said = refused(tmp_path / "m")
    assert f"{name} is stored as int8 and needs {name}.scale" in said
    assert "save the model again" in said


def test_what_is_not_aligned_in_the_file_is_copied(model_folder: Path) -> None:
    folder = open_model_folder(model_folder)
    expected = folder.load_model().state_dict()
    file = model_folder / "model.safetensors"
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8 : 8 + size])).encode()
    header += b" " * (-(8 + len(header)) % 4 + 1)  # everything one byte later
    file.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + size :])
    for name, array in StoredArrays(file, folder.config).items():
        assert array.flags.aligned
        np.testing.assert_array_equal(array, expected[name].numpy())


def test_config_alone_decides_about_fitting(model_folder: Path) -> None:
    with pytest.raises(ModelFolderError, match="it lacks decoder"):
        StoredArrays(model_folder / "model.safetensors", TransformerConfig())
