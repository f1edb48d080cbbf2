"""Lines of a file, plain or compressed: they end at `\\n` alone and are UTF-8."""

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
COMPRESSED_BYTES = 1 << 14  # taken at a time: monotonous text may swell ten thousandfold
# What a damaged file raises, as far as it is not any OSError.
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)

Note = Callable[[str, int], None]  # (what, line)


class Decompressor(Protocol):
    """What takes the compressed bytes of one frame (or member) of a file."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class Decompressed(io.RawIOBase):
    """The content of a compressed file. All of it that can be read is read before a damage is told,
    so that the number of the line is right; the libraries' readers drop what they have buffered.

    Raises EOFError for a file that is cut short.
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
    """The content of a file, decompressed by its suffix (.gz, .xz, .zst, or none of them)."""
    begin = DECOMPRESSORS.get(path.suffix.lower())
    file = path.open("rb")
    return file if begin is None else io.BufferedReader(Decompressed(file, begin), 1 << 17)


def missing(path: Path) -> DataError:
    """The error for a file that is not there."""
    return DataError(
        f"{path}: no such file; check the path, or set ALLYOUNEED_DATA to the folder of the data"
    )


def read_lines(path: Path, note: Note) -> Iterator[str]:
    """The lines of a UTF-8 file without their ends, one at a time.

    A byte order mark at the start and one `\\r` before each `\\n` are taken off and noted.

    Raises DataError with the place when the file is missing, damaged or not UTF-8.
    """
    for number, line in enumerate(_raw_lines(path), start=1):
        yield _text(line, path, number, note)


def _raw_lines(path: Path) -> Iterator[bytes]:
    number = 0
    try:
        with open_bytes(path) as file:
            for number, line in enumerate(file, start=1):  # noqa: B007, the errors name it
                yield line
    except FileNotFoundError as error:
        raise missing(path) from error
    except IsADirectoryError as error:
        raise DataError(f"{path} is a folder; name a file in it") from error
    except DAMAGE as error:
        raise DataError(
            f"{path}: damaged or cut short after line {number} ({error}); fetch or compress it anew"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read after line {number}: {error}") from error


def count_lines(path: Path) -> int:
    """How many lines a file has; the last one may have no end.

    Raises DataError when the file is missing or damaged.
    """
    return sum(1 for _ in _raw_lines(path))


def _text(line: bytes, path: Path, number: int, note: Note) -> str:
    line = line.removesuffix(b"\n")
    skipped = 0
    if number == 1 and line.startswith(BOM):
        note("byte order mark taken off", number)
        line, skipped = line[len(BOM) :], len(BOM)
    if line.endswith(b"\r"):
        note("carriage return before the line end taken off", number)
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
