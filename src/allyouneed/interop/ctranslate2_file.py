"""Reads the variables of CTranslate2's model.bin, version 6, without that package."""

import mmap
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allyouneed.errors import ModelFolderError
from allyouneed.model_folder.config import unreadable

Array = NDArray[Any]
VERSION = 6
MOST_DIMENSIONS = 4
BFLOAT16 = 5
DTYPES = (
    "<f4",
    "<i1",
    "<i2",
    "<i4",
    "<f2",
    "<u2",
)  # the last one holds the upper half of a float32


def read_variables(file: Path) -> Mapping[str, Array]:
    """All variables by name. An alias has the array of the variable that it names. Arrays of
    float32 and integers are mapped from the file; bfloat16 is converted to float32.

    Raises:
        ModelFolderError: the file is damaged, cut short, or of another version.
    """
    try:
        with file.open("rb") as opened:
            if not opened.read(1):
                raise ModelFolderError(f"{file} is empty; copy it again")
            content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise unreadable(file, error) from error
    reader = _Reader(content, file)
    version = reader.number("<I")
    if version != VERSION:
        raise ModelFolderError(
            f"{file} has version {version} of CTranslate2's format, but only version {VERSION} is "
            "supported; "
            "convert the model again with ctranslate2 3 or newer"
        )
    name, _revision = reader.text(), reader.number("<I")
    if name != "TransformerSpec":
        raise ModelFolderError(f"{file} holds a {name!r}, but only a TransformerSpec is supported")
    variables: dict[str, Array] = {}
    for _ in range(reader.number("<I")):
        variable, array = reader.variable()
        variables[variable] = array
    for _ in range(reader.number("<I")):
        alias, meant = reader.text(), reader.text()
        if meant not in variables:
            raise reader.damaged(f"{alias!r} stands for {meant!r}, which is not there")
        variables[alias] = variables[meant]
        if (scale := variables.get(f"{meant}_scale")) is not None:
            variables[f"{alias}_scale"] = scale
    return MappingProxyType(variables)


class _Reader:
    """Reads the file from its beginning, and never beyond its end, whatever sizes the file
    names."""

    def __init__(self, content: mmap.mmap, file: Path) -> None:
        self.content, self.file, self.place = content, file, 0

    def damaged(self, how: str) -> ModelFolderError:
        return ModelFolderError(f"{self.file} is damaged or cut short ({how}); copy it again")

    def skip(self, size: int) -> int:
        """The place of the next `size` bytes; reading continues after them."""
        begin = self.place
        if size > len(self.content) - begin:
            raise self.damaged(
                f"{size:,} bytes are due at byte {begin:,}, and the file has {len(self.content):,}"
            )
        self.place += size
        return begin

    def number(self, form: str) -> int:
        return int(struct.unpack_from(form, self.content, self.skip(struct.calcsize(form)))[0])

    def text(self) -> str:
        size = self.number("<H")
        begin = self.skip(size)
        try:
            return bytes(self.content[begin : self.place]).rstrip(b"\0").decode()
        except UnicodeDecodeError as error:
            raise self.damaged(f"a name at byte {begin:,} is no text") from error

    def variable(self) -> tuple[str, Array]:
        name, dimensions = self.text(), self.number("<B")
        if dimensions > MOST_DIMENSIONS:
            raise self.damaged(f"{name!r} has {dimensions} dimensions")
        shape = tuple(self.number("<I") for _ in range(dimensions))
        kind, size = self.number("<B"), self.number("<I")
        if kind >= len(DTYPES):
            raise self.damaged(f"{name!r} has the type {kind}")
        dtype = np.dtype(DTYPES[kind])
        whole = prod(shape) * dtype.itemsize
        if whole & 0xFFFFFFFF != size:  # the file stores only the lower 32 bits of a size
            raise self.damaged(f"{name!r} of the shape {shape} has {size:,} bytes")
        begin = self.skip(whole)
        array = np.frombuffer(self.content, dtype, prod(shape), begin).reshape(shape)
        if kind == BFLOAT16:
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return name, array
