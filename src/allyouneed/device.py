"""Torch devices by name, and limits of the machine: threads and memory."""

import os
from typing import TYPE_CHECKING

from allyouneed.checks import shortened
from allyouneed.errors import UsageError, needs_torch

if TYPE_CHECKING:
    import torch

MOST_THREADS = 1024  # starting more threads takes minutes and is surely a mistake
NO_MEMORY = ("OutOfMemoryError", "not enough memory", "can't allocate memory", "out of memory")

NO_REASON = ("Expected one of", "device() received an invalid combination", "Invalid device string")


def usable_device(name: str | None) -> str:
    """The name of a device that this machine has; None gives "cpu", without importing torch.

    Raises:
        UsageError: this machine lacks the device. The message lists its devices.
    """
    return "cpu" if name in (None, "cpu") else str(named_device(str(name)))


def named_device(name: str) -> "torch.device":
    """The torch device of this name, such as "cpu" or "cuda:1", made ready for use (`made_ready`).
    That a number can be put on it was tried.

    Raises:
        UsageError: this machine lacks the device. The message lists its devices.
    """
    with needs_torch(f"device={name!r}"):
        import torch

    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, TypeError, ValueError) as error:
        here = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
        here += ["mps"] if torch.backends.mps.is_available() else []
        reason = str(error).splitlines()[0]
        # These two begin a list of every kind of device that torch knows, mostly absent ones, and a
        # list of every kind of argument that its function takes.
        why = "" if reason.startswith(NO_REASON) else f" ({reason})"
        raise UsageError(
            f"device={shortened(name)} cannot be used; choose from {', '.join(here)}{why}"
        ) from error
    return made_ready(device)


def made_ready(device: "torch.device") -> "torch.device":
    """The device. If it is a GPU, torch's attention by cuDNN is switched off in this process.

    cuDNN prepares anew for each new shape of a batch. That took 0.2 seconds a shape on an H200, so
    that the first epoch of a training took three times as long as the next one. torch's other fused
    kernels of attention need no preparation.
    """
    if device.type == "cuda":
        import torch

        torch.backends.cuda.enable_cudnn_sdp(False)
    return device


def check_threads(threads: int | None) -> None:
    """Raises UsageError unless `threads` is a whole number from 1 to 1024, or None for all
    cores."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int)):
        raise UsageError(f"threads={shortened(threads)} must be a whole number, at least 1")
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"threads={threads} must be from 1 to {MOST_THREADS}")


def machine_memory() -> int | None:
    """The machine's memory in bytes; None if the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def memory_is_short(error: Exception) -> bool:
    """Whether this error of torch or Python reports a lack of memory.

    On a CPU torch raises a RuntimeError for it, so the text of the error is examined.
    """
    return isinstance(error, MemoryError) or any(words in repr(error) for words in NO_MEMORY)
