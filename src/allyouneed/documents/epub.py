"""Electronic books (epub)."""

import re

from allyouneed.documents.archive import Archive
from allyouneed.documents.declared_language import DeclaredLanguage, with_codes
from allyouneed.documents.document import Document, decoded
from allyouneed.documents.xml_text import XmlText
from allyouneed.documents.xml_tree import Element, read_tree
from allyouneed.errors import DataError
from allyouneed.translation.markup.html import html_rules
from allyouneed.translation.markup.nodes import Part, joined
from allyouneed.translation.markup.passage import Passage, passages
from allyouneed.translation.markup.reading import read_markup

_PAGES = re.compile(r".*\.x?html?", re.IGNORECASE)
_CONTENTS = re.compile(r".*\.(?:opf|ncx)", re.IGNORECASE)
_FONTS = re.compile(rb"(?i)\.(?:otf|ttf|woff2?)$")


class BookContents(XmlText):
    """The title and description of a book, and the headings of its table of contents."""

    def is_paragraph(self, element: Element) -> bool:
        """Whether the element holds a title, a description or a heading. Identifiers, dates and
        names of people stay."""
        if element.prefix == "dc:":
            return element.local in ("title", "description")
        return element.local == "text"

    def passage(self, element: Element) -> Passage:
        """The text of the element."""
        return self.simple_passage(element, (self.tree.content(element),))


def read_epub(data: bytes) -> Document:
    """The document of a book: its pages, table of contents, title, description and language.

    Raises:
        DataError: the file is no epub, is damaged, or has encrypted pages.
    """
    archive = Archive(data)
    if not archive.entries.get("mimetype", b"").startswith(b"application/epub+zip"):
        raise DataError("the archive is no epub: its entry `mimetype` does not say so")
    encrypted = archive.entries.get("META-INF/encryption.xml", b"")
    uris = re.findall(rb"CipherReference[^>]*URI=[\"']([^\"']*)", encrypted)
    if any(not _FONTS.search(uri) for uri in uris):
        raise DataError(
            "the book is encrypted (digital rights management) and cannot be translated"
        )
    entries: dict[str, tuple[list[Part], str]] = {}
    for name, content in archive.entries.items():
        if _PAGES.fullmatch(name):
            page = decoded(content)
            parts = list(with_codes(read_markup(page.text, html_rules())))
            for passage in passages(parts):
                passage.where = f"{name}, {passage.where}"
            entries[name] = parts, page.codec
        elif _CONTENTS.fullmatch(name):
            tree, codec = read_tree(content, name)
            entries[name] = list(with_codes(BookContents(tree, name).parts())), codec

    def written() -> bytes:
        changed = {
            name: joined(parts).encode(codec, "xmlcharrefreplace")
            for name, (parts, codec) in entries.items()
        }
        return archive.written(changed)

    every = [part for parts, _ in entries.values() for part in parts]
    codes = [part for part in every if isinstance(part, DeclaredLanguage)]
    return Document(list(passages(every)), written, codes=codes)
