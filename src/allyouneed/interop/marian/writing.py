"""Writes Marian's two formats: `.npz`, and `.bin` in float32 or in 8 bits."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allyouneed.interop.marian.binary import FLOAT32, HEAD, INT8, INTGEMM8, VERSION
from allyouneed.interop.marian.names import SETTINGS

LARGEST = 127
ALIGNED = 256  # bytes; every array begins at a multiple of this

Arrays = Mapping[str, NDArray[np.float32]]
Stored = tuple[str, int, Sequence[int], bytes]


def write_npz(path: Path, settings: Mapping[str, Any], arrays: Arrays) -> None:
    """Writes float32 arrays, with the settings as special:model.yml. Vectors become (1, n).

    Raises:
        OSError: the file cannot be written.
    """
    text = np.frombuffer(_yaml(settings), np.int8)
    contents: dict[str, Any] = {name: np.atleast_2d(array) for name, array in arrays.items()}
    np.savez(path, allow_pickle=False, **contents, **{SETTINGS: text})


def write_binary(
    path: Path,
    settings: Mapping[str, Any],
    arrays: Arrays,
    alphas: Mapping[str, float] | None = None,
    *,
    int8: bool,
) -> None:
    """Writes a `.bin`. With `int8`, matrices are stored as integers with one factor each. `alphas`
    are the factors that inputs are multiplied by before rounding, by Marian's names for them.

    Raises:
        OSError: the file cannot be written.
    """
    stored = [
        _integers(name, array) if int8 and is_matrix(name) else _floats(name, array)
        for name, array in sorted(arrays.items())
    ]
    for name, value in (alphas or {}).items():
        stored.append(_floats(name, np.array([value], np.float32), axes=1))
    text = _yaml(settings)
    stored.append((SETTINGS, INT8, (len(text),), text))
    with path.open("wb") as file:
        file.writelines(_container(stored))


def is_matrix(name: str) -> bool:
    """Whether Marian multiplies by this weight in 8 bits: a linear map or the embeddings."""
    return name[-3:-1] == "_W" or name.endswith(("_W", "Wemb"))


def _floats(name: str, array: NDArray[np.float32], axes: int = 2) -> Stored:
    laid = np.atleast_2d(array) if axes == 2 else array
    return name, FLOAT32, laid.shape, laid.astype("<f4").tobytes()


def _integers(name: str, array: NDArray[np.float32]) -> Stored:
    largest = float(np.abs(array).max(initial=0.0))
    factor = np.float32(LARGEST / largest) if largest else np.float32(1.0)
    numbers = np.clip(np.rint(array * factor), -LARGEST, LARGEST).astype(np.int8)
    laid = numbers if name.endswith("Wemb") else np.ascontiguousarray(numbers.T)
    return name, INTGEMM8, array.shape, laid.tobytes() + struct.pack("<f", factor)


def _container(stored: Sequence[Stored]) -> Iterable[bytes]:
    """The content of the file, see `binary`. Each item's data is padded to the next multiple of
    `ALIGNED`."""
    filled = [(*item[:3], item[3] + bytes(-len(item[3]) % ALIGNED)) for item in stored]
    names = [name.encode() + b"\0" for name, *_ in filled]
    parts = [struct.pack("<QQ", VERSION, len(filled))]
    for name, (_, type_, shape, data) in zip(names, filled, strict=True):
        parts.append(HEAD.pack(len(name), type_, len(shape), len(data)))
    parts += names
    parts += [struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in filled]
    so_far = sum(map(len, parts)) + 8
    filling = ALIGNED - so_far % ALIGNED
    return [*parts, struct.pack("<Q", filling), bytes(filling), *(data for *_, data in filled)]


def _yaml(settings: Mapping[str, Any]) -> bytes:
    return yaml_text(settings).encode() + b"\0"


def yaml_text(settings: Mapping[str, Any]) -> str:
    """The settings as YAML: numbers, texts without quotation marks, and lists of these."""
    return "".join(f"{key}: {_value(value)}\n" for key, value in settings.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "".join(f"\n  - {_value(item)}" for item in value) or "\n  []"
    return f'"{value}"' if isinstance(value, str) and not value.isidentifier() else str(value)
