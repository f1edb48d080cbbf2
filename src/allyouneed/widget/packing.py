"""Packs answers as bytes: a little JSON, followed by arrays as binary float16.

A packed answer is the length of its JSON (uint32), the JSON, and then the arrays, everything
little-endian. The JSON has the keys "json" (the answer's own value) and "arrays": for each array
its name, its shape, and the offset of its bytes from the end of the JSON.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOAT16 = np.dtype("<f2")
LENGTH = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class ViewAnswer:
    """An answer to the view: a JSON value, and arrays by name, which are sent as float16."""

    json: Any
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def pack(answer: ViewAnswer) -> bytes:
    """The answer as bytes. Numbers too large for float16 become infinity."""
    listed: list[dict[str, Any]] = []
    parts: list[bytes] = []
    offset = 0
    for name, array in answer.arrays.items():
        part = half(array).tobytes()
        shape = list(array.shape)
        listed.append({"name": name, "shape": shape, "offset": offset, "bytes": len(part)})
        parts.append(part)
        offset += len(part)
    head = compact({"json": answer.json, "arrays": listed}).encode()
    return b"".join([LENGTH.pack(len(head)), head, *parts])


def half(array: NDArray[Any]) -> NDArray[np.float16]:
    """The array in float16, without a warning where a value is too large for it."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=FLOAT16)


def compact(value: Any) -> str:
    """JSON without white space and with sorted keys, so that equal values give equal texts.

    Raises:
        ValueError: a number is not finite, which JSON cannot represent.
    """
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
