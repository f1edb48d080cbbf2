"""Reads Marian's `.npz` files, zips of NumPy arrays by name, without unpickling."""

import io
import math
import zipfile
import zlib
from collections.abc import Iterator
from tokenize import TokenError
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

MAGIC = b"PK\x03\x04"
KINDS = "fiub"  # numbers; an array of objects is a pickle
LARGEST = 4 << 30  # bytes of all arrays
MOST_TIMES = 64  # the arrays may be this many times larger than the file
ALWAYS_ALLOWED = 1 << 20
MOST_ITEMS = 100_000


def read_npz(file: BinaryIO, size: int) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """The arrays of a file of `size` bytes with their names, one after the other.

    Raises:
        ValueError: the file is damaged, contains other things than numbers, or is too large.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            total = sum(entry.file_size for entry in entries)
            limit = min(LARGEST, max(MOST_TIMES * size, ALWAYS_ALLOWED))
            if len(entries) > MOST_ITEMS or total > limit:
                raise ValueError(f"it unpacks to {len(entries)} arrays of {total:,} bytes")
            for entry in entries:
                with archive.open(entry) as stream:
                    yield entry.filename.removesuffix(".npy"), _array(stream.read(), entry.filename)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"it is damaged or cut short ({error})") from error


def _array(content: bytes, name: str) -> NDArray[np.generic]:
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{name} is of the version {version}")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        shape, fortran, dtype = read_header(stream)
    except (SyntaxError, TokenError) as error:
        raise ValueError(f"{name} has a damaged header ({error})") from error
    if dtype.kind not in KINDS:
        raise ValueError(f"{name} holds {dtype}, which is not read: only numbers are")
    left = len(content) - stream.tell()
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != left:
        raise ValueError(f"{name} has {left} bytes, which are not {shape} of {dtype}")
    numbers = np.frombuffer(content, dtype, offset=stream.tell())
    return numbers.reshape(shape[::-1]).T if fortran else numbers.reshape(shape)
