"""Paragraphs of Office Open XML: runs of text, each with properties.

Word and other programs break runs anywhere, for example after each correction. Here neighbouring
runs with equal properties are one text, and other properties are a tag around their text.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from allyouneed.documents.sheet_headers import HEADERS, header_parts
from allyouneed.documents.xml_text import XmlText
from allyouneed.documents.xml_tree import Element, Tree, escape, unescaped
from allyouneed.translation.markup.nodes import (
    LINE_BREAK,
    Around,
    Bound,
    Kept,
    Node,
    Nodes,
    Part,
    Script,
    Void,
    joined,
    plain,
    tidy,
)
from allyouneed.translation.markup.passage import Passage, has_words

_NAMESPACE = re.compile(r"""xmlns(?::(\w+))?=["'][^"']*?/([^"'/]+/(?:2006/|2018/)?[^"'/]+)["']""")
WORD, DRAWING, CHART = "wordprocessingml/main", "drawingml/main", "drawingml/chart"
SHEET, SLIDE, THREAD = "spreadsheetml/main", "presentationml/main", "spreadsheetml/threadedcomments"
_INSIDE = frozenset(
    ["bdo", "customXml", "dir", "fldSimple", "hyperlink", "ins", "moveTo", "sdt", "sdtContent"]
) | {"smartTag"}
_LEFT = frozenset(["del", "moveFrom", "oMath", "oMathPara", "instrText", "numCache", "numLit"])
_SEEN = {"br": LINE_BREAK, "cr": LINE_BREAK, "tab": " ", "ptab": " "}
_DROPPED = frozenset(["proofErr", "lastRenderedPageBreak", "softHyphen", "rPh"])
_OF_SPELLING = re.compile(
    r"""<\w+:(?:lang|noProof|proofErr)\b[^>]*?/>|\s(?:\w+:)?(?:rsid\w*|lang|altLang|dirty|err|"""
    r"""smtClean|noProof)=(?:"[^"]*"|'[^']*')"""
)
_NO_PROPERTIES = re.compile(r"<\S+?\s*/>|<(\S+?)\s*>\s*</\1>")
_VERTICAL = re.compile(r"vertAlign\s[^>]*?val=[\"'](sub|super)script")
_BASELINE = re.compile(r"\sbaseline=[\"'](-?)[1-9]")
_FIELD_LINK = re.compile(r"\s*HYPERLINK\b")
_NOT_READ = {
    "items of drop-down lists": (("w:listItem",), "w:displayText"),
    "choices of old forms": (("w:listEntry",), "w:val"),
    "alternative texts of old drawings": (("v:shape", "v:rect", "v:oval", "v:group"), "alt"),
    "texts of WordArt": (("v:textpath",), "string"),
}
"""Texts in attributes: what they are, the elements that have them, and the attribute."""
_LEFT_TEXTS = re.compile(r"<(?:w:list(?:Item|Entry)|v:\w+)\b")
_LINE_END = re.compile(r"((?:_x000D_|\r)?\n)")  # in a cell; Excel writes a carriage return so


MakeRun = Callable[[str, str], str]
"""make(text, properties): the XML of a run."""


@dataclass(frozen=True, slots=True)
class _Style:
    """The properties of a run, as they stand in the file."""

    raw: str

    def written(self) -> str:
        """Nothing, because the properties are written with every run."""
        return ""


class OoxmlText(XmlText):
    """The text of one part of a docx, pptx or xlsx."""

    text_attributes: Mapping[str, Collection[str]] = {
        "docPr": ("descr", "title"),
        "cNvPr": ("descr", "title"),
        "tblCaption": ("w:val",),
        "tblDescription": ("w:val",),
        "hyperlink": ("w:tooltip", "tooltip"),  # of Word and of Excel
    }

    def __init__(self, tree: Tree, name: str) -> None:
        super().__init__(tree, name)
        root = tree.text[tree.root.begin : tree.root.inner]
        head = root + "".join(re.findall(r"<[^<>]*xmlns[^<>]*>", tree.text))
        self._prefixes: dict[str, set[str]] = {}
        for match in _NAMESPACE.finditer(head):
            name = re.sub(r"/\d+/", "/", match[2])
            self._prefixes.setdefault(name, set()).add(f"{match[1]}:" if match[1] else "")
        self.left_texts: frozenset[str] = frozenset()  # in small letters
        self.places: Mapping[int, str] = {}  # of paragraphs, by the characters where they begin
        self.tracked = False
        self._fields: Counter[str] = Counter()  # kinds, such as REF, whose results have words

    def is_paragraph(self, element: Element) -> bool:
        """Whether the element is a paragraph of text, or a string of a sheet."""
        if element.local == "p":
            return self._is_of(element, WORD, DRAWING)
        if element.local in ("si", "is", "text") and self._is_of(element, SHEET):
            return True
        return self._is_bare(element)

    def is_left(self, element: Element) -> bool:
        """Deleted text, mathematics, numbers of charts, and texts to which formulas refer."""
        if element.local in ("si", "is", "v") and self.left_texts:
            return self.tree.content(element).casefold() in self.left_texts
        return element.local in _LEFT

    def notes(self) -> Iterator[str]:
        """What the user has to know about texts that are not translated."""
        if self.tracked:
            yield "it has tracked changes; deleted text stays as it is"
        if self._fields:
            kinds = ", ".join(f"{count:,} of {kind}" for kind, count in self._fields.items())
            yield f"the texts of fields stay as they are, because a program fills them in: {kinds}"
        elements = [*self.tree.root.walk()] if _LEFT_TEXTS.search(self.tree.text) else []
        for what, (names, attribute) in _NOT_READ.items():
            texts = (self.tree.attribute(one, attribute) for one in elements if one.name in names)
            if count := sum(map(has_words, texts)):
                yield f"{count:,} {what} stay as they are"
        if self._prefixes.get(CHART) and self.tree.root.child("externalData"):
            yield (
                "the workbook behind this chart stays as it is; the chart's old texts come back "
                "when its data are edited"
            )

    def _of(self, element: Element) -> Iterator[Part]:
        if element.local not in HEADERS or not self._is_of(element, SHEET):
            yield from super()._of(element)
            return
        yield from self._tag(element)
        text = self.tree.content(element)
        parts = [*header_parts(text, self.counted())]
        is_same = joined(parts) == self.tree.text[element.inner : element.inner_end]
        yield from parts if is_same else self.within(element)
        yield self.tree.text[element.inner_end : element.end]

    def _is_of(self, element: Element, *namespaces: str) -> bool:
        return any(element.prefix in self._prefixes.get(name, ()) for name in namespaces)

    def _is_bare(self, element: Element) -> bool:
        """Whether it holds text without properties: a name in a chart, or a comment."""
        if element.local == "v":
            return self._is_of(element, CHART)
        return element.local == "text" and self._is_of(element, SLIDE, THREAD)

    def passage(self, element: Element) -> Passage:
        """The text of a paragraph; its properties are copied."""
        if self._is_bare(element):
            return self.simple_passage(element, _lines(self.tree.content(element)))
        children = element.children
        begin = element.inner
        if children and children[0].local == "pPr":
            begin, children = children[0].end, children[1:]
        end = element.inner_end
        tail = ""
        if children and children[-1].local == "endParaRPr":
            tail = self.tree.text[children[-1].begin : end]
            children = children[:-1]
        head = self.tree.text[element.inner : begin]
        tokens = list(self._tokens(children))
        base = _commonest(tokens)
        nodes = _merged(tokens, base)
        make = self._maker(element)

        def write(passage: Passage) -> str:
            runs = "".join(_runs(passage.target or (), base, make))
            return f"{head}{runs}{tail}"

        original = (head, *self.within(element, begin))
        where = self.places.get(element.begin) or self.counted()
        return Passage(nodes, original, escape, where, write)

    def _tokens(self, elements: Sequence[Element]) -> Iterator["_Run | Node"]:
        """The content of a paragraph in order: text with its properties, and nodes for all else."""
        number = 0
        while number < len(elements):
            element = elements[number]
            number += 1
            if element.local == "r":
                if self._field_mark(element) == "begin":
                    end = self._end_of_field(elements, number)
                    if end is not None:
                        yield from self._field(elements[number - 1 : end])
                        number = end
                        continue
                yield from self._run(element)
            elif element.local == "t":  # of a sheet's string without runs
                yield self._styled("", element)
            elif element.local in _INSIDE:
                self.tracked = self.tracked or element.local in ("ins", "moveTo")
                tokens = list(self._tokens(element.children))
                heads = (one for one in element.children if one.local.endswith("Pr"))
                opening = (*self._tag(element), *map(self.tree.raw, heads))
                closing = self.tree.text[element.inner_end : element.end]
                yield Around(opening, _merged(tokens, None), (closing,))
            elif element.local.endswith("Pr") and element.local != "docPr":
                continue  # written with the element that it belongs to
            elif element.local not in _DROPPED:
                self.tracked = self.tracked or element.local in ("del", "moveFrom")
                seen = _SEEN.get(element.local, "")
                yield self.void(element, seen)

    def _run(self, element: Element) -> Iterator["_Run | Node"]:
        properties = element.child("rPr")
        style = _OF_SPELLING.sub("", self.tree.raw(properties)) if properties else ""
        style = "" if _NO_PROPERTIES.fullmatch(style) else style
        tag = self.tree.text[element.begin : element.inner]
        opening = re.sub(r"\s\w+:rsid\w*=\"[^\"]*\"", "", tag) + style
        closing = self.tree.text[element.inner_end : element.end]
        for child in element.children:
            if child.local == "t":
                yield self._styled(style, child)
            elif child.local == "noBreakHyphen":
                yield _Run(style, ("\u2011",))
            elif child is not properties and child.local not in _DROPPED:
                seen = _SEEN.get(child.local, "")
                yield Void((opening, *self.of(child), closing), seen)

    def _styled(self, style: str, element: Element) -> "_Run":
        """The text of an element `t`. Ends of lines are ends of lines in sheets only; Word and
        PowerPoint show them as spaces."""
        text = unescaped(self.tree.text[element.inner : element.inner_end])
        return _Run(style, _lines(text) if self._is_of(element, SHEET) else (text,))

    def _field_mark(self, run: Element) -> str:
        mark = run.child("fldChar")
        return self.tree.attribute(mark, f"{mark.prefix}fldCharType") if mark else ""

    def _end_of_field(self, elements: Sequence[Element], number: int) -> int | None:
        """The number after the run that ends the field; None if it ends in another paragraph."""
        depth = 1
        for n in range(number, len(elements)):
            mark = self._field_mark(elements[n])
            depth += (mark == "begin") - (mark == "end")
            if depth == 0:
                return n + 1
        return None

    def _field(self, elements: Sequence[Element]) -> Iterator["_Run | Node"]:
        """The nodes of a field. The text of a link is translated; text that a program fills in,
        such as a page number, stays."""
        marks = [self._field_mark(element) for element in elements]
        parts: tuple[Part, ...] = tuple(part for one in elements for part in self.of(one))
        if "separate" not in marks:
            yield Void(parts)
            return
        middle = marks.index("separate")
        codes = "".join(self.tree.content(element) for element in elements[:middle])
        result = elements[middle + 1 : -1]
        if _FIELD_LINK.match(codes) and marks.count("begin") == 1:
            opening = tuple(part for one in elements[: middle + 1] for part in self.of(one))
            inside = _merged(list(self._tokens(result)), None)
            yield Around(opening, inside, self.of(elements[-1]))
        else:
            seen = "".join(self.tree.content(element) for element in result)
            if has_words(seen):
                self._fields.update(codes.split()[:1])
            yield Void(parts, seen)

    def _maker(self, paragraph: Element) -> "MakeRun":
        """A function that writes the runs of a paragraph of this kind."""
        prefix = paragraph.prefix
        keep = "" if self._is_of(paragraph, DRAWING) else ' xml:space="preserve"'
        bare = paragraph.local in ("si", "is") and paragraph.child("r") is None

        def make(text: str, style: str) -> str:
            element = f"<{prefix}t{keep}>{escape(text)}</{prefix}t>"
            return element if bare else f"<{prefix}r>{style}{element}</{prefix}r>"

        return make


@dataclass(frozen=True, slots=True)
class _Run:
    """A text with its properties."""

    style: str
    nodes: tuple[Node, ...]


def _lines(text: str) -> tuple[Node, ...]:
    """The lines of a text, with the end of each line as a node of its own."""
    pieces = _LINE_END.split(text)
    return tidy([Void((one,), LINE_BREAK) if n % 2 else one for n, one in enumerate(pieces)])


def _commonest(tokens: Sequence["_Run | Node"]) -> str:
    """The properties of the largest part of the text; empty if there is no text."""
    lengths: dict[str, int] = {}
    for token in tokens:
        if isinstance(token, _Run):
            lengths[token.style] = lengths.get(token.style, 0) + len(plain(token.nodes))
    return max(lengths, key=lambda style: lengths[style]) if lengths else ""


def _script(style: str) -> Script:
    """Whether the properties of a run make it a subscript or a superscript."""
    if found := _VERTICAL.search(style):
        return "sub" if found[1] == "sub" else "super"
    if found := _BASELINE.search(style):
        return "sub" if found[1] else "super"
    return ""


def _merged(tokens: Sequence["_Run | Node"], base: str | None) -> tuple[Node, ...]:
    """The tokens as nodes. Text with the properties `base` is plain. Text with other properties is
    inside a tag that stands for them. Neighbours with equal properties are joined."""
    nodes: list[Node] = []
    before: str | None = None
    for token in tokens:
        if not isinstance(token, _Run):
            nodes.append(token)
            before = None
        elif token.style == base:
            nodes += token.nodes
            before = None
        elif token.style == before:
            last = nodes[-1]
            assert isinstance(last, Around)
            nodes[-1] = replace(last, inside=tidy((*last.inside, *token.nodes)))
        else:
            script = _script(token.style)
            nodes.append(Around((_Style(token.style),), token.nodes, (), script))
            before = token.style
    return tidy(nodes)


def _runs(nodes: Nodes, style: str, make: MakeRun) -> Iterator[str]:
    """The XML of nodes as runs; `style` are the properties of their plain text."""
    text = ""
    parts = (node.inside if isinstance(node, Bound) else [node] for node in nodes)
    for node in (*chain.from_iterable(parts), None):
        if (own := _text_of(node)) is not None:
            text += own
            continue
        if text:
            yield make(text, style)
            text = ""
        if isinstance(node, Void):
            yield joined(node.raw)
        elif isinstance(node, Around):
            first = node.opening[0]
            if isinstance(first, _Style):
                yield from _runs(node.inside, first.raw, make)
            else:
                yield joined(node.opening)
                yield from _runs(node.inside, style, make)
                yield joined(node.closing)


def _text_of(node: Node | None) -> str | None:
    """The text of a node that is written inside the text of a run; None for all other nodes."""
    match node:
        case str():
            return node
        case Kept(text=text):
            return text
        case Void(raw=(str() as raw,)) if _LINE_END.fullmatch(raw):
            return raw
    return None
