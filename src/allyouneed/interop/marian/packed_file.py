"""Reads a file of a Marian model as bytes: mapped from disk, or unpacked if it is gzipped."""

import gzip
import mmap
import zlib
from pathlib import Path

from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.config import unreadable

GZIP = b"\x1f\x8b"
LARGEST = 4 << 30  # bytes of an unpacked file; the largest models of this kind have 1 GB
MOST_TIMES = 64  # an unpacked file may be this many times larger; weights are only twice as large
ALWAYS_ALLOWED = 1 << 20


def read_file(path: Path, most: int = LARGEST) -> bytes:
    """The file's content, unpacked if it is gzipped.

    Raises:
        ModelFolderError: the file cannot be read, is damaged, or has more than `most` bytes.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
        size = path.stat().st_size
        if not packed:
            _check_size(path, size, most)
            return path.read_bytes()
        limit = min(most, max(MOST_TIMES * size, ALWAYS_ALLOWED))
        with gzip.open(path) as file:
            content = file.read(limit + 1)
        _check_size(path, len(content), limit)
        return content
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ModelFolderError(
            f"{path} is damaged or cut short ({error}); copy it again"
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error


def mapped_file(path: Path) -> memoryview:
    """The file's content: a view of the disk, or of memory if the file is gzipped.

    Raises:
        ModelFolderError: as `read_file`, or it is empty.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            if not packed and path.stat().st_size:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise unreadable(path, error) from error
    content = read_file(path)
    if not content:
        raise ModelFolderError(f"{path} is empty; copy it again")
    return memoryview(content)


def _check_size(path: Path, size: int, most: int) -> None:
    if size > most:
        raise ModelFolderError(
            f"{path} holds more than {most:,} bytes, more than such a file has; copy it again from "
            "where the model came from"
        )
