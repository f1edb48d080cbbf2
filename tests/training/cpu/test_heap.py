"""Memory that was freed goes back to the system."""

import ctypes
import sys
from pathlib import Path

import pytest

from allyouneed.training.cpu.heap import give_back


def resident() -> int:
    """Bytes of this process that lie in memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_what_lies_between_blocks_in_use_is_given_back() -> None:
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        pytest.skip("another C library than glibc")
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    size, count = 100_000, 1000  # small enough to lie on the heap
    blocks = [libc.malloc(size) for _ in range(count)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    kept = blocks[::100]
    for number, block in enumerate(blocks):
        if number % 100:
            libc.free(block)
    before = resident()
    give_back()
    after = resident()
    for block in kept:
        libc.free(block)
    assert before - after > size * count / 2
