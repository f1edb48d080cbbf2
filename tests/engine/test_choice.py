"""Which engine is taken: by name, by device, by what the machine has."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from allyouneed.engine import choice, torch_int8
from allyouneed.engine.choice import choose
from allyouneed.errors import UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import ModelFolder, open_model_folder


@pytest.fixture
def folder(model_folder: Path) -> ModelFolder:
    return open_model_folder(model_folder)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A machine with or without the native engine and a GPU; engines are stand-ins, and the GPU's
    memory is the CPU's."""

    def have(native: bool = True, cuda: bool = False) -> None:
        def engine(name: str, how: str) -> SimpleNamespace:
            return SimpleNamespace(name=name, description=how)

        def opened(
            folder: ModelFolder, name: str, threads: int | None
        ) -> tuple[SimpleNamespace, tuple[str, ...]]:
            return engine(name, f"native on {threads}"), ()

        reason = None if native else "there is no compiler"
        monkeypatch.setattr(choice, "_why_not_native", lambda folder: reason)
        monkeypatch.setattr(choice, "_native", opened)
        monkeypatch.setattr(choice, "_torch_int8", lambda core: engine("cpu-int8", "torch"))
        monkeypatch.setattr(choice, "_cuda", lambda core, device: engine("cuda", device))
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
        if cuda:
            monkeypatch.setattr(choice, "usable_device", lambda name: name or "cpu")

    return have


@pytest.mark.parametrize(
    ("name", "device", "runs"),
    [
        ("auto", None, "cpu-int8"),
        ("auto", "cpu", "cpu-int8"),
        ("auto", "cuda:1", "cuda"),
        ("core", None, "core"),
        ("cpu-float32", None, "cpu-float32"),
        ("cpu-int8", "cpu", "cpu-int8"),
        ("cuda", None, "cuda"),
        ("cuda", "cuda:1", "cuda"),
    ],
)
def test_a_machine_that_has_everything(
    name: str, device: str | None, runs: str, folder: ModelFolder, machine: Callable[..., None]
) -> None:
    machine(native=True, cuda=True)
    chosen = choose(name, folder, device, threads=3)
    assert (chosen.engine.name, chosen.notes) == (runs, ())
    assert chosen.device == (device or ("cuda" if runs == "cuda" else "cpu"))
    if runs.startswith("cpu"):
        assert chosen.engine.description == "native on 3"


def test_without_the_native_engine_something_else_runs_and_says_so(
    folder: ModelFolder, machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(native=False)
    monkeypatch.setattr(torch_int8, "int_mm_is_exact", lambda: True)
    for name, runs in (("auto", "core"), ("cpu-int8", "cpu-int8")):
        chosen = choose(name, folder)
        assert chosen.engine.name == runs
        assert chosen.notes == (
            f"the native engine cannot run (there is no compiler); {runs} runs instead, with torch",
        )


@pytest.mark.parametrize("exact", [True, False])
def test_int8_with_torch_runs_only_where_its_products_are_exact(
    exact: bool,
    folder: ModelFolder,
    machine: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(native=False)
    monkeypatch.setattr(torch_int8, "int_mm_is_exact", lambda: exact)
    chosen = choose("cpu-int8", folder)
    assert chosen.engine.name == ("cpu-int8" if exact else "core")
    also = "" if exact else ", and torch has no exact int8 products on this processor"
    why = f"the native engine cannot run (there is no compiler){also}"
    assert chosen.notes == (f"{why}; {chosen.engine.name} runs instead, with torch",)


def test_an_engine_that_the_machine_lacks_is_answered_with_those_it_has(
    folder: ModelFolder, machine: Callable[..., None]
) -> None:
    machine(native=False)
    for name, why in (("cpu-float32", "no compiler"), ("cuda", "torch finds no CUDA device")):
        with pytest.raises(
            UsageError, match=rf"engine='{name}' .*{why}; choose from auto, core, cpu-int8$"
        ):
            choose(name, folder)
    machine(native=True)
    with pytest.raises(UsageError, match=r"choose from auto, core, cpu-float32, cpu-int8$"):
        choose("cuda", folder)


@pytest.mark.parametrize(
    ("name", "device"), [("cpu-int8", "cuda"), ("cpu-float32", "mps"), ("cuda", "cpu")]
)
def test_engine_and_device_that_contradict_each_other(
    name: str, device: str, folder: ModelFolder
) -> None:
    with pytest.raises(UsageError, match=f"'{name}' does not run on device='{device}'; name only"):
        choose(name, folder, device)


def test_the_core_model_is_loaded_once_and_only_when_asked_for(
    folder: ModelFolder, machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(native=True)
    loads = []
    load_model = ModelFolder.load_model
    monkeypatch.setattr(ModelFolder, "load_model", lambda self: loads.append(1) or load_model(self))
    chosen = choose("auto", folder)
    assert not loads
    assert chosen.core() is chosen.core()
    assert loads == [1]
    core = choose("core", folder)
    assert core.engine.decodable is core.core()


def test_int8_with_torch_translates(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_why_not_native", lambda folder: "not here")
    monkeypatch.setattr(choice, "_int8_with_torch", lambda: True)
    translator = load(model_folder, engine="cpu-int8")
    assert (translator.engine.name, translator.engine.description) == ("cpu-int8", "int8, torch")
    assert translator.notes == (
        "the native engine cannot run (not here); cpu-int8 runs instead, with torch",
    )
    assert translator("a b", beam=1).tokens
