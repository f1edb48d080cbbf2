"""Strings of programs in XML: Android, .NET's resx, Qt's ts, and XLIFF for all of them."""

import re
from collections.abc import Iterator

from allyouneed.documents.document import Document, Encoded
from allyouneed.documents.messages import message_nodes
from allyouneed.documents.xml_text import XmlText
from allyouneed.documents.xml_tree import Element, Tree, escape, read_tree, unescaped
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Around, Node, Nodes, Part, Void, tidy
from allyouneed.translation.markup.passage import Passage, escaped, has_words

_ANDROID_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


class AndroidText(XmlText):
    """Android's string resources."""

    def is_paragraph(self, element: Element) -> bool:
        """A string, or an item of several; not a reference to another one."""
        return element.local in ("string", "item")

    def is_left(self, element: Element) -> bool:
        """What is not translatable, and references."""
        reference = element.local in ("string", "item") and self.tree.content(element)[:1] in "@?"
        return reference or self.tree.attribute(element, "translatable") == "false"

    def passage(self, element: Element) -> Passage:
        """The string, without the backslashes that Android wants before quotes."""
        original = tuple(self.within(element))
        return Passage(tidy(self._nodes(element)), original, _android, self._name(element))

    def _nodes(self, element: Element) -> list[Node]:
        nodes: list[Node] = []
        place = element.inner
        for child in element.children:
            nodes.append(_from_android(unescaped(self.tree.text[place : child.begin])))
            place = child.end
            if child.name == "xliff:g":
                nodes.append(Void((self.tree.raw(child),), self.tree.content(child)))
            else:
                opening = self.tree.text[child.begin : child.inner]
                closing = self.tree.text[child.inner_end : child.end]
                nodes.append(Around((opening,), tidy(self._nodes(child)), (closing,)))
        nodes.append(_from_android(unescaped(self.tree.text[place : element.inner_end])))
        return nodes

    def _name(self, element: Element) -> str:
        return self.tree.attribute(element, "name") or self.counted()


def _from_android(text: str) -> str:
    def sign(match: re.Match[str]) -> str:
        if len(match[1]) > 1:
            return chr(int(match[1][1:], 16))
        return {"n": "\n", "t": "\t"}.get(match[1], match[1])

    return _ANDROID_ESCAPE.sub(sign, re.sub(r"\s+", " ", text))


def _android(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    return escape(text.replace("\n", "\\n").replace("\t", "\\t"))


class ResourceText(XmlText):
    """.NET's resources."""

    def is_paragraph(self, element: Element) -> bool:
        """Whether the element holds the text of an entry."""
        return element.local == "value"

    def is_left(self, element: Element) -> bool:
        """Whether nothing in the element is translated: headers, pictures, settings of windows."""
        if element.local in ("resheader", "metadata", "assembly", "schema", "comment"):
            return True
        name = self.tree.attribute(element, "name")
        typed = "type" in element.attributes or "mimetype" in element.attributes
        return element.local == "data" and (typed or name.startswith(">>"))

    def passage(self, element: Element) -> Passage:
        """The value, which may hold tags as text."""
        raw = self.tree.text[element.inner : element.inner_end]
        nodes = message_nodes(unescaped(raw))
        return Passage(nodes, (raw,), escape, self.counted(), _as_text)


def _as_text(passage: Passage) -> str:
    """Tags that stand in the file as text, written as text."""
    return escape(escaped(passage.target or (), str))


class PairText(XmlText):
    """Files in which a source stands beside its translation: what has none gets one."""

    units: tuple[str, ...] = ()
    inside: frozenset[str] = frozenset()
    target = "target"

    def is_paragraph(self, element: Element) -> bool:
        """Nothing: the units are read by themselves."""
        return False

    def is_left(self, element: Element) -> bool:
        """What shall not be translated."""
        return self.tree.attribute(element, "translate") == "no"

    def _of(self, element: Element) -> Iterator[Part]:
        pair = self.pair(element) if element.local in self.units else None
        if pair is None or self.is_left(element):
            yield from super()._of(element)
            return
        source, target = pair
        nodes = tidy(self.nodes(source))
        if not self.wants(element, target) or not any(map(has_words, _strings(nodes))):
            yield self.tree.raw(element)
            return
        begin, end = (target.begin, target.end) if target else (source.end, source.end)
        where = self.tree.attribute(element, "id") or self.counted()
        name = f"{source.prefix}{self.target}"

        def write(passage: Passage) -> str:
            return self.written(name, self.text_of(passage.target or ()), target)

        yield self.tree.text[element.begin : begin]
        yield Passage(nodes, (self.tree.text[begin:end],), escape, where, write)
        yield self.tree.text[end : element.end]

    def pair(self, unit: Element) -> tuple[Element, Element | None] | None:
        """The element of the source and that of the translation; None for a unit without source."""
        source = unit.child("source")
        return (source, unit.child(self.target)) if source else None

    def wants(self, unit: Element, target: Element | None) -> bool:
        """Whether a unit has no translation yet."""
        return target is None or not self.tree.content(target).strip()

    def written(self, name: str, text: str, target: Element | None) -> str:
        """The element of the translation."""
        opening = self.tree.text[target.begin : target.inner].rstrip("/>") if target else f"<{name}"
        return f"{opening}>{text}</{name}>"

    def text_of(self, nodes: Nodes) -> str:
        """Nodes of a translation as the file writes them."""
        return escaped(nodes, escape)

    def nodes(self, element: Element) -> list[Node]:
        """The text of a source, with the elements that stand for the markup of another file."""
        nodes: list[Node] = []
        place = element.inner
        for child in element.children:
            nodes.append(unescaped(self.tree.text[place : child.begin]))
            place = child.end
            if child.local in self.inside:
                opening = self.tree.text[child.begin : child.inner]
                closing = self.tree.text[child.inner_end : child.end]
                nodes.append(Around((opening,), tidy(self.nodes(child)), (closing,)))
            else:
                nodes.append(Void((self.tree.raw(child),)))
        nodes.append(unescaped(self.tree.text[place : element.inner_end]))
        return nodes


def _strings(nodes: tuple[Node, ...]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
        elif isinstance(node, Around):
            yield from _strings(node.inside)


class XliffText(PairText):
    """XLIFF 1.2 and 2: units of 1.2, segments of 2."""

    units = ("trans-unit", "segment")
    inside = frozenset(["g", "mrk", "pc", "sub"])

    def wants(self, unit: Element, target: Element | None) -> bool:
        """Also where the translation is marked as being none."""
        states = ("new", "needs-translation", "initial")
        state = self.tree.attribute(target, "state") if target else ""
        state = state or self.tree.attribute(unit, "state")
        return super().wants(unit, target) or state in states


class TmxText(PairText):
    """Units of a translation memory: an empty variant gets the translation of the one with text.

    What holds native codes of a format (`bpt`, `ept`, `ph`, `it`) stays as it is.
    """

    units = ("tu",)
    inside = frozenset(["hi"])

    def __init__(self, tree: Tree, name: str) -> None:
        super().__init__(tree, name)
        header = tree.root.child("header")
        self.source_language = tree.attribute(header, "srclang") if header else ""

    def pair(self, unit: Element) -> tuple[Element, Element | None] | None:
        """The segment in the file's own language, and the empty variant, which is written anew."""
        variants = [one for one in unit.children if one.local == "tuv"]
        source = next((one for one in variants if self._is_source(one) and self._text(one)), None)
        empty = next((one for one in variants if one is not source and not self._text(one)), None)
        segment = source.child("seg") if source else None
        return (segment, empty) if segment and empty else None

    def _is_source(self, variant: Element) -> bool:
        wanted = self.source_language.lower()
        code = self.tree.attribute(variant, "xml:lang") or self.tree.attribute(variant, "lang")
        return wanted in ("", "*all*") or code.lower().split("-")[0] == wanted.split("-")[0]

    def _text(self, variant: Element) -> str:
        segment = variant.child("seg")
        return self.tree.content(segment).strip() if segment else ""

    def wants(self, unit: Element, target: Element | None) -> bool:
        """Every unit that has a source and an empty variant."""
        return True

    def written(self, name: str, text: str, target: Element | None) -> str:
        """The variant with the translation as its segment; its properties and notes stay."""
        assert target is not None
        segment = target.child("seg")
        begin, end = (segment.begin, segment.end) if segment else (target.inner_end,) * 2
        opening = self.tree.text[target.begin : begin]
        closing = self.tree.text[end : target.end]
        if target.inner == target.end:  # <tuv/>
            prefix = target.name
            opening, closing = f"{opening.rstrip('/> ')}>", f"</{prefix}>"
        return f"{opening}<seg>{text}</seg>{closing}"


class QtText(PairText):
    """Qt's translations; plural forms stay, with a note."""

    units = ("message",)
    target = "translation"

    def wants(self, unit: Element, target: Element | None) -> bool:
        """Messages without plural forms."""
        return "numerus" not in unit.attributes and super().wants(unit, target)

    def nodes(self, element: Element) -> list[Node]:
        """The text; tags in it are written as text."""
        text = self.tree.content(element)
        return list(message_nodes(re.sub(r"&(?=\w)", "", text)))

    def text_of(self, nodes: Nodes) -> str:
        """Nodes of a translation; tags are written as text, too."""
        return escape(escaped(nodes, str))

    def written(self, name: str, text: str, target: Element | None) -> str:
        """The translation, which is finished."""
        return f"<{name}>{text}</{name}>"


def read_android(data: bytes) -> Document:
    """The document of Android's string resources.

    Raises:
        DataError: no well-formed XML, or XML of another kind.
    """
    return _read(data, AndroidText, "resources")


def read_resx(data: bytes) -> Document:
    """The document of .NET's resources.

    Raises:
        DataError: no well-formed XML, or XML of another kind.
    """
    return _read(data, ResourceText, "root")


def read_xliff(data: bytes) -> Document:
    """The document of an XLIFF file: units without translation get one.

    Raises:
        DataError: no well-formed XML, or XML of another kind.
    """
    return _read(data, XliffText, "xliff")


def read_ts(data: bytes) -> Document:
    """The document of a Qt translation file: messages without translation get one.

    Raises:
        DataError: no well-formed XML, or XML of another kind.
    """
    document = _read(data, QtText, "TS")
    if b"numerus=" in data:
        document.notes.append("messages with plural forms stay as they are")
    return document


def read_tmx(data: bytes) -> Document:
    """The document of a TMX file: empty variants get the translation of their unit.

    Raises:
        DataError: no well-formed XML, or XML of another kind.
    """
    return _read(data, TmxText, "tmx")


def _read(data: bytes, kind: type[XmlText], root: str) -> Document:
    tree, codec = read_tree(data, "the file")
    if tree.root.local != root:
        raise DataError(f"its outermost element is <{tree.root.name}>, not <{root}>")
    return Encoded(tree.text, codec, has_references=True).document(kind(tree, "the file").parts())
