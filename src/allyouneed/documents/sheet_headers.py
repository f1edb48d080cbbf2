"""Headers and footers of sheets, such as `&L&"Arial,Bold"Price list&RPage &P of &N`."""

import re
from collections.abc import Iterator

from allyouneed.documents.xml_tree import escape
from allyouneed.translation.markup.nodes import LINE_BREAK, Node, Part, Void, tidy
from allyouneed.translation.markup.passage import Passage, has_words

HEADERS = frozenset(
    ["oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter"]
)
_SECTION = re.compile(r"(&[LCR])")
_CODE = re.compile(r'\r?\n|&(?:"[^"]*"|\d+|K(?:[0-9A-Fa-f]{6}|\d\d[-+]\d{3})|[\s\S])')
_NUMBERS = {"&P": "1", "&N": "2", "&D": "3", "&T": "4"}  # read as numbers: page, pages, date, time
_NAMES = {"&A": "Sheet", "&F": "File", "&Z": "Path"}
_LINE_ENDS = {"\n": LINE_BREAK, "\r\n": LINE_BREAK}
_SEEN = _NUMBERS | _NAMES | _LINE_ENDS


def header_parts(text: str, where: str) -> Iterator[Part]:
    """The parts of a header or footer: a passage for the words of each section. The codes for
    fonts, page numbers and names stay."""
    for piece in _SECTION.split(text):
        nodes = tuple(_nodes(piece))
        if _SECTION.fullmatch(piece) or not any(isinstance(n, str) and has_words(n) for n in nodes):
            yield escape(piece)
        else:
            yield Passage(nodes, (escape(piece),), _escape, where)


def _nodes(text: str) -> tuple[Node, ...]:
    nodes: list[Node] = []
    place = 0
    for match in _CODE.finditer(text):
        nodes.append(text[place : match.start()])
        place, code = match.end(), match[0]
        nodes.append("&" if code == "&&" else Void((escape(code),), _SEEN.get(code, "")))
    return tidy([*nodes, text[place:]])


def _escape(text: str) -> str:
    return escape(text.replace("&", "&&"))
