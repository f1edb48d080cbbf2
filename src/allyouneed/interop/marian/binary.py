"""Reads Marian's `.bin` files: arrays by name, some of them in 8 or 16 bits.

A file consists of the version, the number of items, a head for each item (length of its name, type,
length of its shape, bytes of its data), all names, all shapes, padding to a multiple of 256 bytes,
and the data of all items in the same order.
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

VERSION = 1
INT8, FLOAT32, INTGEMM8, INTGEMM16 = 0x101, 0x404, 0x4101, 0x4102
DTYPES = {FLOAT32: "<f4", INTGEMM8: "i1", INTGEMM16: "<i2", INT8: "i1"}
REFUSED = {
    0x402: "float16",
    0x408: "float64",
    0x1801: "packed16 of fbgemm",
    0x2801: "packed8 of fbgemm for AVX2",
    0x6801: "packed8 of fbgemm for AVX-512",
}
HEAD = struct.Struct("<QQQQ")
MOST_ITEMS = 100_000
MOST_AXES = 8
LONGEST_NAME = 1_000
SETTINGS = "special:model.yml"


@dataclass(frozen=True, slots=True)
class Item:
    """One array in the file: its name, Marian's number for its type, its shape, and its bytes."""

    name: str
    type: int
    shape: tuple[int, ...]
    data: memoryview


def read_binary(file: memoryview) -> Iterator[Item]:
    """The items of a `.bin` file, one after the other, without copies of the data.

    Raises:
        ValueError: the file is damaged, cut short, or of another version.
    """
    version, place = _number(file, 0)
    if version != VERSION:
        raise ValueError(f"it begins with {version} where Marian's files have version {VERSION}")
    count, place = _number(file, place)
    if count > MOST_ITEMS or place + count * HEAD.size > len(file):
        raise ValueError(f"it says that it has {count} items, for which it is too short")
    heads = [HEAD.unpack_from(file, place + n * HEAD.size) for n in range(count)]
    place += count * HEAD.size
    names, shapes = [], []
    for length, _, _, _ in heads:
        data, place = _bytes(file, place, length, LONGEST_NAME)
        names.append(bytes(data).rstrip(b"\0").decode())
    for _, _, axes, _ in heads:
        data, place = _bytes(file, place, 4 * axes, 4 * MOST_AXES)
        shapes.append(struct.unpack(f"<{axes}i", data))
    filling, place = _number(file, place)
    _, place = _bytes(file, place, filling, 256)
    for (_, type_, _, size), name, shape in zip(heads, names, shapes, strict=True):
        data, place = _bytes(file, place, size, len(file))
        yield Item(name, type_, shape, data)


def array_of(item: Item) -> NDArray[np.float32]:
    """The item's numbers in float32.

    Integers are divided by the factor that follows them. Matrices of linear maps are stored
    transposed, embeddings are not; the result has the item's own shape.

    Raises:
        ValueError: the type is not supported, or there are fewer bytes than the shape needs.
    """
    if item.type not in DTYPES or item.type == INT8:
        what = REFUSED.get(item.type, f"type {item.type:#x}")
        raise ValueError(
            f"{item.name} is stored as {what}, which is not read; convert the model with "
            "marian-conv to float32, or take its .npz"
        )
    if any(size < 0 for size in item.shape):
        raise ValueError(f"{item.name} has the shape {item.shape}")
    dtype, count = np.dtype(DTYPES[item.type]), math.prod(item.shape)
    factor_bytes = 0 if item.type == FLOAT32 else 4
    if count * dtype.itemsize + factor_bytes > len(item.data):
        raise ValueError(
            f"{item.name} has {len(item.data)} bytes, too few for the shape {item.shape}"
        )
    numbers = np.frombuffer(item.data, dtype, count)
    if item.type == FLOAT32:
        return numbers.reshape(item.shape).astype(np.float32)
    factor = _factor(item)
    if not (math.isfinite(factor) and factor > 0):
        raise ValueError(
            f"the numbers of {item.name} are to be divided by {factor}, which is not above 0"
        )
    found = numbers.astype(np.float32) / np.float32(factor)
    if len(item.shape) == 2 and "Wemb" not in item.name:
        return np.ascontiguousarray(found.reshape(item.shape[::-1]).T)
    return found.reshape(item.shape)


def step_of(item: Item) -> float | None:
    """What the whole numbers of a matrix in 8 bits are multiples of; None for another item, and for
    a step that float32 cannot hold. `array_of` has checked the item."""
    if item.type != INTGEMM8 or len(item.shape) != 2:
        return None
    with np.errstate(over="ignore"):
        step = float(np.float32(1 / _factor(item)))
    return step if step and math.isfinite(step) else None


def _factor(item: Item) -> float:
    """The factor that follows the numbers of an item in 8 or 16 bits."""
    size = math.prod(item.shape) * np.dtype(DTYPES[item.type]).itemsize
    [factor] = struct.unpack_from("<f", item.data, size)
    return float(factor)


def _number(file: memoryview, place: int) -> tuple[int, int]:
    """An unsigned number of 8 bytes, and the place after it."""
    data, place = _bytes(file, place, 8, 8)
    return int.from_bytes(data, "little"), place


def _bytes(file: memoryview, place: int, length: int, most: int) -> tuple[memoryview, int]:
    if length > most or place + length > len(file):
        _too_short(file, place, length)
    return file[place : place + length], place + length


def _too_short(file: memoryview, place: int, length: int) -> NoReturn:
    raise ValueError(
        f"{length} bytes are to lie at byte {place} of {len(file)}: it is damaged or cut short"
    )
