"""Finds exact duplicates among any number of texts, with little memory."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PARTS = 64
CHUNK = 1 << 16
RECORD = np.dtype([("high", "<u8"), ("low", "<u8"), ("position", "<i8")])


def pair_key(source: str, target: str) -> bytes:
    """A hash of a pair, 128 bits. Among a billion different pairs, two have the same hash with a
    probability of 1e-21."""
    left = source.encode()
    return blake2b(
        len(left).to_bytes(8, "little") + left + target.encode(), digest_size=16
    ).digest()


def mark_repeats(keys: Iterable[bytes], folder: Path) -> NDArray[np.bool_]:
    """For each key, whether an earlier key is equal.

    The keys are divided into 64 files in `folder`, so that equal keys are in the same file. Memory
    holds one of these files at a time, and one byte for each key.
    """
    repeats = np.zeros(_spread(keys, folder), dtype=np.bool_)
    for part in range(PARTS):
        path = folder / f"part-{part}"
        records = np.fromfile(path, dtype=RECORD)
        order = np.lexsort((records["position"], records["low"], records["high"]))
        records = records[order]
        same = (records["high"][1:] == records["high"][:-1]) & (
            records["low"][1:] == records["low"][:-1]
        )
        repeats[records["position"][1:][same]] = True
        path.unlink()
    return repeats


def _spread(keys: Iterable[bytes], folder: Path) -> int:
    count = 0
    with ExitStack() as stack:
        files = [stack.enter_context((folder / f"part-{n}").open("wb")) for n in range(PARTS)]
        for records in _records(keys):
            parts = records["high"] % PARTS
            for part in np.unique(parts):
                files[part].write(records[parts == part].tobytes())
            count += len(records)
    return count


def _records(keys: Iterable[bytes]) -> Iterator[NDArray[Any]]:
    remaining = iter(keys)
    start = 0
    while chunk := list(islice(remaining, CHUNK)):
        halves = np.frombuffer(b"".join(chunk), dtype="<u8").reshape(-1, 2)
        records = np.empty(len(chunk), dtype=RECORD)
        records["high"], records["low"] = halves.T
        records["position"] = np.arange(start, start + len(chunk))
        start += len(chunk)
        yield records
