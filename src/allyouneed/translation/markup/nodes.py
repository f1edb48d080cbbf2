"""The nodes of a passage: text, tags around text, and literals that stay as they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol


class Writable(Protocol):
    """A piece of a document that becomes text when the document is written, such as a passage."""

    def written(self) -> str:
        """The text that stands in the file."""


Part = str | Writable
"""A piece of a file: text as it stands there, or what will be text when the file is written."""


def joined(parts: Sequence[Part]) -> str:
    """The parts as one text of the file."""
    return "".join(part if isinstance(part, str) else part.written() for part in parts)


LINE_BREAK = "\n"
"""What a reader sees of markup that begins a new line."""


@dataclass(frozen=True, slots=True, eq=False)
class Void:
    """Markup without translatable text, such as `<br>`, a comment, or `<code>x</code>`.

    `seen` is the text that a reader sees in its place: none, a space that separates words, or text
    that is carried over as it is.
    """

    raw: tuple[Part, ...]
    seen: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Text that is carried over literally, such as an address or a name of a variable."""

    text: str


Script = Literal["", "sub", "super", "note"]
"""How a tag writes its text: as other text, as a subscript or superscript, or as the mark of a
note."""


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """Nodes between an opening and a closing tag. `language` is the code of the language that the
    tag names, "" if it names none."""

    opening: tuple[Part, ...]
    inside: "tuple[Node, ...]"
    closing: tuple[Part, ...]
    script: Script = ""
    language: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """Nodes that are carried over together, such as `H<sub>2</sub>O` or the mark of a note.

    `seen` is the text that a reader sees in their place; the mark of a note counts as no text.
    """

    inside: "tuple[Node, ...]"
    seen: str = ""


Node = str | Void | Kept | Bound | Around
Nodes = Sequence[Node]


def plain(nodes: Nodes) -> str:
    """The text that a reader sees of these nodes."""
    return "".join(map(_seen, nodes))


def _seen(node: Node) -> str:
    match node:
        case str():
            return node
        case Void(seen=seen) | Bound(seen=seen):
            return seen
        case Kept(text=text):
            return text
        case Around(inside=inside):
            return plain(inside)


def leaves(nodes: Nodes, begin: int = 0) -> Iterator[tuple[str | Void | Kept | Bound, int, int]]:
    """Each node that is not `Around`, in order, with its place (begin, end) in `plain(nodes)`."""
    for node in nodes:
        if isinstance(node, Around):
            for leaf in leaves(node.inside, begin):
                yield leaf
                begin = leaf[2]
        else:
            end = begin + len(_seen(node))
            yield node, begin, end
            begin = end


def apart(nodes: Nodes) -> tuple[Node, ...]:
    """The same nodes, with a space between elements whose words would run together: a capital after
    a small letter or a digit, as in `<b>File</b><b>New</b>`. Subscripts and superscripts stay."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Around):
            last = found[-1] if found else ""
            if isinstance(last, Around) and not (last.script or node.script):
                before = plain([last])[-1:]
                if (before.islower() or before.isdigit()) and plain([node])[:1].isupper():
                    found.append(" ")
            node = replace(node, inside=apart(node.inside))
        found.append(node)
    return tuple(found)


def tidy(nodes: Nodes) -> tuple[Node, ...]:
    """The same nodes, with adjacent texts joined and empty texts removed."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, str) and found and isinstance(found[-1], str):
            found[-1] += node
        elif node != "":
            found.append(node)
    return tuple(found)
