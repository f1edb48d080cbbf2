"""Reads the lines of standard input as they arrive."""

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import BinaryIO

from allyouneed.cli.named_files import notes_on_files
from allyouneed.errors import UsageError

READ_BYTES = 1 << 15
"""The most bytes read from a pipe at a time: enough to batch lines of similar length, and few
enough to keep memory small for inputs of any length."""

BOM = codecs.BOM_UTF8
BOMS_OF_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


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
    texts: Sequence[str] | None,
    note: Callable[[str], None],
    on_names: Callable[[Sequence[str]], Iterable[str]] = notes_on_files,
) -> Iterator[list[str]]:
    """The texts of a call, all at once; without texts, the lines of standard input as they arrive.

    A text that is the name of a file is used as text. `on_names` returns the notes on such texts.

    Raises:
        UsageError: there are no texts, and standard input is closed.
    """
    if not texts:
        return arriving_lines(standard_input(), note)
    for said in on_names(texts):
        note(said)
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
    line is removed; a note names the line. A stream that begins with the byte order mark of UTF-16
    is read as UTF-16.
    """
    portions = _portions(stream)
    first = next(portions, b"")
    portions = chain([first], portions)
    text_of: Callable[[bytes, int], str] = partial(_text, note=note)
    if first.startswith(BOMS_OF_UTF16):
        note("standard input is UTF-16; the results are UTF-8")
        portions, text_of = _utf8_of_utf16(portions, note), _text_of_utf16
    number, rest = 0, [b""]
    for portion in portions:
        if b"\n" not in portion:
            rest.append(portion)
            continue
        *lines, last = (b"".join(rest) + portion).split(b"\n")
        yield [text_of(line, number + n) for n, line in enumerate(lines, start=1)]
        number, rest = number + len(lines), [last]
    if end := b"".join(rest):
        yield [text_of(end, number + 1)]


def _portions(stream: BinaryIO) -> Iterator[bytes]:
    """The bytes that are available each time; waits only for the first byte. The first portion has
    a whole byte order mark of UTF-16, if there is one."""
    read = getattr(stream, "read1", stream.read)
    portion = read(READ_BYTES)
    if len(portion) == 1 and any(mark.startswith(portion) for mark in BOMS_OF_UTF16):
        portion += read(READ_BYTES)
    while portion:
        yield portion
        portion = read(READ_BYTES)


def _utf8_of_utf16(portions: Iterable[bytes], note: Callable[[str], None]) -> Iterator[bytes]:
    """UTF-16 as UTF-8, in which newlines are found as single bytes. Half a pair of surrogates stays
    as it is."""
    decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
    for portion in portions:
        yield decoder.decode(portion).encode(errors="surrogatepass")
    if decoder.getstate()[0]:
        note("standard input ends within a character of UTF-16; replaced by U+FFFD")
        yield "\ufffd".encode()


def _text_of_utf16(line: bytes, number: int) -> str:
    return line.decode(errors="surrogatepass")


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
