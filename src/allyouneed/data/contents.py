"""Identifies files by the sha256 of their contents, computed once per state of a file."""

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

# A file that was changed less than this many nanoseconds before it was read may change again within
# the same clock tick and keep its time; its hash is not remembered.
SETTLED_NS = 2_000_000_000


def file_state(path: Path) -> tuple[int, int]:
    """(size in bytes, time of the last change in ns).

    Raises:
        DataError: there is no such file, or it is no plain file.
    """
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise missing(path) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise DataError(
            f"{path} is a folder or a pipe; name a plain file, because a corpus is read twice"
        )
    return status.st_size, status.st_mtime_ns


class ContentHashes:
    """sha256 of files, remembered in `memory` (JSON) by path, size and time of change."""

    def __init__(self, memory: Path) -> None:
        self._memory = memory
        self._known = _load(memory)

    def __call__(self, path: Path) -> str:
        """The sha256 of a file's bytes, in hex.

        Raises:
            DataError: the file cannot be read.
        """
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
        with suppress(OSError):  # remembering hashes only saves time
            write_whole(self._memory, json.dumps(self._known, indent=1))


def content_key(cache: Path, what: Callable[[ContentHashes], Any]) -> str:
    """The sha256, in hex, of the description that `what` returns, in JSON values. `what` is given
    a function that hashes files. The hashes of files are remembered in the folder `cache`.

    Raises:
        DataError: a file cannot be read.
    """
    described = what(ContentHashes(cache / "hashes.json"))
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _load(memory: Path) -> dict[str, list[int | str]]:
    """The remembered hashes; empty if the file is missing or damaged."""
    try:
        known = json.loads(memory.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {n: e for n, e in known.items() if isinstance(e, list) and len(e) == 3}
