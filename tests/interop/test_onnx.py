"""Graphs of ONNX, run by onnxruntime, give the core's logits and its translations."""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch.testing import assert_close

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import ConfigError, UsageError
from allyouneed.interop.marian_folder import import_marian
from allyouneed.interop.onnx_folder import export_onnx
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.text.tokenizer import Tokenizer

Make = Callable[..., Transformer]
KINDS: dict[str, dict[str, Any]] = {
    "the paper": {"encoder_layers": 2, "decoder_layers": 2},
    "pre-norm, gated, rotary": {
        "residual": "pre-norm",
        "norm": "rms",
        "activation": "swiglu",
        "positions": "rotary",
        "bias": False,
        "head_width": 6,
    },
    "as BERT": {
        "activation": "gelu",
        "positions": "learned",
        "normalise_embeddings": True,
        "scale_embeddings": False,
    },
    "as Marian": {"activation": "silu", "output_bias": True, "start": 0, "positions": "stored"},
    "SSRU": {"decoder": "ssru", "decoder_layers": 2},
    "SSRU, pre-norm": {"decoder": "ssru", "residual": "pre-norm", "bias": False, "start": 0},
    "nothing shared": {"shared_embeddings": "none", "positions": "none", "encoder_layers": 0},
}
SOURCE = [[5, 9, 44, 7, 2], [8, 2, 0, 0, 0], [0, 0, 31, 6, 2]]  # padded on either side


def exported(model: Transformer, tokenizer: Tokenizer, tmp_path: Path) -> Path:
    save_model_folder(tmp_path / "model", model, tokenizer)
    export_onnx(open_model_folder(tmp_path / "model"), tmp_path / "onnx")
    return tmp_path / "onnx"


def session(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(file, options)


def named(session: onnxruntime.InferenceSession, given: dict[str, Any]) -> dict[str, Any]:
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, given), strict=True))


def step_by_step(path: Path, source_BS: Any, target_BT: Any) -> Any:
    """Logits BTV, a step at a time."""
    config = json.loads((path / "config.json").read_text("utf-8"))
    encoder, step = session(path / "encoder.onnx"), session(path / "decoder_step.onnx")
    memory = named(encoder, {"source": source_BS})
    empty = np.zeros((len(source_BS), config["heads"], 0, config["head_width"]), np.float32)
    layers = range(config["decoder_layers"])
    cache = {f"{kind}.{n}": empty for n in layers for kind in ("keys", "values")}
    if "length" in [given.name for given in step.get_inputs()]:
        cache = {f"states.{n}": np.zeros((len(source_BS), 16), np.float32) for n in layers}
        cache["length"] = np.zeros(1, np.int64)
    logits = []
    for ids in target_BT.T:
        found = named(step, {"ids": ids, **memory, **cache})
        logits.append(found["logits"])
        cache = {name: found[f"new_{name}"] for name in cache}
    return np.stack(logits, axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_those_of_the_core(
    kind: str, small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = small_model(**KINDS[kind])
    if KINDS[kind].get("positions") == "stored":
        for side in (model.encoder, model.decoder):
            side.embeddings.positions.table.normal_()  # type: ignore[union-attr]
    path = exported(model, small_tokenizer, tmp_path)
    for name in ("encoder.onnx", "decoder_step.onnx"):
        onnx.checker.check_model(path / name, full_check=True)
    source_BS = torch.tensor(SOURCE)
    target_BT = torch.randint(3, 60, (3, 6), generator=torch.Generator().manual_seed(0))
    target_BT[:, 0] = model.config.start
    with torch.no_grad():
        expected_BTV = model(source_BS, target_BT)
    found_BTV = torch.from_numpy(step_by_step(path, source_BS.numpy(), target_BT.numpy()))
    assert expected_BTV.std() > 0.5
    assert_close(found_BTV, expected_BTV, rtol=1e-4, atol=1e-4)


def test_a_shared_matrix_is_kept_once(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = small_model()
    path = exported(model, small_tokenizer, tmp_path)
    numbers = sum(weight.numel() for weight in model.parameters())  # a shared one counts once
    tables = 2 * 64 * 16
    pages = sum(1 for _ in model.parameters()) + 2
    size = (path / "weights.bin").stat().st_size
    assert 4 * (numbers + tables) <= size <= 4 * (numbers + tables) + 4096 * pages


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundled") / "en-de"
    export_onnx(open_model_folder("en-de"), path)
    return path


def test_the_readme_translates_as_greedy_search_does(
    bundled: Path,
    real_sentences: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    readme = (bundled / "README.md").read_text("utf-8")
    assert "{" not in readme.split("## Inputs")[1]
    program = bundled.parent / "program.py"
    program.write_text(readme.split("```python\n")[1].split("```")[0], "utf-8")
    monkeypatch.chdir(bundled)
    translate = runpy.run_path(str(program))["translate"]
    assert capsys.readouterr().out == "Guten Morgen!\n"
    ours = load("en-de", engine="core")
    found = ours(real_sentences, options=BeamOptions(beam=1), protect=False)
    assert translate(real_sentences) == [one.text for one in found]


def test_logits_of_real_sentences(bundled: Path, real_sentences: list[str]) -> None:
    ours = load("en-de", engine="core")
    sources = ours.tokenizer.encode_ids(real_sentences[:12])
    targets = ours.tokenizer.encode_ids(
        ["Eine Frau und zwei Kinder gehen im Park spazieren."] * len(sources)
    )
    longest = max(map(len, sources))
    source_BS = np.array([[*ids, *[0] * (longest - len(ids))] for ids in sources])
    target_BT = np.array([[1, *ids] for ids in targets])
    with torch.no_grad():
        expected_BTV = ours.model(torch.from_numpy(source_BS), torch.from_numpy(target_BT))
    found_BTV = torch.from_numpy(step_by_step(bundled, source_BS, target_BT))
    assert_close(found_BTV, expected_BTV, rtol=1e-4, atol=1e-4)


def test_an_imported_model(
    marian_folder: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = import_marian(marian_folder(True), tmp_path / "ours", note=lambda text: None)
    export_onnx(folder, tmp_path / "onnx")
    readme = (tmp_path / "onnx" / "README.md").read_text("utf-8")
    assert "pip install onnxruntime allyouneed" in readme
    monkeypatch.chdir(tmp_path / "onnx")
    program = readme.split("```python\n")[1].split("```")[0]
    run: dict[str, Any] = {}
    exec(program.replace("longest + 49", "12"), run)
    texts = [">>deu<< A man rides a bike.", "The dog sleeps."]
    options = BeamOptions(beam=1, loop_guard=False, max_length=12)
    found = load(folder.path, engine="core")(texts, options=options)
    assert run["translate"](texts) == [one.text for one in found]


def test_the_readme_of_a_recurrence_translates(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = exported(small_model(decoder="ssru"), small_tokenizer, tmp_path)
    monkeypatch.chdir(path)
    readme = Path("README.md").read_text("utf-8")
    assert "`states.0` …, float32 (B, 16)" in readme
    run: dict[str, Any] = {}
    program = readme.split("```python\n")[1].split("```")[0]
    exec(program.replace("longest + 49", "12"), run)
    texts = ["a man and a dog", "the dog"]
    options = BeamOptions(beam=1, loop_guard=False, max_length=12)
    found = load(tmp_path / "model", engine="core")(texts, options=options)
    assert run["translate"](texts) == [one.text for one in found]


def test_what_cannot_be_exported(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        ConfigError, match="decoder_layers=0: what is exported to ONNX needs a decoder"
    ):
        exported(small_model(decoder_layers=0), small_tokenizer, tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UsageError, match=r"pip install 'allyouneed\[onnx\]'"):
        exported(small_model(), small_tokenizer, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
