"""Reads the lines of standard input as they arrive."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from allyouneed.errors import UsageError

READ_BYTES = 1 << 15
"""The most bytes read from a pipe at a time: enough to batch lines of similar length, and few
enough to keep memory small for inputs of any length."""

BOM = b"\xef\xbb\xbf"


def standard_input() -> BinaryIO:
    """Standard input as bytes. At a terminal, a line tells the user what to type.

    Raises:
        UsageError: standard input is closed.
    """
    if sys.stdin is None:
        raise UsageError("standard input is closed; give the text as arguments, in quotes")
    if sys.stdin.isatty():
        sys.stderr.write("Type a line and press Enter; Ctrl-D ends.\n")
    return sys.stdin.buffer


def given_or_arriving(
    texts: Sequence[str] | None, note: Callable[[str], None]
) -> Iterator[list[str]]:
    """The texts of a call, all at once; without texts, the lines of standard input as they arrive.

    A text that is the name of a file is used as text, with a note, because the user probably meant
    the lines of the file.

    Raises:
        UsageError: there are no texts, and standard input is closed.
    """
    if not texts:
        return arriving_lines(standard_input(), note)
    for number, text in enumerate(texts, start=1):
        if _is_file(text):
            note(
                f"text {number} is the name of a file, but {text!r} itself is used as the text; "
                f"to use the lines of the file, write < {text}"
            )
    return iter([[*texts]])


def numbered_chunks(
    texts: Sequence[str] | None, note: Callable[[str], None]
) -> Iterator[tuple[list[str], list[str]]]:
    """The texts as `given_or_arriving` returns them, with their places, such as "line 3"."""
    done, unit = 0, "text" if texts else "line"
    for chunk in given_or_arriving(texts, note):
        yield chunk, [f"{unit} {done + number}" for number in range(1, len(chunk) + 1)]
        done += len(chunk)


def arriving_lines(stream: BinaryIO, note: Callable[[str], None]) -> Iterator[list[str]]:
    """Lists of the lines that can be read without waiting, until the end of the stream. No list is
    empty.

    It waits only while there is no whole line, so a typed or piped line is returned at once. Lines
    end at `\\n` only. Bytes that are not UTF-8 become U+FFFD, and a byte order mark on the first
    line is removed; a note names the line.
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
    """The bytes that are available now; waits only for the first byte."""
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
            "replaced by U+FFFD, like all such bytes of this line"
        )
        return line.decode(errors="replace")
