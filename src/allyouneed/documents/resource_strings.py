"""Strings of programs in XML: Android's resources and .NET's resx."""

import re

from allyouneed.documents.messages import message_nodes
from allyouneed.documents.xml_text import XmlText
from allyouneed.documents.xml_tree import Element, escape, unescaped
from allyouneed.translation.markup.nodes import Around, Node, Void, tidy
from allyouneed.translation.markup.passage import Passage, escaped

_ANDROID_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


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
        """The text of the string, without the backslashes that Android needs before quotes."""
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
        nodes = message_nodes(unescaped(raw))
        return Passage(nodes, (raw,), escape, self.counted(), _as_text)


def _as_text(passage: Passage) -> str:
    """The passage with its tags escaped, as they stand in the file."""
    return escape(escaped(passage.target or (), str))
