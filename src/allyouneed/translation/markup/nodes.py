"""The nodes of a passage: text, tags around text, and literals that stay as they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


class Writable(Protocol):
    """A piece of a document that becomes text when the document is written, such as a passage."""

    def written(self) -> str:
        """The text that stands in the file."""


Part = str | Writable
"""A piece of a file: text as it stands there, or what will be text when the file is written."""


def joined(parts: Sequence[Part]) -> str:
    """The parts as one text of the file."""
    return "".join(part if isinstance(part, str) else part.written() for part in parts)


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


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """Nodes between an opening and a closing tag."""

    opening: tuple[Part, ...]
    inside: "tuple[Node, ...]"
    closing: tuple[Part, ...]


Node = str | Void | Kept | Around
Nodes = Sequence[Node]


def plain(nodes: Nodes) -> str:
    """The text that a reader sees of these nodes."""
    return "".join(map(_seen, nodes))


def _seen(node: Node) -> str:
    match node:
        case str():
            return node
        case Void(seen=seen):
            return seen
        case Kept(text=text):
            return text
        case Around(inside=inside):
            return plain(inside)


def leaves(nodes: Nodes, begin: int = 0) -> Iterator[tuple[str | Void | Kept, int, int]]:
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
    a small letter or a digit, as in `<b>File</b><b>New</b>`."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Around):
            if found and isinstance(found[-1], Around):
                before = plain([found[-1]])[-1:]
                if (before.islower() or before.isdigit()) and plain([node])[:1].isupper():
                    found.append(" ")
            node = Around(node.opening, apart(node.inside), node.closing)
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
