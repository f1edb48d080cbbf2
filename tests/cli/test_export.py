"""`allyouneed export`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allyouneed.model_folder.folder import save_model_folder

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("to", "files"),
    [
        ("ctranslate2", {"model.bin", "shared_vocabulary.json", "allyouneed.json"}),
        ("onnx", {"encoder.onnx", "decoder_step.onnx", "weights.bin"}),
        (
            "huggingface",
            {
                "model.safetensors",
                "tokenizer_config.json",
                "generation_config.json",
                "allyouneed.json",
            },
        ),
    ],
)
def test_folder_is_written(
    to: str, files: set[str], call: Call, model_folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ctranslate2", reason="the extra interop is not installed")
    path = tmp_path / "exported"
    called = call("export", "--model", model_folder, "--to", to, path)
    assert (called.code, called.out) == (0, "")
    assert called.err == f"note: written to {path}; its README.md says how to use it\n"
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
        (("--to", "fairseq"), "--to fairseq is not one of ctranslate2, huggingface, marian, onnx"),
        (("--to", "onnx", "--quantization", "int8"), "--quantization needs --to ctranslate2"),
        (("--to", "huggingface", "--quantization", "int8"), "--quantization needs --to ctransla"),
        (("--to", "ctranslate2", "--quantization", "int4"), "'int4' is not one of float32,"),
        (("--to", "marian", "--quantization", "int4"), "'int4' is not one of float32, int8"),
        (("--to", "marian"), "without changing its translations: positions="),
        (("--to", "onnx", "--sentences", __file__), "--sentences needs --to marian"),
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


@pytest.mark.parametrize("to", ["ctranslate2", "huggingface", "onnx"])
def test_work_that_fails_leaves_nothing(
    to: str, call: Call, small_model: Any, small_tokenizer: Any, model_folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ctranslate2", reason="the extra interop is not installed")
    (tmp_path / "file").write_text("a file, no folder")
    before = sorted(tmp_path.iterdir())
    called = call("export", "--model", model_folder, "--to", to, tmp_path / "file" / "exported")
    assert called.code == 1
    assert "file/exported could not be written" in called.err
    assert "choose another place" in called.err
    missing = call("export", "--model", tmp_path / "no-model", "--to", to, tmp_path / "exported")
    assert missing.code == 1
    assert "no-model" in missing.err
    (model_folder / "model.safetensors").write_bytes(b"cut short")
    damaged = call("export", "--model", model_folder, "--to", to, tmp_path / "exported")
    assert damaged.code == 1
    assert "model.safetensors" in damaged.err
    no_room = {"encoder_layers": 0, "decoder_layers": 0, "norm_epsilon": 0.1}
    save_model_folder(model_folder, small_model(**no_room), small_tokenizer)
    refused = call("export", "--model", model_folder, "--to", to, tmp_path / "exported")
    assert refused.code == 2
    message = {
        "ctranslate2": "encoder_layers=0 has no room in",
        "huggingface": "norm_epsilon=0.1 has no room in",
        "onnx": "decoder_layers=0: what is exported to ONNX needs a decoder",
    }[to]
    assert f"error: {message}" in refused.err
    assert sorted(tmp_path.iterdir()) == before


def test_the_current_folder_is_filled(
    call: Call, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert call("export", "--model", model_folder, "--to", "huggingface", ".").code == 0
    assert Path("model.safetensors").is_file()  # not in a folder that has replaced it


def test_package_that_is_not_there(
    call: Call, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2.specs", None)
    options = ("export", "--model", model_folder, "--to", "ctranslate2")
    called = call(*options, tmp_path / "exported")
    assert called.code == 2
    assert "install it with: pip install 'allyouneed[interop]'" in called.err
    assert not (tmp_path / "exported").exists()
