"""Compiles the native engine and the kernels of training for this machine, unless they are there.

python tools/native.py
"""

import ctypes
from contextlib import suppress

from allyouneed.engine.native.build import KERNELS
from allyouneed.engine.native.library import NoLibrary, find_library, found


def main() -> None:
    with suppress(NoLibrary):  # without a compiler, tests of native code are skipped
        find_library()
        found(KERNELS, lambda path: ctypes.CDLL(str(path)))


if __name__ == "__main__":
    main()
