"""Files and folders that are whole or not there.

Whatever must never be half written goes through this module. The content is written beside its
place, synced to the disk, and renamed. A process that is killed leaves the earlier content intact.
"""

import glob
import os
import shutil
import threading
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path

WINDOWS = os.name == "nt"
ABANDONED = 24 * 3600  # seconds after which no process writes to an unfinished folder any more


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A path to write to; when the block ends, its content becomes that of `path` in one step.

    If the block raises, `path` stays as it was. A link stays a link: the file that it names is
    replaced. A pipe or a device, such as /dev/stdout, is written to directly.

    Raises:
        OSError: no room, no permission, or a folder at `path`.
    """
    path = Path(path).resolve()
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    beside = _beside(path)
    try:
        beside.touch()
        permissions = beside.stat().st_mode
        yield beside
        beside.chmod(permissions)  # safetensors lets nobody but the owner read
        put_in_place(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Makes `content` that of the file `path`, in one step; text is written as UTF-8.

    Raises:
        OSError: no room or no permission; the file stays as it was.
    """
    with whole_file(path) as beside:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_folder(path: str | Path, *, replaces: Container[str] | None = None) -> Iterator[Path]:
    """A folder to write into; when the block ends, it becomes `path` in one step.

    If the block raises, nothing is left of what it wrote. An empty folder at `path` stays the same
    folder, because somebody may be in it, and receives the files.

    `replaces` allows an older folder at `path`: entries with these names go, all others move to
    the new folder. A process that is killed in between leaves the old folder whole: under `path`,
    or under `old_folder(path)`, from where the next call puts it back.

    Raises:
        FileExistsError: `path` is a file, or holds something and `replaces` is None.
        OSError: no room or no permission; an older folder is intact.
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
                file.chmod(readable)  # safetensors lets nobody but the owner read
        if there and any(path.iterdir()):
            path.rename(old_folder(path))
        put_in_place(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if replaces is not None:
            _end_replacement(path, replaces)


def old_folder(path: Path) -> Path:
    """Where a folder waits while `whole_folder` replaces it."""
    return path.parent / f".{path.name}.old"


def put_in_place(beside: Path, path: Path) -> None:
    """Syncs what was written under the name `beside` and renames it to `path`.

    A file replaces the file at `path`. A folder needs no folder or an empty one at `path`.

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
    """Waits until a file, or the entries of a folder, are on the disk.

    Systems that cannot sync a folder, such as Windows, do without.
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


def _sync_all(path: Path) -> None:
    if path.is_dir():
        for entry in path.iterdir():
            _sync_all(entry)
    sync(path)


def _clear_abandoned(path: Path, replaces: Container[str]) -> None:
    """Ends what killed processes began while they wrote `path`."""
    _end_replacement(path, replaces)
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        if time.time() - leftover.stat().st_mtime > ABANDONED:
            shutil.rmtree(leftover, ignore_errors=True)


def _end_replacement(path: Path, replaces: Container[str]) -> None:
    """Puts the old folder back if `path` is missing; else removes it, except for other entries."""
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
