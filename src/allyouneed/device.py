"""Where a model computes: a torch device by its name, and whether its memory is short."""

import os
from typing import TYPE_CHECKING

from allyouneed.errors import UsageError, needs_torch

if TYPE_CHECKING:
    import torch

MOST_THREADS = 1024  # more than that takes minutes to start and is nobody's wish
NO_MEMORY = ("OutOfMemoryError", "not enough memory", "can't allocate memory", "out of memory")


def usable_device(name: str | None) -> str:
    """The name of a device that can be used here, "cpu" for None; of the CPU torch isn't asked.

    Raises:
        UsageError: no such device here; it names those that are.
    """
    return "cpu" if name in (None, "cpu") else str(named_device(str(name)))


def named_device(name: str) -> "torch.device":
    """The device that torch calls by this name ("cpu", "cuda:1"), after using it once.

    Raises:
        UsageError: no such device here; it names those that are.
    """
    with needs_torch(f"device={name!r}"):
        import torch

    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        here = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
        here += ["mps"] if torch.backends.mps.is_available() else []
        reason = str(error).splitlines()[0]
        told = (
            "" if reason.startswith("Expected one of") else f" ({reason})"
        )  # all of torch's kinds
        raise UsageError(
            f"device={name!r} cannot be used; choose from {', '.join(here)}{told}"
        ) from error
    return device


def check_threads(threads: int | None) -> None:
    """Raises UsageError for a number of threads that no machine has; None is for all cores."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"threads={threads} must be from 1 to {MOST_THREADS}")


def machine_memory() -> int | None:
    """The bytes of memory that this machine has in all; None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def memory_is_short(error: Exception) -> bool:
    """Whether torch or Python says that by this error; torch has no class for it on a CPU."""
    return isinstance(error, MemoryError) or any(words in repr(error) for words in NO_MEMORY)
