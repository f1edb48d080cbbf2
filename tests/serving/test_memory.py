"""Memory that is freed goes back to the system."""

import os
import platform
import subprocess
import sys

import pytest

# Blocks below the largest threshold that glibc takes by itself: once one of them has been freed,
# glibc keeps all later ones of its size, unless it is told otherwise.
FREED = """
import ctypes, resource, sys
from allyouneed.serving.memory import hold_little_memory
if sys.argv[1] == "held":
    hold_little_memory()
malloc, free = ctypes.CDLL(None).malloc, ctypes.CDLL(None).free
malloc.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
SIZE = 24 << 20
free(malloc(SIZE))
blocks = [malloc(SIZE), malloc(2000)]
ctypes.memset(blocks[0], 1, SIZE)
free(blocks[0])
pages = int(open("/proc/self/statm").read().split()[1])
print(pages * resource.getpagesize() >> 20)
"""

# Small blocks, of which every hundredth stays in use.
BETWEEN = """
import ctypes, resource, sys
from allyouneed.serving.memory import give_memory_back
malloc, free = ctypes.CDLL(None).malloc, ctypes.CDLL(None).free
malloc.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
SIZE = 4096
blocks = [malloc(SIZE) for _ in range(8000)]
for block in blocks:
    ctypes.memset(block, 1, SIZE)
for n, block in enumerate(blocks):
    if n % 100:
        free(block)
if sys.argv[1] == "held":
    give_memory_back()
pages = int(open("/proc/self/statm").read().split()[1])
print(pages * resource.getpagesize() >> 20)
"""


def resident(program: str, how: str) -> int:
    """MiB of a process that has freed 24 MiB or more."""
    environment = {name: one for name, one in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", program, how]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this is about glibc")
@pytest.mark.parametrize("program", [FREED, BETWEEN])
def test_freed_memory_goes_back(program: str) -> None:
    assert resident(program, "held") < resident(program, "usual") - 16
