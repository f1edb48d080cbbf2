"""Strings of programs in XML: Android's resources and .NET's resx."""

import re
from collections.abc import Callable, Iterable, Iterator

from allyouneed.documents.messages import message_nodes
from allyouneed.documents.mnemonic import with_mnemonic, without_mnemonic
from allyouneed.documents.xml_text import XmlText
from allyouneed.documents.xml_tree import Element, escape, unescaped
from allyouneed.translation.markup.nodes import LINE_BREAK, Around, Node, Nodes, Void, joined, tidy
from allyouneed.translation.markup.passage import Passage, escaped

_ANDROID_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ANDROID_LINE = re.compile(r"((?<!\\)\\n)")
_CDATA = re.compile(r"(\s*<!\[CDATA\[)((?:(?!\]\]>)[\s\S])*)(\]\]>\s*)")
_QUOTED = re.compile(r'(\s*")((?:[^"\\]|\\.)*)("\s*)', re.DOTALL)


class AndroidText(XmlText):
    """Android's string resources."""

    root = "resources"

    def is_paragraph(self, element: Element) -> bool:
        """Whether the element holds a string, alone or in a list."""
        return element.local in ("string", "item")

    def is_left(self, element: Element) -> bool:
        """References to other strings, and strings marked as not translatable."""
        reference = element.local in ("string", "item") and self.tree.content(element)[:1] in "@?"
        return reference or self.tree.attribute(element, "translatable") == "false"

    def passage(self, element: Element) -> Passage:
        """The text of the string, without the backslashes that Android needs before quotes. Quotes
        around the whole string, which keep its white space, are no text, and tags may be escaped or
        in CDATA."""
        original = tuple(self.within(element))
        raw, where = self.tree.text[element.inner : element.inner_end], self._name(element)
        if found := _CDATA.fullmatch(raw):
            inside = _android_nodes(message_nodes(found[2]), str)
            return Passage(_between(found, inside), original, _android, where)
        if found := _QUOTED.fullmatch(raw):
            inside = _android_nodes(message_nodes(unescaped(found[2])), escape)
            return Passage(_between(found, inside), original, _escaped_android, where)
        return Passage(tidy(self._nodes(element)), original, _escaped_android, where)

    def _nodes(self, element: Element) -> list[Node]:
        nodes: list[Node] = []
        place = element.inner
        for child in element.children:
            nodes += self._text(place, child.begin)
            place = child.end
            if child.name == "xliff:g":
                nodes.append(Void((self.tree.raw(child),), self.tree.content(child)))
            else:
                opening = self.tree.text[child.begin : child.inner]
                closing = self.tree.text[child.inner_end : child.end]
                nodes.append(Around((opening,), tidy(self._nodes(child)), (closing,)))
        return [*nodes, *self._text(place, element.inner_end)]

    def _text(self, begin: int, end: int) -> Iterator[Node]:
        """The nodes of a part of the file between two elements."""
        return _android_nodes(message_nodes(unescaped(self.tree.text[begin:end])), escape)

    def _name(self, element: Element) -> str:
        return self.tree.attribute(element, "name") or self.counted()


def _between(found: re.Match[str], inside: Iterable[Node]) -> tuple[Node, ...]:
    """Nodes between the marks in the first and the last group of a match."""
    return tidy([Void((found[1],)), *inside, Void((found[3],))])


def _android_nodes(nodes: Nodes, written: Callable[[str], str]) -> Iterator[Node]:
    """The nodes of a message as Android reads it. Their tags stand in the file as `written`."""
    for node in nodes:
        if isinstance(node, str):
            for piece in _ANDROID_LINE.split(node):
                is_line = _ANDROID_LINE.fullmatch(piece)
                yield Void((piece,), LINE_BREAK) if is_line else _from_android(piece)
        elif isinstance(node, Around):
            inside = tidy(list(_android_nodes(node.inside, written)))
            opening, closing = ((written(joined(tag)),) for tag in (node.opening, node.closing))
            yield Around(opening, inside, closing, node.script)
        elif isinstance(node, Void) and node.seen == LINE_BREAK and joined(node.raw).isspace():
            yield " "
        else:
            yield node


def _from_android(text: str) -> str:
    def sign(match: re.Match[str]) -> str:
        if len(match[1]) > 1:
            return chr(int(match[1][1:], 16))
        return {"t": "\t"}.get(match[1], match[1])

    return _ANDROID_ESCAPE.sub(sign, re.sub(r"\s+", " ", text))


def _android(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    return text.replace("\n", "\\n").replace("\t", "\\t")


def _escaped_android(text: str) -> str:
    return escape(_android(text))


class ResourceText(XmlText):
    """.NET's resources."""

    root = "root"

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
        """The text of the value, in which escaped tags are read as tags."""
        raw = self.tree.text[element.inner : element.inner_end]
        nodes, mnemonic = without_mnemonic(message_nodes(unescaped(raw)))

        def write(passage: Passage) -> str:
            """The passage with its tags escaped, as they stand in the file."""
            return escape(escaped(with_mnemonic(passage.target or (), mnemonic), str))

        return Passage(nodes, (raw,), escape, self.counted(), write)
