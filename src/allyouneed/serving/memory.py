"""How the process holds memory."""

import ctypes
import os
import sys
from contextlib import suppress

# Parameters of glibc's mallopt, and their values. With the usual values two bundled models took
# 203 MiB after some thousand sentences, with these 175 MiB, at the same speed.
ARENAS = (-8, 2)  # heaps; each thread has one of its own otherwise
MAPPED = (-3, 1 << 20)  # blocks of more bytes go back to the system as soon as they are freed
TRIMMED = (-1, 16 << 20)  # free bytes at the end of a heap that are kept


def hold_little_memory() -> None:
    """Has freed memory go back to the system sooner. Does nothing where another library than glibc
    holds the memory, or where variables such as MALLOC_ARENA_MAX say otherwise."""
    if sys.platform != "linux" or any(name.startswith("MALLOC_") for name in os.environ):
        return
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in (ARENAS, MAPPED, TRIMMED):
            mallopt(parameter, value)


def give_memory_back() -> None:
    """Gives freed memory between used blocks back to the system, in some milliseconds. Does nothing
    where another library than glibc holds the memory."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
