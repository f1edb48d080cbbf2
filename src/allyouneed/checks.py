"""Checks of the values that callers give to public functions."""

from collections.abc import Iterable
from os import PathLike
from types import UnionType
from typing import Any

from allyouneed.errors import UsageError

SHOWN = 60  # characters of a value in a message


def shortened(value: object) -> str:
    """The repr of a value, cut to fit into a message."""
    written = repr(value)
    return written if len(written) <= SHOWN else f"{written[:SHOWN]}..."


def expect(value: object, kind: type | UnionType, name: str, remedy: str) -> None:
    """Raises UsageError if the argument called `name` is not of this type. The message says to give
    `remedy`."""
    if not isinstance(value, kind):
        raise UsageError(f"{name}={shortened(value)} cannot be used; give {remedy}")


def expect_list(values: Any, name: str, remedy: str) -> None:
    """Raises UsageError for a single str or bytes, which Python would iterate letter by letter, and
    for a value that cannot be iterated at all."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"{name}={shortened(values)} cannot be used; give {remedy}")


def expect_path(path: Any, name: str, remedy: str = "the path of a file") -> None:
    """Raises UsageError for a value that is no path."""
    expect(path, str | PathLike, name, remedy)
