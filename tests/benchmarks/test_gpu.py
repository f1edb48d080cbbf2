"""The benchmark for GPUs runs from end to end, here on a CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("transformers", reason="the extra interop is not installed")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "gpu.py", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_decoding_and_training_are_measured(tmp_path: Path) -> None:
    results = tmp_path / "gpu.jsonl"
    done = run(
        *("--quick", "--device", "cpu", "--cells", "1x4", "--steps", "5"),
        *("--peers", "torch.nn.Transformer,MarianMTModel", "--results", str(results)),
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    decoding, training = rows[:2], rows[2:]
    assert [row["what"] for row in decoding] == ["decoding 1x4"] * 2
    assert [row["engine"].split()[0] for row in decoding] == ["core", "huggingface"]
    assert decoding[1]["over_huggingface"] == 1
    engines = ["allyouneed", "torch.nn.Transformer", "MarianMTModel"]
    assert [row["engine"] for row in training] == engines
    assert training[0]["over_ours"] == 1
    assert all(row["target_tokens_per_second"] > 0 for row in training)


def test_without_a_gpu_it_says_so() -> None:
    done = run("--cells", "1x1")
    assert done.returncode == 1
    assert "device='cuda' cannot be used; choose from cpu" in done.stderr
    assert "--cells: '2x2' is not one of 1x1" in run("--cells", "2x2").stderr
