"""Reads the lines of plain or compressed files. Lines are UTF-8 and end at `\\n` only."""

import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from allyouneed.errors import DataError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BOM = b"\xef\xbb\xbf"
COMPRESSED_BYTES = 1 << 14  # read at a time; repetitive text may expand ten thousandfold
# The errors, apart from OSError, that reading a damaged file raises.
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)

Note = Callable[[str, int], None]  # (what, line)


class Decompressor(Protocol):
    """Decompresses one frame (or member) of a file."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class Decompressed(io.RawIOBase):
    """The content of a compressed file.

    All readable content is returned before the error of a damaged file is raised, so that the
    error's line number is right. The libraries' own readers drop buffered content instead.

    Raises:
        EOFError: while reading, if the file is cut short.
    """

    def __init__(self, file: IO[bytes], begin: Callable[[], Decompressor]) -> None:
        self._file = file
        self._begin = begin
        self._frame = begin()
        self._inside = False
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._frame.eof:
                compressed = self._frame.unused_data.lstrip(b"\0") or self._file.read(
                    COMPRESSED_BYTES
                )
                self._frame = self._begin()
                self._inside = False
            else:
                compressed = self._file.read(COMPRESSED_BYTES)
            if not compressed:
                if self._inside:
                    raise EOFError("the file ends too early")
                return 0
            self._inside = True
            self._ready = self._frame.decompress(compressed)
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


DECOMPRESSORS: dict[str, Callable[[], Decompressor]] = {
    ".gz": lambda: zlib.decompressobj(wbits=31),
    ".xz": lzma.LZMADecompressor,
    ".zst": zstd.ZstdDecompressor,
}


def open_bytes(path: Path) -> IO[bytes]:
    """The content of a file, decompressed if its suffix is .gz, .xz or .zst."""
    begin = DECOMPRESSORS.get(path.suffix.lower())
    file = path.open("rb")
    return file if begin is None else io.BufferedReader(Decompressed(file, begin), 1 << 17)


def missing(path: Path) -> DataError:
    """The error for a file that does not exist."""
    return DataError(
        f"{path}: no such file; check the path, or set ALLYOUNEED_DATA to the folder of the data"
    )


def read_lines(path: Path, note: Note) -> Iterator[str]:
    """The lines of a UTF-8 file without their line ends, one at a time.

    A byte order mark at the start, and one `\\r` before each `\\n`, are removed; `note` counts
    them.

    Raises:
        DataError: the file is missing, damaged or not UTF-8; the message names the place.
    """
    for number, line in enumerate(_raw_lines(path), start=1):
        yield _text(line, path, number, note)


def _raw_lines(path: Path) -> Iterator[bytes]:
    number = 0
    try:
        with open_bytes(path) as file:
            for number, line in enumerate(file, start=1):  # noqa: B007, errors name the number
                yield line
    except FileNotFoundError as error:
        raise missing(path) from error
    except IsADirectoryError as error:
        raise DataError(f"{path} is a folder; name a file in it") from error
    except DAMAGE as error:
        raise DataError(
            f"{path} is damaged or cut short after line {number} ({error}); download or compress "
            "it again"
        ) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read after line {number}: {error}") from error


def count_lines(path: Path) -> int:
    """The number of lines of a file; the last line may lack its line end.

    Raises:
        DataError: the file is missing or damaged.
    """
    return sum(1 for _ in _raw_lines(path))


def _text(line: bytes, path: Path, number: int, note: Note) -> str:
    line = line.removesuffix(b"\n")
    skipped = 0
    if number == 1 and line.startswith(BOM):
        note("byte order mark removed", number)
        line, skipped = line[len(BOM) :], len(BOM)
    if line.endswith(b"\r"):
        note("carriage return before the line end removed", number)
        line = line[:-1]
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        theirs = "UTF-16" if number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff") else "LATIN1"
        raise DataError(
            f"{path}:{number}: byte {skipped + error.start + 1} of the line "
            f"(0x{line[error.start]:02X}) is not UTF-8; convert the file, for example with "
            f"iconv -f {theirs} -t UTF-8"
        ) from error
