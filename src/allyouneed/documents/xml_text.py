"""Text of XML files: a tree of elements becomes parts, with a passage for each paragraph."""

from collections.abc import Callable, Collection, Iterator, Mapping

from allyouneed.documents.document import Document, Encoded
from allyouneed.documents.xml_tree import Element, Tree, escape, escape_attribute, read_tree
from allyouneed.errors import DataError
from allyouneed.translation.markup.nodes import Nodes, Part, Void
from allyouneed.translation.markup.passage import Passage, has_words

Skip = Callable[[Element], bool]


class XmlText:
    """Reads the text of an XML file: paragraphs, at any depth, and attributes that hold text.

    Each format has a subclass, which says what a paragraph is, which nodes it has, and how it is
    written. `root` names the outermost element of a format that is one file.
    """

    root = ""
    text_attributes: Mapping[str, Collection[str]] = {}

    def __init__(self, tree: Tree, name: str) -> None:
        self.tree, self.name = tree, name
        self._known: dict[int, tuple[Part, ...]] = {}
        self._number = 0

    @classmethod
    def read(cls, data: bytes) -> Document:
        """The document of a file.

        Raises:
            DataError: the file is no well-formed XML, or its outermost element is not `root`.
        """
        tree, codec = read_tree(data, "the file")
        if tree.root.local != cls.root:
            raise DataError(
                f"the outermost element is <{tree.root.name}>, not <{cls.root}>: the format is "
                "another one"
            )
        found = cls(tree, "the file")
        parts = found.parts()
        return Encoded(tree.text, codec, has_references=True).document(parts, found.notes())

    def parts(self) -> list[Part]:
        """The parts of the whole file."""
        root = self.tree.root
        text = self.tree.text
        return [text[: root.begin], *self.of(root), text[root.end :]]

    def notes(self) -> Iterator[str]:
        """What the user has to know about texts that are not translated, once `parts` are read."""
        yield from ()

    def is_paragraph(self, element: Element) -> bool:
        """Whether the text of the element is translated as one."""
        raise NotImplementedError

    def is_left(self, element: Element) -> bool:
        """Whether nothing in the element is translated."""
        return False

    def passage(self, element: Element) -> Passage:
        """The passage of a paragraph. It replaces the characters `inner` to `inner_end`."""
        raise NotImplementedError

    def of(self, element: Element) -> tuple[Part, ...]:
        """The parts of an element. Every call for the same element returns the same passages."""
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
        """The parts inside an element, from the character `begin` on (None: all of them)."""
        place = element.inner if begin is None else begin
        for child in element.children:
            if child.begin >= place:
                yield self.tree.text[place : child.begin]
                yield from self.of(child)
                place = child.end
        yield self.tree.text[place : element.inner_end]

    def _tag(self, element: Element) -> Iterator[Part]:
        """The parts of the opening tag, with a passage for each attribute that holds text."""
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
        """The place of the present paragraph, for messages."""
        return f"{self.name}, paragraph {self._number}"

    def counted(self) -> str:
        """Goes on to the next paragraph, and returns its place."""
        self._number += 1
        return self.where()

    def void(self, element: Element, seen: str = "") -> Void:
        """An element that is copied; only the paragraphs inside it are translated."""
        return Void(self.of(element), seen)

    def simple_passage(self, element: Element, nodes: Nodes) -> Passage:
        """A passage for a format in which tags stand around text."""
        return Passage(nodes, tuple(self.within(element)), escape, self.counted())
