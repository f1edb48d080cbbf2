"""OpenDocument files (odt, odp, ods), as LibreOffice writes them."""

from collections.abc import Iterator, Sequence

from allyouneed.documents.archive import Archive
from allyouneed.documents.document import Document
from allyouneed.documents.office import archive_document
from allyouneed.documents.xml_text import XmlText
from allyouneed.documents.xml_tree import Element, Tree, escape_attribute, unescaped
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import (
    LINE_BREAK,
    Around,
    Node,
    Part,
    Script,
    Void,
    plain,
    tidy,
)
from allyouneed.translation.markup.passage import Passage

ENTRIES = (r"(?:Object \d+/)?content\.xml|styles\.xml|meta\.xml",)
_INSIDE = frozenset(["span", "a", "meta", "meta-field", "ruby", "ruby-base"])
_SPACES = frozenset(["s", "tab", "line-break"])
_VALUE = "office:string-value"  # of a cell, beside the paragraphs that show it


class _Value:
    """The value of a cell, which says the same as the cell's paragraphs."""

    def __init__(self, before: str, paragraphs: Sequence[str | Passage]) -> None:
        self._before, self._paragraphs = before, paragraphs

    def written(self) -> str:
        """The text of the translated paragraphs; the old value if none of them is translated."""
        if not any(isinstance(one, Passage) and one.target for one in self._paragraphs):
            return self._before
        lines = (
            plain(one.target or one.nodes) if isinstance(one, Passage) else one
            for one in self._paragraphs
        )
        return escape_attribute("\n".join(lines))


class OpenDocumentText(XmlText):
    """The text of one part of an OpenDocument file."""

    def __init__(self, tree: Tree, name: str) -> None:
        super().__init__(tree, name)
        self._scripts = dict(_scripts(tree))

    def is_paragraph(self, element: Element) -> bool:
        """A paragraph, a heading, a description of a picture, or the document's title."""
        if element.prefix == "text:":
            return element.local in ("p", "h")
        if element.prefix == "svg:":
            return element.local in ("title", "desc")
        return element.prefix == "dc:" and element.local in ("title", "description", "subject")

    def is_left(self, element: Element) -> bool:
        """Cells with formulas or numbers, deleted text, and names of authors."""
        if element.local in ("table-cell", "covered-table-cell"):
            kind = self.tree.attribute(element, "office:value-type") or "string"
            return kind != "string" or "table:formula" in element.attributes
        return element.local in ("tracked-changes", "creator", "initial-creator")

    def _tag(self, element: Element) -> Iterator[Part]:
        """The parts of the opening tag, with the value of a cell."""
        place = element.attributes.get(_VALUE)
        if place is None:
            yield from super()._tag(element)
            return
        yield self.tree.text[element.begin : place[0]]
        lines = [one for one in element.children if self.is_paragraph(one)]
        yield _Value(self.tree.text[slice(*place)], [self._line(one) for one in lines])
        yield self.tree.text[place[1] : element.inner]

    def _line(self, paragraph: Element) -> str | Passage:
        """The passage of a paragraph; its text if it has no words."""
        found = [part for part in self.of(paragraph) if isinstance(part, Passage)]
        return found[0] if found else self.tree.content(paragraph)

    def passage(self, element: Element) -> Passage:
        """The text of the paragraph."""
        return self.simple_passage(element, tidy(list(self._nodes(element))))

    def _nodes(self, element: Element) -> Iterator[Node]:
        place = element.inner
        for child in element.children:
            yield _collapsed(self.tree.text[place : child.begin])
            place = child.end
            if child.local in _INSIDE:
                opening = self.tree.text[child.begin : child.inner]
                closing = self.tree.text[child.inner_end : child.end]
                inside = tidy(list(self._nodes(child)))
                style = self.tree.attribute(child, "text:style-name")
                yield Around((opening,), inside, (closing,), self._scripts.get(style, ""))
            elif child.local in _SPACES:
                seen = LINE_BREAK if child.local == "line-break" else " "
                yield Void((self.tree.raw(child),), seen)
            elif child.local in ("note", "annotation", "frame") or child.children:
                yield self.void(child)
            else:  # a field, such as a number of pages, or a mark
                yield Void((self.tree.raw(child),), self.tree.content(child))
        yield _collapsed(self.tree.text[place : element.inner_end])


def _scripts(tree: Tree) -> Iterator[tuple[str, Script]]:
    """The names of the styles that write subscripts or superscripts."""
    if "text-position" not in tree.text:
        return
    for style in tree.root.walk():
        properties = style.child("text-properties") if style.name == "style:style" else None
        position = tree.attribute(properties, "style:text-position") if properties else ""
        if position.startswith(("sub", "-")):
            yield tree.attribute(style, "style:name"), "sub"
        elif position.startswith("super") or position[:1] in [*"123456789"]:
            yield tree.attribute(style, "style:name"), "super"


def _collapsed(text: str) -> str:
    return unescaped(text).replace("\n", " ").replace("\t", " ")


def read_open_document(data: bytes) -> Document:
    """The document of an odt, odp or ods file: text, tables, notes, headers, descriptions.

    Raises:
        DataError: the file has another format, is damaged, or has a password or macros.
    """
    archive = Archive(data)
    if "content.xml" not in archive.entries:
        raise DataError("the archive has no content.xml: it is a file of another kind")
    if b"encryption-data" in archive.entries.get("META-INF/manifest.xml", b""):
        raise DataError("the file is protected by a password; save it without one")
    return archive_document(archive, ENTRIES, OpenDocumentText)
