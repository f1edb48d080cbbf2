"""Texts beside their translations in XML: XLIFF, and translation memories (tmx)."""

import re
from collections.abc import Iterator

from allyouneed.documents.declared_language import DeclaredLanguage, MissingLanguage
from allyouneed.documents.mnemonic import with_mnemonic, without_mnemonic
from allyouneed.documents.xml_text import XmlText
from allyouneed.documents.xml_tree import Element, Tree, escape, unescaped
from allyouneed.translation.markup.nodes import Around, Node, Nodes, Part, Void, tidy
from allyouneed.translation.markup.passage import Passage, escaped, has_words


class PairText(XmlText):
    """Reads files of units, each a text and its translation. A unit without one gets one."""

    units: tuple[str, ...] = ()
    inside: frozenset[str] = frozenset()
    target = "target"

    def is_paragraph(self, element: Element) -> bool:
        """False: the units are read as a whole."""
        return False

    def is_left(self, element: Element) -> bool:
        """Whether the file says that the element is not to be translated."""
        return self.tree.attribute(element, "translate") == "no"

    def _of(self, element: Element) -> Iterator[Part]:
        pair = self.pair(element) if element.local in self.units else None
        if pair is None or self.is_left(element):
            yield from super()._of(element)
            return
        source, target = pair
        nodes, mnemonic = without_mnemonic(tidy(self.nodes(source)))
        if not self.wants(element, target) or not any(map(has_words, _strings(nodes))):
            yield self.tree.raw(element)
            return
        begin, end = (target.begin, target.end) if target else (source.end, source.end)
        where = self.tree.attribute(element, "id") or self.counted()
        name = f"{source.prefix}{self.target}"

        def write(passage: Passage) -> str:
            found = with_mnemonic(passage.target or (), mnemonic)
            return self.written(name, self.text_of(found), target)

        passage = Passage(nodes, (self.tree.text[begin:end],), escape, where, write)
        yield from self.head(element, begin, passage)
        yield passage
        yield self.tree.text[end : element.end]

    def pair(self, unit: Element) -> tuple[Element, Element | None] | None:
        """The element of the source, and that of the translation if there is one. None for a unit
        without a source."""
        source = unit.child("source")
        return (source, unit.child(self.target)) if source else None

    def wants(self, unit: Element, target: Element | None) -> bool:
        """Whether a unit has no translation yet."""
        return target is None or not self.tree.content(target).strip()

    def head(self, unit: Element, end: int, passage: Passage) -> Iterator[Part]:
        """The parts of a unit before its translation, which is at the character `end`."""
        yield self.tree.text[unit.begin : end]

    def written(self, name: str, text: str, target: Element | None) -> str:
        """The XML of the translation's element."""
        opening = self.tree.text[target.begin : target.inner].rstrip("/>") if target else f"<{name}"
        return f"{opening}>{text}</{name}>"

    def text_of(self, nodes: Nodes) -> str:
        """The nodes of a translation as the file writes them."""
        return escaped(nodes, escape)

    def nodes(self, element: Element) -> list[Node]:
        """The text of a source as nodes. Its elements stand for markup of another file."""
        nodes: list[Node] = []
        place = element.inner
        for child in element.children:
            nodes.append(unescaped(self.tree.text[place : child.begin]))
            place = child.end
            if self.is_left(child):
                nodes.append(Void((self.tree.raw(child),), self.tree.content(child)))
            elif child.local in self.inside:
                opening = self.tree.text[child.begin : child.inner]
                closing = self.tree.text[child.inner_end : child.end]
                nodes.append(Around((opening,), tidy(self.nodes(child)), (closing,)))
            else:
                nodes.append(Void((self.tree.raw(child),)))
        nodes.append(unescaped(self.tree.text[place : element.inner_end]))
        return nodes


_LANGUAGES = {"file": ("source-language", "target-language"), "xliff": ("srcLang", "trgLang")}
"""The attributes that name the languages of sources and translations, in XLIFF 1.2 and 2."""
_UNTRANSLATED = ("new", "needs-translation", "initial")
_STATE = re.compile(r"""(\sstate\s*=\s*["'])[^"']*(["'])""")


def _strings(nodes: tuple[Node, ...]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
        elif isinstance(node, Around):
            yield from _strings(node.inside)


class _UnitState:
    """The state of a unit whose translation is missing, or is only a first one."""

    def __init__(self, before: str, passage: Passage) -> None:
        self._before, self._passage = before, passage

    def written(self) -> str:
        """The old state until the unit is translated."""
        return self._before if self._passage.target is None else "translated"


class XliffText(PairText):
    """Reads XLIFF: the units of version 1.2, the segments of version 2."""

    root = "xliff"
    units = ("trans-unit", "segment")
    inside = frozenset(["g", "mrk", "pc", "sub"])

    def is_left(self, element: Element) -> bool:
        """As `PairText`, and text that is marked as protected, as version 1.2 calls it."""
        return self.tree.attribute(element, "mtype") == "protected" or super().is_left(element)

    def _tag(self, element: Element) -> Iterator[Part]:
        """The parts of the opening tag, with the code of the translations' language."""
        source, target = _LANGUAGES.get(element.local, ("", ""))
        if place := element.attributes.get(target):
            begin, end = place
            language = DeclaredLanguage(self.tree.text[begin:end])
        elif place := element.attributes.get(source):
            begin = end = place[1] + 1  # behind the quote
            language = MissingLanguage(self.tree.attribute(element, source), target)
        else:
            yield from super()._tag(element)
            return
        yield self.tree.text[element.begin : begin]
        yield language
        yield self.tree.text[end : element.inner]

    def wants(self, unit: Element, target: Element | None) -> bool:
        """Whether a unit has no translation yet, or one that is marked as new."""
        state = self.tree.attribute(target, "state") if target else ""
        state = state or self.tree.attribute(unit, "state")
        return super().wants(unit, target) or state in _UNTRANSLATED

    def head(self, unit: Element, end: int, passage: Passage) -> Iterator[Part]:
        """The parts of a unit before its translation, with the state of a segment of version 2."""
        begin = unit.begin
        if self.tree.attribute(unit, "state") in _UNTRANSLATED:
            state = slice(*unit.attributes["state"])
            yield self.tree.text[begin : state.start]
            yield _UnitState(self.tree.text[state], passage)
            begin = state.stop
        yield self.tree.text[begin:end]

    def written(self, name: str, text: str, target: Element | None) -> str:
        """The XML of the translation's element, which is no longer marked as untranslated."""
        written = super().written(name, text, target)
        if target is None or self.tree.attribute(target, "state") not in _UNTRANSLATED:
            return written
        return _STATE.sub(r"\1needs-review-translation\2", written, count=1)


class TmxText(PairText):
    """Reads a translation memory: an empty variant gets the translation of the variant with text.

    Elements with codes of another format (`bpt`, `ept`, `ph`, `it`) stay as they are.
    """

    root = "tmx"
    units = ("tu",)
    inside = frozenset(["hi"])

    def __init__(self, tree: Tree, name: str) -> None:
        super().__init__(tree, name)
        header = tree.root.child("header")
        self.source_language = tree.attribute(header, "srclang") if header else ""

    def pair(self, unit: Element) -> tuple[Element, Element | None] | None:
        """The segment in the file's source language, and the empty variant, which is replaced."""
        variants = [one for one in unit.children if one.local == "tuv"]
        source = next((one for one in variants if self._is_source(one) and self._text(one)), None)
        empty = next((one for one in variants if one is not source and not self._text(one)), None)
        segment = source.child("seg") if source else None
        return (segment, empty) if segment and empty else None

    def notes(self) -> Iterator[str]:
        """How many units have no variant for a translation."""
        units = [one for one in self.tree.root.walk() if one.local == "tu"]
        if lone := sum(sum(one.local == "tuv" for one in unit.children) == 1 for unit in units):
            yield (
                f"{lone:,} of {len(units):,} units stay as they are, because they have one variant "
                'only; add an empty one for the translation, such as <tuv xml:lang="de"/>'
            )

    def _is_source(self, variant: Element) -> bool:
        wanted = self.source_language.lower()
        code = self.tree.attribute(variant, "xml:lang") or self.tree.attribute(variant, "lang")
        return wanted in ("", "*all*") or code.lower().split("-")[0] == wanted.split("-")[0]

    def _text(self, variant: Element) -> str:
        segment = variant.child("seg")
        return self.tree.content(segment).strip() if segment else ""

    def wants(self, unit: Element, target: Element | None) -> bool:
        """True: `pair` has chosen units with a source and an empty variant."""
        return True

    def written(self, name: str, text: str, target: Element | None) -> str:
        """The variant with the translation as its segment. Its properties and notes stay."""
        assert target is not None
        segment = target.child("seg")
        begin, end = (segment.begin, segment.end) if segment else (target.inner_end,) * 2
        opening = self.tree.text[target.begin : begin]
        closing = self.tree.text[end : target.end]
        if target.inner == target.end:  # <tuv/>
            prefix = target.name
            opening, closing = f"{opening.rstrip('/> ')}>", f"</{prefix}>"
        return f"{opening}<seg>{text}</seg>{closing}"
