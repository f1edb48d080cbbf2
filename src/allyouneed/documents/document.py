"""A document: the passages of a file, and the file again with their translations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from allyouneed.documents.declared_language import DeclaredLanguage
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part, joined
from allyouneed.translation.markup.passage import Passage, passages

_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


@dataclass(slots=True)
class Document:
    """A file that was read.

    `passages` are the texts to translate, in reading order. After the translations are set,
    `written` returns the new file. If no translation is set, `written` returns the file as it was,
    byte for byte. `notes` tell the user which parts are not translated, and why. `protect` are
    regular expressions of text that the format needs unchanged, such as placeholders. `codes` are
    the places at which the file names its language. `check` gives notes on the translations, once
    they are set.
    """

    passages: list[Passage]
    written: Callable[[], bytes]
    notes: list[str] = field(default_factory=list)
    protect: Sequence[str] = ()
    codes: list[DeclaredLanguage] = field(default_factory=list)
    check: Callable[[], Iterable[str]] = tuple


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text with the encoding of its file. A byte order mark is its first character.

    `has_references` says whether the format can write a character that the encoding lacks as a
    reference, such as `&#8364;`.
    """

    text: str
    codec: str
    has_references: bool = False

    def document(
        self, parts: Sequence[Part], notes: Iterable[str] = (), protect: Sequence[str] = ()
    ) -> Document:
        """The document of these parts of the text, which is written in the same encoding."""
        told = list(notes)
        return Document(
            list(passages(parts)),
            lambda: self.encoded(joined(parts), told),
            told,
            protect,
            [part for part in parts if isinstance(part, DeclaredLanguage)],
        )

    def encoded(self, text: str, notes: list[str]) -> bytes:
        """The text as bytes. A character that the encoding lacks becomes a reference. In a format
        without references the whole text is written as UTF-8, and `notes` gets a note."""
        if self.has_references:
            return text.encode(self.codec, "xmlcharrefreplace")
        try:
            return text.encode(self.codec)
        except UnicodeEncodeError as error:
            sign = text[error.start]
            notes.append(f"{self.codec} has no {sign!r}: the file is written as UTF-8")
            return text.encode("utf-8", "replace")


def check_text(data: bytes) -> None:
    """Raises DataError for a zero byte, which programs and packed files have, and texts do not."""
    place = data.find(0)
    if place >= 0:
        raise DataError(
            f"the file is no text: it has a zero byte at {place:,}; give it the ending of its kind "
            "(such as .docx or .pdf), or, if it is a text in UTF-16, save it as UTF-8"
        )


def decoded(data: bytes, declared: str | None = None) -> Encoded:
    """The text of a file and its encoding: UTF-16 if the file has its mark, else the first of
    UTF-8, the `declared` encoding, Windows-1252 and Latin-1 that can decode the file.

    The text encodes to the same bytes again. A file in ASCII has the declared encoding, because its
    translation may need more characters.

    Raises:
        DataError: the file is no text.
    """
    wanted = [_MARKS[data[:2]]] if data[:2] in _MARKS else ["utf-8", declared or "", "cp1252"]
    if data[:2] not in _MARKS:
        check_text(data)
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
    """The parts of a text in which the given parts replace text[begin:end]. The places are in order
    and do not overlap."""
    parts: list[Part] = []
    end_before = 0
    for begin, end, part in places:
        parts += [text[end_before:begin], part]
        end_before = end
    return [*parts, text[end_before:]]
