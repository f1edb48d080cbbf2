"""Lines of standard input, as they arrive."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from allyouneed.errors import UsageError

READ_BYTES = 1 << 15
"""Taken from a pipe at a time, at most: lines of like length meet in a batch, and memory stays
small however long the input is."""

BOM = b"\xef\xbb\xbf"


def standard_input() -> BinaryIO:
    """Standard input as bytes; a person at a terminal is told what is awaited.

    Raises:
        UsageError: a standard input that is closed.
    """
    if sys.stdin is None:
        raise UsageError("standard input is closed; give the text as arguments, in quotes")
    if sys.stdin.isatty():
        sys.stderr.write("Type a line and press Enter; Ctrl-D ends.\n")
    return sys.stdin.buffer


def given_or_arriving(
    texts: Sequence[str] | None, note: Callable[[str], None]
) -> Iterator[list[str]]:
    """The texts of a call at once, or else the lines of standard input as they arrive. A text that
    is the name of a file is taken as text, with a note: probably its lines were meant.

    Raises UsageError where standard input is needed and closed.
    """
    if not texts:
        return arriving_lines(standard_input(), note)
    for number, text in enumerate(texts, start=1):
        if _is_file(text):
            note(
                f"text {number} is the name of a file, and taken as the text {text!r}; for the "
                f"lines of the file write < {text}"
            )
    return iter([[*texts]])


def numbered_chunks(
    texts: Sequence[str] | None, note: Callable[[str], None]
) -> Iterator[tuple[list[str], list[str]]]:
    """The same, each chunk with the places of its texts in words, such as "line 3"."""
    done, unit = 0, "text" if texts else "line"
    for chunk in given_or_arriving(texts, note):
        yield chunk, [f"{unit} {done + number}" for number in range(1, len(chunk) + 1)]
        done += len(chunk)


def arriving_lines(stream: BinaryIO, note: Callable[[str], None]) -> Iterator[list[str]]:
    """The lines that can be read at once, again and again until the end; never an empty list.

    Waits only while there is no whole line, so a line that was typed or piped is given out at
    once. Lines end at `\\n` alone. Bytes that are not UTF-8 become U+FFFD, and a byte order mark is
    taken off the first line, both with a note that names the line.
    """
    number, rest = 0, [b""]
    while portion := _portion(stream):
        if b"\n" not in portion:
            rest.append(portion)
            continue
        *lines, last = (b"".join(rest) + portion).split(b"\n")
        yield [_text(line, number + n, note) for n, line in enumerate(lines, start=1)]
        number, rest = number + len(lines), [last]
    if end := b"".join(rest):
        yield [_text(end, number + 1, note)]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL in it
        return False


def _portion(stream: BinaryIO) -> bytes:
    """What is there now, waiting only for the first byte."""
    read = getattr(stream, "read1", stream.read)
    portion: bytes = read(READ_BYTES)
    return portion


def _text(line: bytes, number: int, note: Callable[[str], None]) -> str:
    if number == 1 and line.startswith(BOM):
        note("line 1: byte order mark removed")
        line = line.removeprefix(BOM)
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        note(
            f"line {number}: byte {error.start + 1} (0x{line[error.start]:02X}) is not UTF-8; "
            "replaced by U+FFFD, like any others of this line"
        )
        return line.decode(errors="replace")
