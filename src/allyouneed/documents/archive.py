"""Files that are zip archives: read within limits, and written again with some entries changed."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from copy import copy

from allyouneed.errors import DataError

MOST_BYTES = 1 << 30  # of all entries together, unpacked
MOST_ENTRIES = 20_000
MOST_TIMES = 300  # an entry of more than `LARGE` bytes may be this many times its packed size
LARGE = 16 << 20
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError)


class Archive:
    """The entries of a zip archive, in order, unpacked.

    Raises:
        DataError: the bytes are no archive or a damaged one, have a password or macros, or would
            unpack to more than the limits.
    """

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            raise DataError(
                "the file has a password, or is in the format of Office before 2007; open it and "
                "save it without a password as docx, pptx or xlsx"
            )
        self._data = data
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as file:
                self._infos = file.infolist()
                self._check()
                self.entries = {info.filename: file.read(info) for info in self._infos}
        except RuntimeError as error:  # zipfile's word for an entry with a password
            raise DataError(f"the archive cannot be read: {error}") from error
        except _BROKEN as error:
            raise DataError(f"no archive, or a damaged one: {error}") from error
        if any(name.lower().endswith(("vbaproject.bin", "script-lc.xml")) for name in self.entries):
            raise DataError("the file has macros, which are not carried; save it without them")

    def _check(self) -> None:
        if len(self._infos) > MOST_ENTRIES:
            raise DataError(f"{len(self._infos):,} entries; at most {MOST_ENTRIES:,} are read")
        if sum(info.file_size for info in self._infos) > MOST_BYTES:
            raise DataError(f"more than {MOST_BYTES >> 20} MiB unpacked; this is no document")
        if sum(info.file_size for info in self._infos) > max(LARGE, len(self._data) * MOST_TIMES):
            raise DataError(
                f"it grows to more than {MOST_TIMES} times its size; this is no document"
            )
        for info in self._infos:
            if info.file_size > max(LARGE, info.compress_size * MOST_TIMES):
                raise DataError(
                    f"{info.filename} grows to {info.file_size >> 20} MiB from "
                    f"{info.compress_size >> 10} KiB; this is no document"
                )
            if info.flag_bits & 1:
                raise DataError("the file is protected by a password; save it without one")

    def written(self, changed: Mapping[str, bytes]) -> bytes:
        """The archive with the content of some entries changed. All other entries, their order and
        their dates stay."""
        if all(self.entries[name] == content for name, content in changed.items()):
            return self._data
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as file:
            for info in self._infos:
                content = changed.get(info.filename, self.entries[info.filename])
                file.writestr(copy(info), content, info.compress_type)
        return target.getvalue()
