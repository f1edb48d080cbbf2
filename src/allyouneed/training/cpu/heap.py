"""The C library's heap, which keeps what a run has freed."""

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Returns free memory to the system, where the C library can (glibc).

    Tensors of ever other shapes leave holes between blocks in use: without this, some hours of a
    run hold several times the memory that it needs.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
