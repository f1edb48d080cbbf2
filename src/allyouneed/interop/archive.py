"""Unpacks the zip of a model within limits."""

import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from allyouneed.errors import ModelFolderError

MOST_FILES = 10_000
MOST_BYTES = 64 << 30
LEAST_BOUND = 1 << 28  # bytes that every zip may unpack to
MOST_TIMES = 100  # a zip may unpack to this many times its size, which no model reaches
BLOCK = 1 << 20


@contextmanager
def unpacked(source: Path) -> Iterator[Path]:
    """Yields the contents of a zip as a folder, which is removed afterwards. Other paths are
    yielded unchanged.

    If a zip has a single folder at its top, that folder is yielded. A checkpoint of torch is a zip
    too, but its readers expect the file, so it is yielded unchanged.

    Raises:
        ModelFolderError: the zip is damaged, too large, or has a path outside of its folder.
    """
    if not is_zip(source) or _is_torch_checkpoint(source):
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="allyouneed-") as folder:
        try:
            with zipfile.ZipFile(source) as archive:
                _unpack(archive, source, Path(folder))
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise ModelFolderError(
                f"{source} is a damaged zip ({error}); fetch it again"
            ) from error
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelFolderError(f"{source} cannot be unpacked: {error}") from error
        inside = list(Path(folder).iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else Path(folder)


def is_zip(source: Path) -> bool:
    """Whether the path is a zip file."""
    return source.is_file() and zipfile.is_zipfile(source)


def names_in(source: Path) -> list[str]:
    """The paths in a zip; an empty list if it cannot be read."""
    try:
        with zipfile.ZipFile(source) as archive:
            return archive.namelist()[:MOST_FILES]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return []


def _is_torch_checkpoint(source: Path) -> bool:
    return any(name.endswith("/data.pkl") for name in names_in(source))


def _unpack(archive: zipfile.ZipFile, source: Path, folder: Path) -> None:
    members = archive.infolist()
    if len(members) > MOST_FILES:
        raise ModelFolderError(f"{source} holds {len(members):,} files, more than {MOST_FILES:,}")
    bound = min(MOST_BYTES, max(LEAST_BOUND, MOST_TIMES * source.stat().st_size))
    whole = sum(member.file_size for member in members)
    if whole > bound:
        raise ModelFolderError(
            f"{source} claims to hold {whole:,} bytes; the limit for a zip of this size is "
            f"{bound:,}"
        )
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        outside = path.is_absolute() or ".." in path.parts or ":" in member.filename
        if outside or "\0" in member.filename or stat.S_ISLNK(member.external_attr >> 16):
            raise ModelFolderError(
                f"{source} holds {member.filename!r}, a path outside of its folder; nothing was "
                "unpacked"
            )
    for member in members:
        target = folder / PurePosixPath(member.filename)
        if member.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as packed, target.open("wb") as file:
            _copy(packed, file, member.file_size, f"{source}: {member.filename}")


def _copy(packed: IO[bytes], file: IO[bytes], size: int, name: str) -> None:
    """Copies `size` bytes, the size that the zip claims, and not more."""
    left = size
    while block := packed.read(min(BLOCK, left + 1)):
        left -= len(block)
        if left < 0:
            raise ModelFolderError(f"{name} is larger than it claims; nothing was unpacked")
        file.write(block)
