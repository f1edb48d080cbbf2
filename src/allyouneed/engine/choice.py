"""Chooses the engine that runs a model: by name, or the fastest that this machine has for the
device."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from allyouneed.checks import expect, shortened
from allyouneed.device import check_threads, usable_device
from allyouneed.engine.engine import Engine
from allyouneed.errors import UsageError, needs_torch
from allyouneed.model_folder.folder import ModelFolder

if TYPE_CHECKING:
    from allyouneed.core.transformer import Transformer

ENGINES = ("auto", "core", "cpu-float32", "cpu-int8", "cuda")


@dataclass(frozen=True, slots=True)
class Chosen:
    """An opened engine.

    `core` returns the core model on `device`, the engine's device; the first call loads it. `notes`
    say why another engine runs than the one that was asked for or is the fastest.
    """

    engine: Engine
    core: "Callable[[], Transformer]"
    device: str
    notes: tuple[str, ...] = ()


def choose(
    name: str, folder: ModelFolder, device: str | None = None, threads: int | None = None
) -> Chosen:
    """Opens the engine of this name for the folder's model.

    "auto" is the fastest engine for the device; the device is the CPU if none is named. On a GPU
    that is "cuda". On a CPU it is "cpu-int8" if the native engine can run the model, otherwise
    "core". "cpu-int8" by name runs with torch where the native engine cannot, provided that torch's
    int8 products are exact on this processor. `threads` is the number of cores that a CPU engine
    and torch may use.

    Raises:
        UsageError: the engine does not exist, cannot run on this machine (the message lists those
            that can), or does not run on this device; or the device does not exist, or the number
            of threads is below 1; or $ALLYOUNEED_CPU names no variant of the native engine.
        ModelFolderError: weights that cannot be read.
    """
    check_engine(name, device, threads)
    if reason := _why_not(name, folder):
        here = ["auto", *(other for other in ENGINES[1:] if not _why_not(other, folder))]
        raise UsageError(
            f"engine={name!r} cannot run here: {reason}; choose from {', '.join(here)}"
        )
    place = usable_device(device or ("cuda" if name == "cuda" else None))
    core = _core_model(folder, place, threads)
    kind = place.partition(":")[0]
    hoped = {"cpu": "cpu-int8", "cuda": "cuda"}.get(kind, "core") if name == "auto" else name
    if hoped == "core":
        return Chosen(_core(core), core, place)
    if hoped == "cuda":
        if reason := _why_no_graphs(folder):
            note = f"the engine for CUDA cannot run it ({reason}); core runs instead, more slowly"
            return Chosen(_core(core), core, place, (note,))
        return Chosen(_cuda(core, place), core, place)
    reason = _why_not_native(folder)
    if reason is None:
        engine, notes = _native(folder, hoped, threads)
        return Chosen(engine, core, place, notes)
    why = f"the native engine cannot run ({reason})"
    with needs_torch(f"{why}; the engine that runs in its place"):
        import torch  # noqa: F401 - raises where torch is not installed
    wanted = name == "cpu-int8"  # "auto" takes float32, which is faster than int8 in torch
    if wanted and not _int8_with_torch():
        why += ", and torch has no exact int8 products on this processor"
    instead = _torch_int8(core) if wanted and _int8_with_torch() else _core(core)
    return Chosen(instead, core, place, (f"{why}; {instead.name} runs instead, with torch",))


def check_engine(name: str, device: str | None, threads: int | None) -> None:
    """Raises UsageError if the engine or the device does not exist, if the engine does not run on
    the device, or if the number of threads is impossible."""
    if name not in ENGINES:
        raise UsageError(f"engine={shortened(name)} is not one of {', '.join(ENGINES)}")
    expect(device, str | None, "device", 'the name of a torch device, such as "cpu" or "cuda"')
    kind = (device or "").partition(":")[0]
    if kind and name not in ("auto", "core") and name.partition("-")[0] != kind:
        raise UsageError(
            f"engine={name!r} does not run on device={device!r}; name only one of the two"
        )
    if device is not None:
        usable_device(device)
    check_threads(threads)


def _why_not(name: str, folder: ModelFolder) -> str | None:
    """Why this machine cannot run the model with the engine of this name; None if it can."""
    if name == "cpu-float32":
        return _why_not_native(folder)
    if name in ("core", "cuda"):
        try:
            import torch
        except ModuleNotFoundError:
            return (
                "torch is not installed; install it with: pip install 'allyouneed[torch]', or in "
                "a checkout: pip install '.[torch]'"
            )
    if name == "cuda":
        if not torch.cuda.is_available():
            return "torch finds no CUDA device"
        return _why_no_graphs(folder)
    return None


def _why_no_graphs(folder: ModelFolder) -> str | None:
    decoder = folder.config.decoder
    if decoder == "self-attention":
        return None
    return f"it needs a decoder with self-attention, and this model has decoder={decoder!r}"


def _why_not_native(folder: ModelFolder) -> str | None:
    try:
        from allyouneed.engine.native import why_not
    except ImportError:
        return "this installation does not include it"
    return why_not(folder.config)


def _core_model(
    folder: ModelFolder, device: str, threads: int | None
) -> "Callable[[], Transformer]":
    @cache
    def core() -> "Transformer":
        with needs_torch("the core model"):
            import torch

        if threads is not None:
            torch.set_num_threads(threads)
        return folder.load_model().to(device)

    return core


def _native(folder: ModelFolder, name: str, threads: int | None) -> tuple[Engine, tuple[str, ...]]:
    from allyouneed.engine.native.engine import NativeEngine
    from allyouneed.pipeline import processors

    wanted = threads or processors()
    engine = NativeEngine.open(folder, "int8" if name == "cpu-int8" else "float32", wanted)
    notes = [engine.library.note] if engine.library.note else []
    if engine.threads < wanted:
        notes.append(
            f"only {engine.threads} of {wanted} threads run, because memory is short; free some, "
            "or use fewer threads"
        )
    return engine, tuple(notes)


def _core(core: "Callable[[], Transformer]") -> Engine:
    from allyouneed.engine.torch_engine import core_engine

    return core_engine(core())


def _int8_with_torch() -> bool:
    from allyouneed.engine.torch_int8 import int_mm_is_exact

    return int_mm_is_exact()  # otherwise the sums are computed in float64, many times slower


def _torch_int8(core: "Callable[[], Transformer]") -> Engine:
    from allyouneed.engine.torch_engine import TorchEngine
    from allyouneed.engine.torch_int8 import Int8Transformer

    return TorchEngine("cpu-int8", "int8, torch", Int8Transformer(core()))


def _cuda(core: "Callable[[], Transformer]", device: str) -> Engine:
    from allyouneed.engine.cuda import TURN, CudaTransformer
    from allyouneed.engine.torch_engine import TorchEngine

    model = CudaTransformer(core(), device)
    return TorchEngine("cuda", "bfloat16, torch, CUDA graphs", model, device, TURN)
