"""`allyouneed export`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("to", "files"),
    [
        ("ctranslate2", {"model.bin", "shared_vocabulary.json"}),
        ("huggingface", {"model.safetensors", "tokenizer_config.json"}),
    ],
)
def test_folder_is_written(
    to: str, files: set[str], call: Call, model_folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ctranslate2", reason="the extra interop is not installed")
    path = tmp_path / "exported"
    called = call("export", "--model", model_folder, "--to", to, path)
    assert (called.code, called.out) == (0, "")
    assert called.err == f"note: written to {path}; its README.md says how to translate with it\n"
    common = {"README.md", "config.json", "tokenizer.json"}
    assert {file.name for file in path.iterdir()} == files | common
    again = call("export", "--model", model_folder, "--to", to, path)
    assert again.code == 2
    assert f"{path} is there already" in again.err


def test_weights_are_stored_as_asked(call: Call, model_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2", reason="the extra interop is not installed")
    options = ("export", "--model", model_folder, "--to", "ctranslate2")
    assert call(*options, tmp_path / "float32").code == 0
    assert call(*options, "--quantization", "int8", tmp_path / "int8").code == 0
    size = {name: (tmp_path / name / "model.bin").stat().st_size for name in ("float32", "int8")}
    assert size["int8"] < size["float32"] / 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--to", "onnx"), "--to onnx is not one of ctranslate2, huggingface"),
        (("--to", "huggingface", "--quantization", "int8"), "--quantization is for --to ctransla"),
        (("--to", "ctranslate2", "--quantization", "int4"), "'int4' is not one of float32,"),
        ((), "Missing option '--to'"),
    ],
)
def test_calls_that_are_wrong(
    options: tuple[str, ...], message: str, call: Call, model_folder: Path, tmp_path: Path
) -> None:
    called = call("export", "--model", model_folder, *options, tmp_path / "exported")
    assert called.code == 2
    assert message in called.err
    assert not (tmp_path / "exported").exists()
