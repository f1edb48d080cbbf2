"""What a reader makes of a file: its passages, and the file again with their translations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from allyouneed.translation.markup.nodes import Part, joined
from allyouneed.translation.markup.passage import Passage, passages


@dataclass(slots=True)
class Document:
    """A file that was read.

    `passages` are what can be translated, in the order of reading; setting their translations and
    then calling `written` gives the new file. Without any it is the old one, byte for byte.
    `notes` say what is not translated, and what else a user should know.
    `protect` are regular expressions of what the format itself wants carried over literally.
    """

    passages: list[Passage]
    written: Callable[[], bytes]
    notes: list[str] = field(default_factory=list)
    protect: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text with the encoding that it came in; a byte order mark is its first character.

    `has_references` says whether the format can write a sign that the encoding lacks as `&#8364;`.
    """

    text: str
    codec: str
    has_references: bool = False

    def document(
        self, parts: Sequence[Part], notes: Iterable[str] = (), protect: Sequence[str] = ()
    ) -> Document:
        """The document that these parts of the text make, in the same encoding again."""
        told = list(notes)
        return Document(
            list(passages(parts)), lambda: self.encoded(joined(parts), told), told, protect
        )

    def encoded(self, text: str, notes: list[str]) -> bytes:
        """The text as bytes. A sign that the encoding lacks becomes a reference; in a format
        without references the whole text becomes UTF-8, with a note."""
        if self.has_references:
            return text.encode(self.codec, "xmlcharrefreplace")
        try:
            return text.encode(self.codec)
        except UnicodeEncodeError as error:
            sign = text[error.start]
            notes.append(f"{self.codec} has no {sign!r}: the file is written as UTF-8")
            return text.encode("utf-8", "replace")


def decoded(data: bytes, declared: str | None = None) -> Encoded:
    """The text of a file: UTF-8, UTF-16 by its mark, what it declares, else Windows' Latin.

    Every byte comes back when the text is encoded again. A file in ASCII has the encoding that it
    declares, because its translation may need more signs.
    """
    marks = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
    wanted = [marks[data[:2]]] if data[:2] in marks else ["utf-8", declared or "", "cp1252"]
    if declared and data.isascii():
        wanted.insert(0, declared)
    for codec in wanted:
        try:
            text = data.decode(codec)
            if text.encode(codec) == data:
                return Encoded(text, codec)
        except (UnicodeError, LookupError):
            continue
    return Encoded(data.decode("latin-1"), "latin-1")


def spliced(text: str, places: Iterable[tuple[int, int, Part]]) -> list[Part]:
    """The text as parts, with those given at their places (begin, end), in order, apart."""
    parts: list[Part] = []
    end_before = 0
    for begin, end, part in places:
        parts += [text[end_before:begin], part]
        end_before = end
    return [*parts, text[end_before:]]
