"""A cache of packed weights: a large model is packed at its first start and read at later ones.

Packing OPUS-MT's 75 million weights takes more than a second, reading them packed 0.1 s. A file's
name is a digest of what its contents depend on: the compiled library, the precision, the model's
configuration, and the weights file with its time of change. A library or model that changed
therefore has another file. Contents are read into the engine's memory and not mapped: huge pages
make a decoding step up to a tenth faster, and a mapped file has none.
"""

import hashlib
import math
import os
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from allyouneed.engine.native.build import trusted
from allyouneed.engine.native.library import Library
from allyouneed.engine.native.packed import Bytes, PackedModel
from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.files import ABANDONED, whole_file
from allyouneed.model_folder.folder import WEIGHTS, ModelFolder
from allyouneed.model_folder.places import cache_home

VARIABLE, MOST_GB = "ALLYOUNEED_PACKED_GB", 4.0  # of all files together; 0: the cache is off
LEAST = 16 << 20  # bytes of the weights file: smaller models are packed in a moment
SUFFIX = ".packed"
CHECKSUM = 4  # bytes at the end of a file


class Damaged(Exception):
    """A file of the cache is not as it was written, or somebody else may have written it."""


def open_packed(library: Library, folder: ModelFolder, int8: bool) -> PackedModel:
    """The folder's model, packed: from the cache, or packed now and kept there if it is large.

    Raises:
        ModelFolderError, AllYouNeedError: as `PackedModel`. A cache that cannot be read or written
            raises nothing.
        UsageError: $ALLYOUNEED_PACKED_GB is not a number of at least 0.
    """
    pack = partial(PackedModel, library.functions, folder.config, folder.load_arrays(), int8)
    most = most_bytes()
    if not most or (folder.path / WEIGHTS).stat().st_size < LEAST:
        return pack()
    try:
        file = PackedFile(cache_home() / "packed" / file_name(library, folder, int8))
    except OSError:  # there is no home directory
        return pack()
    with suppress(OSError, Damaged, AllYouNeedError):
        return file.restored(pack)
    model = pack()
    with suppress(OSError):
        file.keep(model, most)
    return model


def most_bytes() -> int:
    """The bytes that all files of the cache may have together, by $ALLYOUNEED_PACKED_GB.

    Raises:
        UsageError: it is not a number of at least 0.
    """
    said = os.environ.get(VARIABLE) or str(MOST_GB)
    try:
        most = float(said)
    except ValueError:
        most = math.nan
    if not 0 <= most < math.inf:
        raise UsageError(
            f"{VARIABLE}={said} must be a number of gigabytes, such as {MOST_GB:g}; 0 turns the "
            "cache of packed weights off"
        )
    return int(most * 1e9)


def file_name(library: Library, folder: ModelFolder, int8: bool) -> str:
    """The name of the file for this library, precision, configuration and weights file."""
    weights = (folder.path / WEIGHTS).resolve()
    found = weights.stat()
    state = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
    what = (library.path.name, int8, folder.config, str(weights), state)
    return hashlib.sha256(repr(what).encode()).hexdigest()[:32] + SUFFIX


@dataclass(frozen=True, slots=True)
class PackedFile:
    """The packed weights of one model, followed by their checksum."""

    path: Path

    def restored(self, pack: Callable[..., PackedModel]) -> PackedModel:
        """The model that pack(read=..., size=...) makes with these weights.

        Raises:
            Damaged, OSError, AllYouNeedError: the file is damaged, missing, or does not fit.
        """
        if not trusted(self.path):
            raise Damaged(f"{self.path} can be written by others")
        with self.path.open("rb") as opened:

            def read(into: Bytes) -> None:
                whole = opened.readinto(into) == len(into)
                if not whole or opened.read(CHECKSUM) != _checksum(zlib.crc32(into)):
                    raise Damaged(f"{self.path} is damaged")

            model = pack(read=read, size=self.path.stat().st_size - CHECKSUM)
        os.utime(self.path)  # the files used last are kept
        return model

    def keep(self, model: PackedModel, most: int) -> None:
        """Writes the model's packed weights, and removes the files unused for longest until all
        have at most `most` bytes together.

        Raises:
            OSError: they cannot be written, or are too large.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        checksum = size = 0

        def write(part: Bytes) -> None:
            nonlocal checksum, size
            size += len(part)
            if size + CHECKSUM > most:
                raise OSError(f"{self.path}: the packed weights have more than {most} bytes")
            checksum = zlib.crc32(part, checksum)
            opened.write(part)

        with whole_file(self.path) as beside, beside.open("wb") as opened:
            model.store(write)
            opened.write(_checksum(checksum))
        make_room(self.path.parent, most)


def make_room(folder: Path, most: int) -> None:
    """Removes files that killed processes left unfinished. Then removes the files that were unused
    for longest, until the rest has at most `most` bytes."""
    total = 0
    found = [(file.stat(), file) for file in folder.iterdir()]
    for state, file in sorted(found, key=lambda pair: -pair[0].st_mtime_ns):
        total += state.st_size
        left_over = file.suffix != SUFFIX and time.time() - state.st_mtime > ABANDONED
        if left_over or total > most:
            file.unlink(missing_ok=True)


def _checksum(crc: int) -> bytes:
    return crc.to_bytes(CHECKSUM, "big")
