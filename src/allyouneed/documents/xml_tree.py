"""The elements of an XML file with their places in it, so that all else is copied byte for byte."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from xml.parsers import expat

from allyouneed.errors import DataError

_MARK = re.compile(
    r"<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>"
    r"""|<!(?:[^<>\[\]]|\[[^\]]*\])*>|<(?P<close>/)?(?P<name>[^\s/>]+)"""
    r"""(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*)>"""
)
_ATTRIBUTE = re.compile(r"""([^\s=]+)\s*=\s*("[^"]*"|'[^']*')""")
DEEPEST = 400
MOST_ELEMENTS = 2_000_000  # of one file: each takes some hundred bytes of memory


@dataclass(slots=True, eq=False)
class Element:
    """An element: text[begin:end] with its tags, text[inner:inner_end] without them."""

    name: str
    begin: int
    end: int
    inner: int
    inner_end: int
    attributes: dict[str, tuple[int, int]]
    children: "list[Element]" = field(default_factory=list)

    @property
    def local(self) -> str:
        """The name without its prefix, such as "p"."""
        return self.name.rpartition(":")[2]

    @property
    def prefix(self) -> str:
        """The prefix with its colon, such as "w:"; empty if the name has none."""
        return self.name[: self.name.rfind(":") + 1]

    def child(self, local: str) -> "Element | None":
        """The first child with this local name; None if there is none."""
        return next((child for child in self.children if child.local == local), None)

    def walk(self) -> "Iterator[Element]":
        """All elements inside this one, at any depth, in the order in which they begin."""
        for child in self.children:
            yield child
            yield from child.walk()


@dataclass(slots=True, eq=False)
class Tree:
    """A text and its outermost element."""

    text: str
    root: Element

    def raw(self, element: Element) -> str:
        """The element as it stands in the file."""
        return self.text[element.begin : element.end]

    def attribute(self, element: Element, name: str) -> str:
        """The value of an attribute; empty if the element has no such attribute."""
        place = element.attributes.get(name)
        return unescape(self.text[slice(*place)]) if place else ""

    def content(self, element: Element) -> str:
        """The text inside an element, at any depth."""
        parts, place = [], element.inner
        for child in element.children:
            parts += [unescaped(self.text[place : child.begin]), self.content(child)]
            place = child.end
        return "".join([*parts, unescaped(self.text[place : element.inner_end])])


def read_tree(data: bytes, name: str) -> tuple[Tree, str]:
    """The elements of a file, and its encoding.

    Raises:
        DataError: the file is not well-formed, declares entities, or is nested too deep.
    """
    codec = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "utf-8")
    declared = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([\w-]+)", data)
    if declared and codec == "utf-8":
        codec = declared[1].decode().lower()
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def refuse(*_: object) -> int:
        raise DataError(f"{name} declares entities, which are not read from documents")

    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
        text = data.decode(codec)
    except (expat.ExpatError, UnicodeError, LookupError) as error:
        raise DataError(f"{name} is no well-formed XML: {error}") from error
    if text.encode(codec) != data:
        raise DataError(f"{name}: its encoding, {codec}, is not kept when it is written again")
    return Tree(text, _root(text, name)), codec


def _root(text: str, name: str) -> Element:
    top = Element("", 0, len(text), 0, len(text), {})
    opened = [top]
    count = 0
    for match in _MARK.finditer(text):
        if match["name"] is None:
            continue
        if match["close"]:
            if len(opened) < 2:
                raise DataError(f"{name} is no well-formed XML")
            element = opened.pop()
            element.inner_end, element.end = match.start(), match.end()
            continue
        attributes = {
            found[1]: (found.start(2) + 1, found.end(2) - 1)
            for found in _ATTRIBUTE.finditer(text, match.start("attributes"), match.end())
        }
        count += 1
        if count > MOST_ELEMENTS:
            raise DataError(f"{name}: more than {MOST_ELEMENTS:,} elements; this is no document")
        end = match.end()
        element = Element(match["name"], match.start(), end, end, end, attributes)
        opened[-1].children.append(element)
        if not match["attributes"].endswith("/") and not match["name"].endswith("/"):
            opened.append(element)
            if len(opened) > DEEPEST:
                raise DataError(f"{name}: more than {DEEPEST} elements within each other")
    if not top.children:
        raise DataError(f"{name} has no element")
    return top.children[0]


def unescaped(text: str) -> str:
    """Text of XML as a reader sees it, without comments."""
    if "<" in text:
        text = re.sub(r"<!--[\s\S]*?-->|<\?[\s\S]*?\?>", "", text)
        text = re.sub(r"<!\[CDATA\[([\s\S]*?)\]\]>", lambda m: m[1].replace("&", "&amp;"), text)
    return unescape(text)


_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def escape(text: str) -> str:
    """Text as XML writes it, without control characters, which XML cannot hold."""
    text = _INVALID.sub("", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(text: str) -> str:
    """Text as the value of an attribute, whatever its quotes."""
    return escape(text).replace('"', "&quot;").replace("'", "&apos;").replace("\n", "&#10;")
