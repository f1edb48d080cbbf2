"""Word, PowerPoint and Excel files (docx, pptx, xlsx)."""

import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape

from allyouneed.documents.archive import Archive
from allyouneed.documents.document import Document
from allyouneed.documents.ooxml_text import OoxmlText
from allyouneed.documents.sheet_cells import SHARED, SheetCells
from allyouneed.documents.xml_text import XmlText
from allyouneed.documents.xml_tree import Element, Tree, escape, read_tree
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Part, joined
from allyouneed.translation.markup.passage import Passage, has_words, passages

WORD = (
    r"word/(?:document|header|footer|footnotes|endnotes|comments|glossary/document)\d*\.xml",
    r"word/(?:charts/chart|diagrams/data|diagrams/drawing|drawings/drawing)\d*\.xml",
)
POWERPOINT = (
    r"ppt/(?:slides/slide|notesSlides/notesSlide|charts/chart)\d*\.xml",
    r"ppt/diagrams/(?:data|drawing)\d*\.xml|ppt/comments/(?:modernC|c)omment\w*\.xml",
)
EXCEL = (
    r"xl/sharedStrings\.xml|xl/worksheets/sheet\d+\.xml",
    r"xl/comments\d*\.xml|xl/(?:comments/comment|threadedComments/threadedComment)\d*\.xml",
    r"xl/(?:drawings/drawing|charts/chart|diagrams/data|diagrams/drawing)\d*\.xml",
)
TITLE = r"docProps/core\.xml"
FEW = 5  # texts that a note names
_FORMULA = re.compile(r"<(?:\w+:)?(f|formula|formula[12]|definedName)\b[^>]*>([^<]+)<")
_LITERAL = re.compile(r'"((?:[^"]|"")*)"')
_OPERATOR = re.compile(r"^(?:<>|[<>]?=|[<>])")  # =COUNTIF(B:B,"<>Open")
_FILTER = re.compile(r'<(?:\w+:)?filter\b[^>]*?\sval="([^"]*)"')
_COLUMN = re.compile(r"<(?:\w+:)?tableColumn\b[^>]*?\sname=\"([^\"]*)\"")


class Properties(XmlText):
    """The title, subject and description of a document. All other properties stay."""

    def is_paragraph(self, element: Element) -> bool:
        """Whether the element holds the title, the subject or the description."""
        return element.local in ("title", "description", "subject")

    def passage(self, element: Element) -> Passage:
        """The text of the property."""
        return self.simple_passage(element, (self.tree.content(element),))


def read_docx(data: bytes) -> Document:
    """The document of a Word file: text, tables, notes, headers, text boxes, comments, charts.

    Raises:
        DataError: the file has another format, is damaged, or has a password or macros.
    """
    archive = _opened(data, "word/document.xml")
    return archive_document(archive, WORD, OoxmlText)


def read_pptx(data: bytes) -> Document:
    """The document of a PowerPoint file: slides, their notes, comments, tables and charts.

    Raises:
        DataError: the file has another format, is damaged, or has a password or macros.
    """
    archive = _opened(data, "ppt/presentation.xml")
    return archive_document(archive, POWERPOINT, OoxmlText)


def read_xlsx(data: bytes) -> Document:
    """The document of an Excel file: texts of cells, comments, drawings; formulas stay.

    Raises:
        DataError: the file has another format, is damaged, or has a password or macros.
    """
    archive = _opened(data, "xl/workbook.xml")
    formulas, tables = (
        "\n".join(
            content.decode("utf-8", "replace")
            for entry, content in archive.entries.items()
            if entry.startswith(places)
        )
        for places in (("xl/worksheets/", "xl/workbook.xml", "xl/tables/"), "xl/tables/")
    )
    names = frozenset(map(unescape, _COLUMN.findall(tables)))
    compared = frozenset(filter(has_words, _compared(formulas)))
    cells = SheetCells(archive.entries)

    def text(tree: Tree, name: str) -> XmlText:
        found = OoxmlText(tree, name)
        found.places = cells.places(tree, name)
        found.left_texts = frozenset(map(str.casefold, names | compared))
        return found

    document = archive_document(archive, EXCEL, text)
    document.notes.append("names of sheets stay as they are, because formulas refer to them")
    if names:
        document.notes.append("headings of tables stay as they are, because formulas refer to them")
    shared = archive.entries.get(SHARED, b"").decode("utf-8", "replace").casefold()
    if met := sorted(one for one in compared if f">{escape(one)}<".casefold() in shared):
        shown = ", ".join(f'"{one}"' for one in met[:FEW]) + (", ..." if len(met) > FEW else "")
        document.notes.append(f"texts that formulas contain, too, stay as they are: {shown}")
    return document


def _compared(formulas: str) -> Iterator[str]:
    """The texts that a cell's text is compared with: those in quotes in formulas, such as
    `=COUNTIF(B:B,"Open")`, the choices of a drop-down list, and the values of a filter."""
    for tag, formula in _FORMULA.findall(formulas):
        for literal in _LITERAL.findall(unescape(formula)):
            text = _OPERATOR.sub("", literal.replace('""', '"'))
            yield text
            if tag == "formula1":
                yield from (choice.strip() for choice in text.split(","))
    yield from map(unescape, _FILTER.findall(formulas))


def archive_document(
    archive: Archive, patterns: Iterable[str], text: Callable[[Tree, str], XmlText]
) -> Document:
    """The document of the title and of the entries whose names match a pattern, as `text` reads
    them."""
    wanted = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    entries: dict[str, tuple[list[Part], str]] = {}
    notes: list[str] = []
    for name, content in archive.entries.items():
        if wanted.fullmatch(name):
            tree, codec = read_tree(content, name)
            found = text(tree, name)
            entries[name] = found.parts(), codec
            notes += (f"{name}: {note}" for note in found.notes())
        elif re.fullmatch(TITLE, name):
            tree, codec = read_tree(content, name)
            entries[name] = Properties(tree, name).parts(), codec

    def written() -> bytes:
        changed = {
            name: joined(parts).encode(codec, "xmlcharrefreplace")
            for name, (parts, codec) in entries.items()
        }
        return archive.written(changed)

    every = [passage for parts, _ in entries.values() for passage in passages(parts)]
    return Document(every, written, notes)


def _opened(data: bytes, needed: str) -> Archive:
    archive = Archive(data)
    if needed not in archive.entries:
        raise DataError(f"the archive has no {needed}: it is a file of another kind")
    return archive
