"""Files known by their contents: a sha256 that is computed once per state of a file."""

import hashlib
import json
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from allyouneed.data.lines import missing
from allyouneed.errors import DataError
from allyouneed.files import write_whole

# A file changed within this many nanoseconds of being read could change again within the same
# clock tick and look the same; its hash is not kept.
SETTLED_NS = 2_000_000_000


def file_state(path: Path) -> tuple[int, int]:
    """(size in bytes, time of the last change in ns). Raises DataError if there is no such file."""
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise missing(path) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise DataError(f"{path}: is a folder or a pipe; a corpus is read twice, from plain files")
    return status.st_size, status.st_mtime_ns


class ContentHashes:
    """sha256 of files, remembered in `memory` (JSON) by path, size and time of change."""

    def __init__(self, memory: Path) -> None:
        self._memory = memory
        self._known = _load(memory)

    def __call__(self, path: Path) -> str:
        """The sha256 of a file's bytes, in hex. Raises DataError when it cannot be read."""
        size, changed = file_state(path)
        name = str(path.resolve())
        known = self._known.get(name)
        if known is not None and known[:2] == [size, changed]:
            return str(known[2])
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from error
        if time.time_ns() - changed > SETTLED_NS:
            self._known[name] = [size, changed, digest]
            self._save()
        return digest

    def _save(self) -> None:
        with suppress(OSError):  # the memory only saves time
            write_whole(self._memory, json.dumps(self._known, indent=1))


def content_key(cache: Path, what: Callable[[ContentHashes], Any]) -> str:
    """The sha256, in hex, over all that something in the folder `cache` follows from, as JSON can
    hold it; what files hold is known by their hashes, remembered there.

    Raises DataError when a file cannot be read.
    """
    described = what(ContentHashes(cache / "hashes.json"))
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _load(memory: Path) -> dict[str, list[int | str]]:
    """What was remembered; nothing when the file is absent or spoilt."""
    try:
        known = json.loads(memory.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {n: e for n, e in known.items() if isinstance(e, list) and len(e) == 3}
