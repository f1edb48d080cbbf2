"""Writes files and folders in one step, so that nobody ever sees them half written.

The content is written to a temporary name in the same folder, synced to the disk, and renamed. If
the process is killed, the earlier content is intact.
"""

import glob
import os
import re
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

WINDOWS = os.name == "nt"
ABANDONED = 24 * 3600  # seconds after which no process writes to an unfinished folder any more
_UNFINISHED = re.compile(r"\.(.+)\.([1-9]\d{0,8})-\d+\.partial", re.DOTALL)  # as `_beside` names it


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary file to write to. When the block ends, the file replaces `path` in one step.

    If the block raises, `path` is unchanged. If `path` is a link, the file that it points to is
    replaced. A pipe or a device, such as /dev/stdout, is written to directly.

    Raises:
        OSError: no room, no permission, or a folder at `path`.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path  # not resolved: a pipe at /dev/stdout has no other name
        return
    path = path.resolve()
    beside = _beside(path)
    try:
        try:
            beside.touch()
        except OSError as error:
            error.filename = str(path)  # the name that the user knows
            raise
        permissions = beside.stat().st_mode
        yield beside
        beside.chmod(permissions)  # safetensors makes files that only the owner can read
        put_in_place(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Writes `content` to the file `path` in one step; text as UTF-8.

    Raises:
        OSError: no room or no permission. The file is then unchanged.
    """
    with whole_file(path) as beside:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)


def clear_unfinished(paths: Iterable[Path]) -> None:
    """Removes what killed processes of this machine left of the files `paths`, whose names
    `whole_file` gave. On Windows, which cannot tell safely whether a process lives, a file is
    removed a day after its last change.

    Raises:
        OSError: no permission.
    """
    names_in: defaultdict[Path, set[str]] = defaultdict(set)
    for path in map(Path.resolve, paths):
        names_in[path.parent].add(path.name)
    for folder, names in names_in.items():
        for file in folder.glob(".*.partial"):
            match = _UNFINISHED.fullmatch(file.name)
            if match and match[1] in names and file.is_file() and _is_left(file, int(match[2])):
                file.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: str | Path, *, replaces: Container[str] | None = None) -> Iterator[Path]:
    """A temporary folder to write into. When the block ends, the folder becomes `path` in one step.

    If the block raises, everything it wrote is removed. An empty folder at `path` is not replaced
    but receives the files, because another process may have it as its working directory.

    `replaces` allows an older folder at `path`: entries with these names are removed, all others
    move to the new folder. If the process is killed in between, the older folder is complete at
    `path` or at `old_folder(path)`; in the second case the next call puts it back.

    Raises:
        FileExistsError: `path` is a file, or a folder that is not empty while `replaces` is None.
        OSError: no room or no permission. An older folder is then unchanged.
    """
    path = Path(path).resolve()
    beside = _beside(path)
    if replaces is not None:
        _clear_abandoned(path, replaces)
    there = path.exists()
    if there and not (path.is_dir() and (replaces is not None or not any(path.iterdir()))):
        raise FileExistsError(f"{path} is there already")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        yield beside
        readable = beside.stat().st_mode & 0o666
        for file in beside.rglob("*"):
            if file.is_file():
                file.chmod(readable)  # safetensors makes files that only the owner can read
        if there and any(path.iterdir()):
            path.rename(old_folder(path))
        put_in_place(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if replaces is not None:
            _end_replacement(path, replaces)


def old_folder(path: Path) -> Path:
    """The name of the older folder while `whole_folder` replaces it."""
    return path.parent / f".{path.name}.old"


def put_in_place(beside: Path, path: Path) -> None:
    """Syncs the file or folder `beside` to the disk and renames it to `path`.

    A file replaces a file at `path`. A folder needs an empty folder, or nothing, at `path`.

    Raises:
        OSError: the disk or the system refuses.
    """
    _sync_all(beside)
    if beside.is_dir() and path.is_dir():
        for entry in list(beside.iterdir()):
            entry.rename(path / entry.name)
        beside.rmdir()
        sync(path)
        return
    if beside.is_dir():
        beside.rename(path)
    else:
        beside.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Waits until a file, or the list of a folder's entries, is on the disk.

    Windows cannot sync a folder; there this function does nothing for folders.
    """
    if WINDOWS and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beside(path: Path) -> Path:
    return path.parent / f".{path.name}.{os.getpid()}-{threading.get_ident()}.partial"


def _is_left(file: Path, process: int) -> bool:
    """Whether the process that wrote an unfinished file is gone."""
    if WINDOWS:  # where `os.kill` ends a process
        return time.time() - file.stat().st_mtime > ABANDONED
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it is another user's
        pass
    return False


def _sync_all(path: Path) -> None:
    if path.is_dir():
        for entry in path.iterdir():
            _sync_all(entry)
    sync(path)


def _clear_abandoned(path: Path, replaces: Container[str]) -> None:
    """Completes replacements that a killed process left, and removes its old temporary folders."""
    _end_replacement(path, replaces)
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        if time.time() - leftover.stat().st_mtime > ABANDONED:
            shutil.rmtree(leftover, ignore_errors=True)


def _end_replacement(path: Path, replaces: Container[str]) -> None:
    """Puts the old folder back if `path` is missing. Otherwise moves the old folder's entries that
    are not in `replaces` to `path`, and removes the old folder."""
    old = old_folder(path)
    if not old.is_dir():
        return
    if not path.exists():
        old.rename(path)
        return
    for entry in old.iterdir():
        if entry.name not in replaces and not (path / entry.name).exists():
            entry.rename(path / entry.name)
    shutil.rmtree(old, ignore_errors=True)
