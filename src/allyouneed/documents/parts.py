"""A file of lines in parts that fit into memory, whatever the size of the file."""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from allyouneed.errors import DataError

PART = 1 << 18  # bytes: about one window of `translating`
LONGEST = 1 << 26  # bytes of one line
_TIMES = 16  # a part may be this many times as large


def numbered_parts(
    file: BinaryIO, may_end: Callable[[bytes], bool]
) -> Iterator[tuple[int, list[bytes]]]:
    """Each part as the number of its first line, counted from 1, and its lines with their ends.

    A part has about `PART` bytes. It ends after a line for which `may_end` is true, or at 16 times
    the size if there is no such line.

    Raises:
        DataError: a line is longer than `LONGEST` bytes.
    """
    number, first, size = 0, 1, 0
    lines: list[bytes] = []
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            raise DataError(
                f"line {number} is longer than {LONGEST >> 20} MiB; end its lines at smaller texts"
            )
        lines.append(line)
        size += len(line)
        if (size >= PART and may_end(line)) or size >= _TIMES * PART:
            yield first, lines
            lines, first, size = [], number + 1, 0
    if lines:
        yield first, lines
