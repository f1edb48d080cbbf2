"""The libraries that were compiled on this machine: those used lately are kept, others removed.

Every version of the sources, every variant and every change of flags has a library of its own, of
about 1 MB. A process that has a library open keeps it where the system lets an open file be
removed; elsewhere removing it fails, and it stays.
"""

import os
import re
import time
from contextlib import suppress
from pathlib import Path

from allyouneed.files import ABANDONED

MOST = 12  # libraries kept
IN_USE = 3600.0  # seconds since the last use in which a library is never removed
OF_A_LIBRARY = re.compile(r"(?P<library>[a-z0-9-]+-[0-9a-f]{16})\.(so|sha256)")
UNFINISHED = re.compile(r"\.[a-z0-9-]+-[a-z0-9_]+\.so")


def mark_used(library: Path) -> None:
    """Notes in the file's time that the library is used now."""
    with suppress(OSError):  # another user's library, or a folder that cannot be written
        os.utime(library)


def remove_unused(folder: Path) -> None:
    """Removes all compiled libraries of the folder but the 12 used last and those used within the
    last hour. Removes files that killed compilers left there a day ago or earlier.

    Other processes may open, compile and remove libraries of the folder meanwhile: one that misses
    its library compiles it again.
    """
    now = time.time()
    used: dict[str, float] = {}  # for each library when it was used last
    files: dict[str, list[Path]] = {}
    for path in list(folder.iterdir()):
        with suppress(OSError):  # removed by another process, or open on Windows
            last = path.stat().st_mtime
            if match := OF_A_LIBRARY.fullmatch(path.name):
                name = match["library"]
                used[name] = max(last, used.get(name, last))
                files.setdefault(name, []).append(path)
            elif UNFINISHED.fullmatch(path.name) and now - last > ABANDONED:
                path.unlink()
    for name in sorted(used, key=used.__getitem__, reverse=True)[MOST:]:
        if now - used[name] > IN_USE:
            for path in sorted(files[name], reverse=True):  # the library before its digest
                with suppress(OSError):
                    path.unlink()
