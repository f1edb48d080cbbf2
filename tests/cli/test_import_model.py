"""`allyouneed import`: what is told and refused before a format's own reader."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allyouneed.core.config import TransformerConfig
from allyouneed.interop import formats

Call = Callable[..., Any]


HINT = "note: its vocabulary has 32,000 pieces: `allyouneed select-vocabulary --model "


@pytest.fixture
def bart(tmp_path: Path) -> Path:
    path = tmp_path / "bart"
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"model_type": "bart"}))
    return path


def test_the_format_is_told_by_what_lies_there(
    call: Call, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "opus").mkdir()
    (tmp_path / "opus" / "config.json").write_text(json.dumps({"model_type": "marian"}))
    asked: list[tuple[Path, Path]] = []

    def read(source: Path, into: Path, *, note: Callable[[str], None]) -> Any:
        asked.append((source, into))
        note("read")
        config = TransformerConfig(vocabulary=32_000 if into.name == "large" else 31_999)
        return formats.ModelFolder(into, config, None)  # type: ignore[arg-type]

    marian = formats.FORMATS["marian"]
    monkeypatch.setitem(
        formats.FORMATS, "marian", formats.ModelFormat(marian.what, marian.holds, read)
    )
    called = call("import", tmp_path / "opus", "--into", tmp_path / "new")
    assert (called.code, called.out) == (0, "")
    assert called.err == (
        f"note: read\nnote: written to {tmp_path / 'new'}; translate with it: "
        f"--model {tmp_path / 'new'}\n"
    )
    assert call("import", "--from", "marian", model_folder, "--into", "x").code == 0
    assert asked == [(tmp_path / "opus", tmp_path / "new"), (model_folder, Path("x"))]
    large = call("import", tmp_path / "opus", "--into", tmp_path / "large")
    assert HINT in large.err
    assert HINT not in called.err


def test_what_is_of_no_format(call: Call, bart: Path, model_folder: Path, tmp_path: Path) -> None:
    refused = call("import", bart, "--into", tmp_path / "new")
    assert refused.code == 2
    assert (
        "bart is of no format that can be imported (model_type='bart': it has learned positions "
        "and a norm over its embeddings); there are: marian (a folder of Hugging Face's"
    ) in refused.err
    missing = call("import", tmp_path / "nothing", "--into", tmp_path / "new")
    assert missing.code == 2
    assert "there is no " in missing.err
    (tmp_path / "notes.txt").write_text("notes")
    unknown = call("import", tmp_path / "notes.txt", "--into", tmp_path / "new")
    assert unknown.code == 2
    assert "notes.txt is of no format that can be imported; there are: marian" in unknown.err
    own = call("import", model_folder, "--into", tmp_path / "new")
    assert own.code == 2
    assert f"{model_folder} already is a model folder; use it with --model" in own.err


def test_a_format_that_is_said_and_does_not_fit(call: Call, bart: Path, tmp_path: Path) -> None:
    refused = call("import", "--from", "marian", bart, "--into", tmp_path / "new")
    assert refused.code == 1
    assert "bart lacks vocab.json, source.spm, target.spm, model.safetensors" in refused.err
    unknown = call("import", "--from", "bart", bart, "--into", tmp_path / "new")
    assert unknown.code == 2
    assert "--from bart is not one of " in unknown.err
    assert not (tmp_path / "new").exists()
