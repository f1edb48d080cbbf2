"""Markdown: prose is translated, in blocks of HTML too. Front matter, code, math, targets of links,
the lines of tables, and the marks of boxes (`> [!NOTE]`, `:::tip`, `!!! note`, `=== "tab"`) stay.

markdown-it-py finds the blocks and their lines. The characters of a block's text are then found
again in the file, one after the other, so that everything else is copied byte for byte. A block
whose characters are not where they are expected stays as it is, with a note.
"""

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING

from allyouneed.documents.document import Document, decoded, spliced
from allyouneed.documents.markdown_inline import InlineText, Unexpected, escaping
from allyouneed.documents.wrapping import BREAK, with_breaks, wrapped
from allyouneed.errors import UsageError
from allyouneed.translation.markup.html import html_rules
from allyouneed.translation.markup.nodes import (
    Around,
    Bound,
    Kept,
    Nodes,
    Part,
    Void,
    joined,
)
from allyouneed.translation.markup.passage import Passage, has_words
from allyouneed.translation.markup.reading import read_markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token as MarkdownToken

PROTECTED = (
    r"\$\$[^$]+\$\$|\$[^\s$](?:[^$\n]*[^\s$])?\$(?!\d)",  # math
    r"^\[\^[^\]\s]+\]:",  # footnotes
    r"\{#[\w-]+\}|\{[.:][^{}\n]*\}|\{[\w:-]+\}(?=`)",  # attributes and roles
    r"(?<![\w:]):[a-z+-][\w+-]+:(?![\w:])",  # emoji by name
    r"^:{3,}.*$|^\[[ xX]\](?=\s)|^\[!\w+\]",  # containers, tasks, alerts
)
_FRONT_MATTER = re.compile(
    r"\ufeff?(---|\+\+\+)[ \t]*\r?\n[\s\S]*?^\1[ \t]*(?:\r?\n|\Z)", re.MULTILINE
)
_MATH_BLOCK = re.compile(r"\s*(?:\$\$[\s\S]*\$\$|\\\[[\s\S]*\\\])\s*")
_TAB = re.compile(r'^([ \t]*)===[!+]?(?=[ \t]+"[^"\n]*"[ \t]*$)', re.MULTILINE)
_FOOTNOTE = re.compile(r"^( {0,3})\[\^[^\]\s]+\]:(?:[ \t]+|(?=\n))", re.MULTILINE)
_BOXES = ("container_", "admonition_")
_BLOCK_START = re.compile(rf"\s*(?:[-+*>#|=~]|:[\s{BREAK}]|\d+[.)])")
_UNBROKEN = re.compile(  # an alert's mark with its title, and a heading
    r"^(?:\[![^\n]*|(\*\*|__)[^\n]*\1)(?=\n)", re.MULTILINE
)
STAYS = "stays as it is, because its Markdown is not understood"
LONGEST = 20_000  # characters of one block


@dataclass(frozen=True, slots=True)
class _Block:
    """The text of a paragraph, a heading or a cell: its lines' places (begin, end) in the file."""

    token: "MarkdownToken"
    lines: Sequence[tuple[int, int]]
    line: int
    is_cell: bool


def read_markdown(data: bytes) -> Document:
    """The document of a Markdown file.

    Raises:
        UsageError: the library that reads Markdown is not installed.
    """
    encoded = decoded(data)
    text = encoded.text
    front = _FRONT_MATTER.match(text)
    skipped = front.end() if front else 0
    places: list[tuple[int, int, Part]] = []
    notes: list[str] = []
    parser = _parser()
    tokens, begins = _parsed(parser, text, skipped)
    boxes = 0  # around the present token
    for token in tokens:
        if token.type.startswith(_BOXES):
            boxes += token.nesting
        if token.type == "html_block" and token.map:
            first, last = token.map
            begin, end = begins[first], begins[last] if last < len(begins) else len(text)
            if token.level > boxes:
                notes.append(f"line {first + 1}: HTML in a list or quote stays as it is")
            else:
                places += _placed(read_markup(text[begin:end], html_rules(), first + 1), begin)
    for block in _blocks(tokens, begins, text, notes):
        begin, end = block.lines[0][0], block.lines[-1][1]
        if _MATH_BLOCK.fullmatch(text, begin, end):
            continue
        content = "\n".join(text[b:e] for b, e in block.lines)
        if block.is_cell:
            content = content.replace("\\|", "|")  # as the parser does, before all else
        where = f"line {block.line}"
        inline = InlineText(content)
        try:
            if len(content) > LONGEST:
                raise Unexpected
            nodes = inline.nodes(block.token.children or [])
        except Unexpected:
            notes.append(f"{where}: {STAYS}")
            continue
        if has_words(own := "".join(_texts(nodes))):
            escape = escaping(own, inline.spelt)
            write = _writer(text, block, is_wrapped="\n" in own)
            passage = Passage(nodes, (text[begin:end],), escape, where, write)
            places.append((begin, end, passage))
        else:  # pictures may have texts
            ends = (text[end:begin] for (_, end), (begin, _) in pairwise(block.lines))
            parts = tuple(_as_in_file(nodes, ends))
            if joined(parts) == text[begin:end]:
                places += _placed(parts, begin)
    places.sort(key=lambda place: place[0])
    return encoded.document(spliced(text, places), notes, PROTECTED)


def _placed(parts: Iterable[Part], begin: int) -> Iterator[tuple[int, int, Part]]:
    """The parts of a piece of the file, each with its place (begin, end)."""
    for part in parts:
        length = len(joined([part]))
        yield begin, begin + length, part
        begin += length


def _parser() -> "MarkdownIt":
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.admon import admon_plugin
        from mdit_py_plugins.container import container_plugin
        from mdit_py_plugins.deflist import deflist_plugin
    except ImportError as error:
        raise UsageError(
            "Markdown needs markdown-it-py and mdit-py-plugins; install them: "
            "pip install 'allyouneed[documents]'"
        ) from error
    parser = MarkdownIt("commonmark", {"maxNesting": 50}).enable(["table", "strikethrough"])
    parser.use(container_plugin, "box", validate=lambda name, marks: True)
    return parser.use(admon_plugin).use(deflist_plugin).disable("text_join")


def _parsed(
    parser: "MarkdownIt", text: str, skipped: int
) -> "tuple[list[MarkdownToken], list[int]]":
    """The tokens of a text behind its front matter, and the place where each line begins."""
    begins = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]
    shown = "\n" * sum(0 < begin <= skipped for begin in begins)
    shown += re.sub(r"\r\n|\r", "\n", text[skipped:])
    shown = _TAB.sub(r"\1!!! tab", shown)  # a tab of MkDocs is read like its box
    # A footnote is read like a point of a list whose text begins at the fourth column.
    shown = _FOOTNOTE.sub(r"\1-   ", shown)
    return parser.parse(shown), begins


def _blocks(
    tokens: "Sequence[MarkdownToken]", begins: Sequence[int], text: str, notes: list[str]
) -> Iterator[_Block]:
    """The blocks that hold text, in order. `notes` gets those that are not found in the file."""
    cursor = 0
    inside_cell = inside_title = False
    for token in tokens:
        if token.type in ("td_open", "th_open"):
            inside_cell = True
        elif token.type in ("td_close", "th_close"):
            inside_cell = False
        elif token.type.startswith("admonition_title"):
            inside_title = token.nesting > 0
        if token.type != "inline" or not token.map or not token.content:
            continue
        first = token.map[0]
        cursor = max(cursor, begins[first])
        if inside_title:
            quote = text.find('"', cursor, begins[first + 1] if first + 1 < len(begins) else None)
            if quote < 0:
                continue  # the title is the kind of the box, such as "Note"
            cursor = quote + 1
        lines: list[tuple[int, int]] = []
        for n, line in enumerate(token.content.rstrip(" \t").split("\n")):
            number = first + n
            line = line.lstrip(" \t")  # two spaces at its end are a line break
            if number >= len(begins):
                break
            here = max(cursor, begins[number])
            limit = begins[number + 1] if number + 1 < len(begins) else len(text)
            place = _place(line, text, here, limit, inside_cell)
            if place is None:
                notes.append(f"line {first + 1}: {STAYS}")
                break
            lines.append(place)
            cursor = place[1]
        else:
            yield _Block(token, lines, first + 1, inside_cell)


def _place(line: str, text: str, begin: int, end: int, in_cell: bool) -> tuple[int, int] | None:
    """The place of a line in text[begin:end], or None. In a cell the parser leaves out the
    backslash before a bar."""
    if in_cell and "|" in line:
        written = re.compile(r"\\?\|".join(map(re.escape, line.split("|"))))
        found = written.search(text, begin, end)
        return found.span() if found else None
    place = text.find(line, begin, end)
    return (place, place + len(line)) if place >= 0 else None


def _texts(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
        elif isinstance(node, Around):
            yield from _texts(node.inside)


def _as_in_file(nodes: Nodes, ends: Iterator[str]) -> Iterator[Part]:
    """The parts of nodes without words. `ends` has what stands in the file between two lines."""
    for part in _raw(nodes):
        yield re.sub("\n", lambda _: next(ends, ""), part) if isinstance(part, str) else part


def _raw(nodes: Nodes) -> Iterator[Part]:
    for node in nodes:
        match node:
            case str():
                yield node
            case Void(raw=raw):
                yield from raw
            case Around(opening=opening, inside=inside, closing=closing):
                yield from (*opening, *_raw(inside), *closing)


def _writer(text: str, block: _Block, *, is_wrapped: bool) -> Callable[[Passage], str]:
    """A function that writes a block. Each line begins as the source's line of that number does.
    Lines are as wide as the source's, if a sentence of the source `is_wrapped` over several."""
    (begin, end), last = block.lines[0], block.lines[-1]
    several = len(block.lines) > 1 and not block.is_cell
    line_begin = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
    newline, later, begins = "\n", "", [""]
    if several:
        newline = re.search(r"\r\n|\n|\r", text[end : block.lines[1][0]])[0]  # type: ignore[index]
        places = pairwise(block.lines)
        begins = [text[e:b].partition(newline)[2] for (_, e), (b, _) in places]
        later = begins[0]
    ends = [end - line_begin, *(e - b + len(later) for b, e in block.lines[1:])]
    width = max(ends) if is_wrapped else 1 << 30

    def write(passage: Passage) -> str:
        written = _written(passage.target or (), passage.escape)
        if block.is_cell:
            return written.replace("|", "\\|").replace(BREAK, " ")
        if _BLOCK_START.match(written) and not _BLOCK_START.match(text, begin, last[1]):
            written = _without_mark(written)
        written = _UNBROKEN.sub(lambda line: line[0].replace(BREAK, " "), written)
        first = " " * (begin - line_begin)

        def at(width: int) -> list[str]:
            return wrapped(written, width, first, " " * len(later), _without_mark)

        lines, marks = at(width), begins
        is_quotation = any(">" in one for one in begins)
        if is_quotation and len(lines) < len(block.lines):  # it keeps its lines' marks
            fewer = bisect(range(width), False, key=lambda one: len(at(one)) < len(block.lines))
            lines = at(fewer - 1) if fewer else lines
            if len(lines) < len(block.lines):
                marks = sorted(begins, key=lambda one: ">" not in one)
        rest = zip(chain(marks, repeat(marks[-1])), lines[1:], strict=False)
        lines = [lines[0], *(mark + line.lstrip(" ") for mark, line in rest)]
        return newline.join(lines).removeprefix(first)

    return write


def _without_mark(text: str) -> str:
    """Text that begins like a block of Markdown, with a backslash before that mark."""
    return re.sub(r"([-+*>#|=~.):])", r"\\\1", text, count=1)


def _written(nodes: Nodes, escape: Callable[[str], str]) -> str:
    """Nodes as Markdown, with `BREAK` where a line may end."""
    parts: list[str] = []
    for node in nodes:
        match node:
            case str():
                parts.append(with_breaks(escape(node)))
            case Kept(text=literal):
                parts.append(escape(literal))
            case Void(raw=raw):
                parts.append(re.sub(r"\n[ \t>]*", "\n", joined(raw)))
            case Bound(inside=inside):
                parts.append(_written(inside, escape))
            case Around(opening=opening, inside=inside, closing=closing):
                parts += [joined(opening), _written(inside, escape), joined(closing)]
    return "".join(parts)
