"""The benchmark of training runs from end to end, and sees work that is not equal."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PEERS = ("torch.nn.Transformer", "MarianMTModel")
pytest.importorskip("transformers", reason="the extra interop is not installed")


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "train.py", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )


def test_padding_counts_both_sides() -> None:
    from steps.report import padding

    lengths = np.array([1, 4]), np.array([3, 3])
    assert padding(lengths, [np.array([0, 1])]) == pytest.approx(1 - (1 + 4 + 3 + 3) / (8 + 6))
    assert padding(lengths, [np.array([0]), np.array([1])]) == 0


@pytest.mark.slow
def test_every_engine_in_every_precision(tmp_path: Path) -> None:
    done = run(
        *("--quick", "--rounds", "2", "--equal-steps", "4", "--threads", "1"),
        *("--long-steps", "3", "--peers", ",".join(PEERS), "--results", str(tmp_path)),
    )
    assert done.returncode == 0, done.stderr
    [path] = tmp_path.glob("train-*.json")
    document = json.loads(path.read_text("utf-8"))
    results = document["results"]
    engines = ("allyouneed", *PEERS)
    assert [(r["precision"], r["engine"]) for r in results] == [
        (precision, engine) for precision in ("float32", "bf16") for engine in engines
    ]
    for result in results:
        exact = result["precision"] == "float32"
        assert result["largest_difference"] < (1e-4 if exact else 0.01)
        assert result["equal"]
        assert (result["compared_steps"], result["rounds"]) == (4, 2)
        assert result["losses"][1] < result["losses"][0]
        assert result["tokens_per_second"][0] > 0
        assert 0 < result["share_of_peak"] < 1
        assert not sys.platform.startswith("linux") or result["peak_mib"] > 1
        assert f"│ {result['engine']} " in done.stdout
        assert result["long_run_over_fastest_peer"] > 0
    longest = [r["long_run_over_fastest_peer"] for r in results if r["engine"] != "allyouneed"]
    assert max(longest) == 1
    [fastest] = {result["fastest_peer"] for result in results}
    [peer] = (r for r in results if f"{r['engine']} {r['precision']}" == fastest)
    assert peer["over_fastest_peer"] == [1, 1, 1]
    table = path.with_suffix(".md").read_text("utf-8")
    assert table.count("\n| ") == 1 + len(results)


@pytest.mark.slow
def test_losses_alone(tmp_path: Path) -> None:
    done = run(
        *("--quick", "--rounds", "0", "--equal-steps", "3", "--threads", "1"),
        *("--precision", "bf16", "--peers", PEERS[0], "--results", str(tmp_path)),
    )
    assert done.returncode == 0, done.stderr
    [path] = tmp_path.glob("train-*.json")
    results = json.loads(path.read_text("utf-8"))["results"]
    assert {(result["compared_steps"], result["rounds"]) for result in results} == {(3, 0)}
    table = path.with_suffix(".md").read_text("utf-8")
    assert (
        "| shape | engine | precision | loss after | differs by |\n|---|---|---|---|---|\n" in table
    )
    assert not any(unit in done.stdout + done.stderr for unit in ("tokens/s", "MiB"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shapes", "big"), "'big' is not one of tiny, small, base"),
        (("--precision", "fp16"), "'fp16' is not one of float32, bf16"),
        (("--rounds", "-1"), "--rounds and --long-steps must be at least 0"),
        (("--peers", "fairseq"), "--peers must include torch.nn.Transformer"),
        (("--peers", "fairsec"), "'fairsec' is not one of torch.nn.Transformer, torch.compile"),
        (("--equal-steps", "0"), "--equal-steps and --threads must be at least 1"),
    ],
)
def test_calls_that_are_wrong(
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import train

    monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        train.main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_whose_losses_each_engine_should_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from steps import measure, work
    from steps.toolkits import EOLE

    class Stub:
        """Losses of 1, or 2 where norms come first."""

        def __init__(self, *_: object, residual: str = "post-norm", **__: object) -> None:
            self.loss = {"post-norm": 1.0, "pre-norm": 2.0}[residual]

        def step(self, number: int) -> float:
            return self.loss + number

    def made(name: str, *_: object, **__: object) -> Stub:
        stub = Stub()
        stub.loss = {measure.TORCH: 1.0, EOLE: 7.0}.get(name, 5.0)
        return stub

    monkeypatch.setattr(measure, "make_trainer", made)
    monkeypatch.setattr(measure, "OurTrainer", Stub)
    engines = measure.contestants(("allyouneed", measure.TORCH, EOLE), ["float32"])
    measure.compare_losses(work.Work(work.QUICK["quick"], tmp_path), engines, steps=2)
    assert [one.losses for one in engines] == [[5.0, 6.0], [1.0, 2.0], [7.0, 8.0]]
    assert [one.expected for one in engines] == [[1.0, 2.0], [1.0, 2.0], [2.0, 3.0]]


def test_losses_that_differ_are_seen(tmp_path: Path) -> None:
    from steps import measure, report, work

    here = work.Work(work.QUICK["quick"], tmp_path)
    ours, torch, marian = measure.contestants(("allyouneed", *PEERS), ["float32"])
    for engine, last in ((ours, 8.2), (torch, 8.1), (marian, 8.1)):
        engine.losses, engine.rates, engine.operations = [9.0, last], [2.0, 3.0], [1.0, 1.0]
        engine.expected, engine.long_rate = [9.0, 8.1], last
    first, second, _ = report.results_of(here, [ours, torch, marian], {"float32": 2.0})
    assert first["largest_difference"] == pytest.approx(8.2 / 8.1 - 1)
    assert not first["equal"]
    assert second["equal"]
    assert "NOT EQUAL" in report.rows([first])[0][-1]
    assert first["share_of_peak"] == 0.5
    assert first["long_run_over_fastest_peer"] == pytest.approx(8.2 / 8.1)
    [differs] = report.complaints([first, second], 0.05)
    assert differs.startswith("tiny: allyouneed float32: its losses differ by 1.23%")
    assert len(report.complaints([first, second], 0.5)) == 3, "and both hardly fell"


def test_losses_that_are_not_equal_end_it_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import train
    from steps import measure

    real = measure.compare_losses

    def apart(work: Any, engines: Any, steps: int) -> None:
        real(work, engines, steps)
        engines[0].losses[-1] *= 1.02

    monkeypatch.setattr(measure, "compare_losses", apart)
    options = ("--quick", "--rounds", "0", "--equal-steps", "2", "--precision", "float32")
    peers = ("--peers", PEERS[0], "--threads", "1", "--results", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["train.py", *options, *peers])
    with pytest.raises(SystemExit, match=r"losses differ by 2\.00%, more than 1%"):
        train.main()


def test_the_compiled_loop_takes_batches_of_any_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from steps import trainers, work
    from torch import nn

    compiled: list[dict[str, object]] = []
    monkeypatch.setattr(nn.Module, "compile", lambda self, **how: compiled.append(how))
    here = work.Work(work.QUICK["quick"], tmp_path)
    plain, other = (
        trainers.make_trainer(name, here, "float32", dropout=0.0)
        for name in (trainers.TORCH, trainers.COMPILED)
    )
    assert compiled == [{"dynamic": True}]
    assert [plain.step(n) for n in range(2)] == [other.step(n) for n in range(2)]


def test_everybody_gets_the_same_pieces() -> None:
    from steps import work

    for shape in (*work.SHAPES.values(), *work.QUICK.values()):
        assert shape.recipe("float32").vocabulary.dropout == 0


def test_operations_are_those_of_real_tokens(tmp_path: Path) -> None:
    from steps import work

    here = work.Work(work.QUICK["quick"], tmp_path)
    pairs = here.pairs(0)
    source, target = here.material.train.lengths()
    assert here.batch(0).target_tokens == target[pairs].sum()
    c = here.config
    encoder = c.encoder_layers * (4 * c.d_model**2 + 2 * c.d_model * c.d_ff)
    memory = c.decoder_layers * 2 * c.d_model**2
    decoder = c.decoder_layers * (6 * c.d_model**2 + 2 * c.d_model * c.d_ff)
    forward = source[pairs].sum() * (encoder + memory)
    forward += target[pairs].sum() * (decoder + c.d_model * c.vocabulary)
    assert here.operations(0) == 6 * forward
