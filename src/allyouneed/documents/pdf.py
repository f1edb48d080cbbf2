"""PDF: the text of its pages, as Markdown. Layout, pictures and the borders of tables are lost."""

import io
import logging
import re
from collections.abc import Iterator, Sequence
from statistics import median_high

from allyouneed.documents.document import Document
from allyouneed.documents.markdown import read_markdown
from allyouneed.errors import DataError, UsageError

MOST_PAGES = 5_000
MOST_CHARACTERS = 20_000_000
NOTE = "only the text of a PDF is kept, as Markdown: its layout and pictures are lost"
_WIDE = 0.9  # of a page's lines are at most as long as the width that they were broken at
_ROOM = 0.85  # of that width: a line that is shorter with the next word ends its paragraph
_PRESENTATION_FORMS = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl"}
_REPLACED = {**_PRESENTATION_FORMS, 0xAD: None, 0xA0: " ", 0x09: " "}  # 0xAD: a soft hyphen
_UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_BULLET = re.compile(r"[•▪◦‣·●○■]\s*(?=\S)")
_ITEM = re.compile(r"(?:[-–*]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+(?=\S)")
_DIVIDED = re.compile(r"[^\W\d_]{2}-$")
_PAGE_NUMBER = re.compile(r"\W*\d{1,4}\W*")
_SYNTAX = re.compile(r"[\\`*_\[\]<>&$]")
_BLOCK = re.compile(r"(?=[-+#=~|>:])|(?<=\d)(?=[.)]\s)")


def read_pdf(data: bytes) -> Document:
    """The document of a PDF's text. It is written as Markdown, without a translation too.

    Raises:
        UsageError: a library that is needed is not installed.
        DataError: the file is no PDF, is damaged, has a password, or has no text.
    """
    pages = list(_pages(data))
    empty = sum(not page for page in pages)
    if empty == len(pages):
        raise DataError(
            "no page has a text: the pages are pictures. Recognise their text first, for example "
            "with ocrmypdf, and translate the PDF that it writes"
        )
    written = [_markdown(paragraph) for paragraph in _paragraphs(pages)]
    document = read_markdown("".join(f"{one}\n\n" for one in written).encode())
    document.notes.insert(0, NOTE)
    if empty:
        document.notes.append(f"{empty} of {len(pages)} pages have no text; pictures are not read")
    return document


def _pages(data: bytes) -> Iterator[list[str]]:
    """The lines of each page that hold text, without page numbers."""
    try:
        import pypdf
    except ImportError as error:
        raise UsageError(
            "PDF needs pypdf; install it: pip install 'allyouneed[documents]'"
        ) from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # pypdf logs each small damage
    left = MOST_CHARACTERS
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError("the file is protected by a password; save it without one")
        if len(reader.pages) > MOST_PAGES:
            raise DataError(
                f"{len(reader.pages):,} pages; at most {MOST_PAGES:,} are read: divide the file"
            )
        for page in reader.pages:
            text = page.extract_text()
            left -= len(text)
            if left < 0:
                raise DataError(f"more than {MOST_CHARACTERS:,} characters; divide the file")
            yield _lines(text)
    except DataError:
        raise
    except pypdf.errors.DependencyError as error:
        raise UsageError(f"{error} to decrypt the file; or save it without encryption") from error
    except Exception as error:  # pypdf meets damage with errors of any kind
        said = f"{type(error).__name__}: {error}"
        raise DataError(
            f"the file is no PDF, or a damaged one ({said}); open it in a program that shows PDF "
            "and save it again"
        ) from error


def _lines(text: str) -> list[str]:
    lines = [
        " ".join(_UNPRINTABLE.sub("", line).split())
        for line in text.translate(_REPLACED).split("\n")
    ]
    while lines and (not lines[-1] or _PAGE_NUMBER.fullmatch(lines[-1])):
        lines.pop()
    while lines and (not lines[0] or _PAGE_NUMBER.fullmatch(lines[0])):
        lines.pop(0)
    return lines


def _paragraphs(pages: Sequence[Sequence[str]]) -> Iterator[str]:
    """The paragraphs of pages, each in one line. A paragraph may go on in the next page."""
    paragraph, room = "", 0.0
    widths = [_width(lines) for lines in pages]
    usual = median_high(filter(None, widths))
    for lines, own in zip(pages, widths, strict=True):
        width = max(own, usual)  # a page with a few short lines says little
        for line in lines:
            if _DIVIDED.search(paragraph) and line[:1].islower():
                paragraph = paragraph[:-1] + line
            else:
                begins = not line or _BULLET.match(line) or _ITEM.match(line)
                if paragraph and (begins or len(line.split()[0]) < room):
                    yield paragraph
                    paragraph = ""
                paragraph = f"{paragraph} {line}".strip()
            room = _ROOM * width - len(line)
    if paragraph:
        yield paragraph


def _width(lines: Sequence[str]) -> int:
    """The width, in characters, that the lines of a page were broken at; 0 for an empty page."""
    lengths = sorted(map(len, lines))
    return lengths[int(_WIDE * (len(lengths) - 1))] if lengths else 0


def _markdown(paragraph: str) -> str:
    """A paragraph as Markdown. Signs with a meaning in Markdown are escaped, except for the mark of
    a list's item."""
    bullet = _BULLET.match(paragraph)
    mark = "- " if bullet else ""
    text = _SYNTAX.sub(r"\\\g<0>", paragraph[bullet.end() :] if bullet else paragraph)
    return mark + text if mark or _ITEM.match(text) else _BLOCK.sub(r"\\", text, count=1)
