"""Which engine runs a model: by name, or the fastest that this machine has for the device."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from allyouneed.device import check_threads, usable_device
from allyouneed.engine.engine import Engine
from allyouneed.errors import UsageError, needs_torch
from allyouneed.model_folder.folder import ModelFolder

if TYPE_CHECKING:
    from allyouneed.core.transformer import Transformer

ENGINES = ("auto", "core", "cpu-float32", "cpu-int8", "cuda")


@dataclass(frozen=True, slots=True)
class Chosen:
    """An engine, open; `core` gives the core model, loaded when it is first asked for, and on
    `device` like the engine; `notes` say where something else runs than was hoped for, and why."""

    engine: Engine
    core: "Callable[[], Transformer]"
    device: str
    notes: tuple[str, ...] = ()


def choose(
    name: str, folder: ModelFolder, device: str | None = None, threads: int | None = None
) -> Chosen:
    """Opens the engine of this name for the folder's model.

    "auto" is the fastest for the device, which is the CPU where none is named: "cuda" on a GPU,
    "cpu-int8" on a CPU, where the native engine can run the model, or else "core". "cpu-int8" by
    name runs with torch where the native engine cannot, if torch's int8 products are exact here.
    `threads` is how many cores a CPU engine, and torch, may use.

    Raises:
        UsageError: an engine that there is not, that this machine lacks, or that does not run on
            this device; it names those that it has. A device that is not there, or no threads.
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
    with needs_torch(f"{why}; what runs in its place"):
        import torch  # noqa: F401 - whether it is there
    wanted = name == "cpu-int8"  # "auto" does without: with torch int8 is slower than float32
    if wanted and not _int8_with_torch():
        why += ", and torch has no exact int8 products on this processor"
    instead = _torch_int8(core) if wanted and _int8_with_torch() else _core(core)
    return Chosen(instead, core, place, (f"{why}; {instead.name} runs instead, with torch",))


def check_engine(name: str, device: str | None, threads: int | None) -> None:
    """Raises UsageError for an engine that there is not, or that contradicts the device, for a
    device that is not there, and for a number of threads that no machine has."""
    if name not in ENGINES:
        raise UsageError(f"engine={name!r} is not one of {', '.join(ENGINES)}")
    kind = (device or "").partition(":")[0]
    if kind and name not in ("auto", "core") and name.partition("-")[0] != kind:
        raise UsageError(
            f"engine={name!r} does not run on device={device!r}; leave one of the two out"
        )
    if device is not None:
        usable_device(device)
    check_threads(threads)


def _why_not(name: str, folder: ModelFolder) -> str | None:
    """Why this machine cannot run the model with the engine of this name; None: it can."""
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
    return f"it records self-attention, and this model has decoder={decoder!r}"


def _why_not_native(folder: ModelFolder) -> str | None:
    try:
        from allyouneed.engine.native import why_not
    except ImportError:
        return "it is not part of this installation"
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

    engine = NativeEngine.open(folder, "int8" if name == "cpu-int8" else "float32", threads)
    return engine, (engine.library.note,) if engine.library.note else ()


def _core(core: "Callable[[], Transformer]") -> Engine:
    from allyouneed.engine.torch_engine import core_engine

    return core_engine(core())


def _int8_with_torch() -> bool:
    from allyouneed.engine.torch_int8 import int_mm_is_exact

    return int_mm_is_exact()  # else its sums are taken in float64, many times as slow


def _torch_int8(core: "Callable[[], Transformer]") -> Engine:
    from allyouneed.engine.torch_engine import TorchEngine
    from allyouneed.engine.torch_int8 import Int8Transformer

    return TorchEngine("cpu-int8", "int8, torch", Int8Transformer(core()))


def _cuda(core: "Callable[[], Transformer]", device: str) -> Engine:
    from allyouneed.engine.cuda import CudaTransformer
    from allyouneed.engine.torch_engine import TorchEngine

    model = CudaTransformer(core(), device)
    return TorchEngine("cuda", "bfloat16, torch, CUDA graphs", model, device)
