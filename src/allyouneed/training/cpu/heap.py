"""The heap of the C library, which does not return all freed memory to the system."""

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Returns free memory to the system, if the C library can do so (glibc).

    Tensors of changing shapes leave holes between used blocks. Without this call, a run of some
    hours holds several times the memory that it needs.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
