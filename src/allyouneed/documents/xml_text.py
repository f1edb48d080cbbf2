"""Text of XML files: the parts of a tree, with a passage for each paragraph."""

from collections.abc import Callable, Collection, Iterator, Mapping

from allyouneed.documents.xml_tree import Element, Tree, escape, escape_attribute
from allyouneed.translation.markup.nodes import Nodes, Part, Void
from allyouneed.translation.markup.passage import Passage, has_words

Skip = Callable[[Element], bool]


class XmlText:
    """What all formats of XML have in common: paragraphs, however they nest, and attributes.

    A format says what a paragraph is, what nodes it has, and how it is written.
    """

    text_attributes: Mapping[str, Collection[str]] = {}

    def __init__(self, tree: Tree, name: str) -> None:
        self.tree, self.name = tree, name
        self._known: dict[int, tuple[Part, ...]] = {}
        self._number = 0

    def parts(self) -> list[Part]:
        """The whole file."""
        root = self.tree.root
        text = self.tree.text
        return [text[: root.begin], *self.of(root), text[root.end :]]

    def is_paragraph(self, element: Element) -> bool:
        """Whether the text of the element is translated as one."""
        raise NotImplementedError

    def is_left(self, element: Element) -> bool:
        """Whether nothing in the element is translated."""
        return False

    def passage(self, element: Element) -> Passage:
        """The passage that a paragraph is, from `inner` to `inner_end`."""
        raise NotImplementedError

    def of(self, element: Element) -> tuple[Part, ...]:
        """The element as parts; asked twice, the passages are the same ones."""
        known = self._known.get(element.begin)
        if known is None:
            known = self._known[element.begin] = tuple(self._of(element))
        return known

    def _of(self, element: Element) -> Iterator[Part]:
        if self.is_left(element):
            yield self.tree.raw(element)
            return
        yield from self._tag(element)
        if self.is_paragraph(element):
            passage = self.passage(element)
            if has_words(passage.text):
                yield passage
            else:
                yield from passage.original
        else:
            yield from self.within(element)
        yield self.tree.text[element.inner_end : element.end]

    def within(self, element: Element, begin: int | None = None) -> Iterator[Part]:
        """What stands in an element, from a place on, as parts."""
        place = element.inner if begin is None else begin
        for child in element.children:
            if child.begin >= place:
                yield self.tree.text[place : child.begin]
                yield from self.of(child)
                place = child.end
        yield self.tree.text[place : element.inner_end]

    def _tag(self, element: Element) -> Iterator[Part]:
        """The opening tag, with passages for attributes that hold text."""
        place = element.begin
        for name in self.text_attributes.get(element.local, ()):
            value = self.tree.attribute(element, name)
            if has_words(value):
                begin, end = element.attributes[name]
                yield self.tree.text[place:begin]
                raw = self.tree.text[begin:end]
                where = f"{self.where()}, {name}"
                yield Passage((value,), (raw,), escape_attribute, where)
                place = end
        yield self.tree.text[place : element.inner]

    def where(self) -> str:
        """The place in the file, for people."""
        return f"{self.name}, paragraph {self._number}"

    def counted(self) -> str:
        """The place of the next paragraph."""
        self._number += 1
        return self.where()

    def void(self, element: Element, seen: str = "") -> Void:
        """An element that stays as it is, but for paragraphs within it."""
        return Void(self.of(element), seen)

    def simple_passage(self, element: Element, nodes: Nodes) -> Passage:
        """A passage of tags around text, which is written as it is read."""
        return Passage(nodes, tuple(self.within(element)), escape, self.counted())
