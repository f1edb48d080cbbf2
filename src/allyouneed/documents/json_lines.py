"""JSON lines: one JSON value in each line of a file that may be larger than memory."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from allyouneed.documents.document import Document
from allyouneed.documents.json_strings import JsonString, shown, strings_of
from allyouneed.documents.parts import numbered_parts
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part, joined
from allyouneed.translation.markup.passage import passages

_NAMES = (
    "abstract answer body caption comment content description headline input instruction message "
    "output paragraph prompt question response review sentence subtitle summary text title"
)
TEXT_KEYS = frozenset(_NAMES.split())
"""The keys whose strings are translated unless a user names others. Case does not count."""
_REMEMBERED = 1000  # keys: a file may have names of things as keys
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class _Keys:
    """Decides which strings are translated, and remembers the keys of both kinds."""

    wanted: Collection[str]
    translated: dict[str, None] = field(default_factory=dict)
    left: dict[str, None] = field(default_factory=dict)

    def choose(self, string: JsonString) -> bool:
        """Whether a string is translated. Without named keys, strings outside of objects are."""
        if self.wanted:
            chosen = string.has_key(self.wanted)
        else:
            chosen = not string.keys or string.keys[-1].lower() in TEXT_KEYS
        known = self.translated if chosen else self.left
        if len(known) < _REMEMBERED:
            known[".".join(string.keys)] = None
        return chosen


def read_json_lines(data: bytes, keys: Collection[str] = ()) -> Document:
    """The document of a whole file; see `stream_json_lines`."""
    every = list(stream_json_lines(BytesIO(data), keys))
    return Document(
        [passage for one in every for passage in one.passages],
        lambda: b"".join(one.written() for one in every),
        [note for one in every for note in one.notes],
    )


def stream_json_lines(file: BinaryIO, keys: Collection[str] = ()) -> Iterator[Document]:
    """The documents of a file's lines, some 256 KiB at a time; joined, they are the file.

    The strings of `keys` are translated, by default those of `TEXT_KEYS`. A key is the last one
    that leads to a string ("text"), or all of them ("message.text"). A line that is not JSON stays
    as it is, with a note.

    Raises:
        DataError: the first lines are not JSON, have no such key, or are not UTF-8; or a line is
            too long.
    """
    chosen = _Keys(keys)
    for first, lines in numbered_parts(file, lambda line: True):
        document = _document(first, lines, chosen)
        if first == 1:
            _check(lines, document, chosen)
        yield document


def _document(first: int, lines: Iterable[bytes], chosen: _Keys) -> Document:
    parts: list[Part] = []
    notes: list[str] = []
    for number, line in enumerate(lines, start=first):
        try:
            parts += _parts(line.decode(), f"line {number}", chosen)
        except (DataError, UnicodeDecodeError) as error:
            notes.append(f"line {number} stays as it is: {error}")
            parts.append(line.decode(errors="surrogateescape"))
    return Document(
        list(passages(parts)), lambda: joined(parts).encode(errors="surrogateescape"), notes
    )


def _parts(line: str, where: str, chosen: _Keys) -> Iterator[Part]:
    if not line.strip():
        yield line
        return
    end = 0
    for string in strings_of(line):
        if chosen.choose(string):
            yield line[end : string.begin]
            yield string.passage(line, ", ".join(filter(None, (where, ".".join(string.keys)))))
            end = string.end
    yield line[end:]


def _check(lines: list[bytes], document: Document, chosen: _Keys) -> None:
    """Raises DataError if the first lines hold nothing to translate; else notes the keys."""
    if lines[0].startswith(_UTF_16):
        raise DataError("the file is in UTF-16; JSON lines are UTF-8: save it as UTF-8")
    filled = [line for line in lines if line.strip()]
    if filled and len(document.notes) == len(filled):
        raise DataError(f"the file is not JSON lines: {document.notes[0]}")
    if chosen.left and not chosen.translated:
        wanted = ", ".join(sorted(chosen.wanted or TEXT_KEYS))
        raise DataError(
            f"no string of the first {len(lines):,} lines has one of the keys {wanted}; name the "
            f"keys to translate with --keys, such as --keys {shown(chosen.left, ',')}"
        )
    if chosen.left:
        document.notes.append(
            f"strings of these keys stay as they are: {shown(chosen.left, ', ')}; --keys chooses"
        )
