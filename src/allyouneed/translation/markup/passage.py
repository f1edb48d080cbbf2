"""Passages: the pieces of a document that are translated, and how they are written."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from allyouneed.translation.markup.carrying import Carried, Pair
from allyouneed.translation.markup.nodes import (
    Around,
    Bound,
    Kept,
    Nodes,
    Part,
    Void,
    joined,
    plain,
)
from allyouneed.translation.markup.placement import placed

Escape = Callable[[str], str]
"""escape(text): the text as the format writes it."""


@dataclass(slots=True, eq=False)
class Passage:
    """Text with markup at one place of a file.

    `original` is the passage as it stands in the file; it is written as long as there is no
    `target`. `where` names the place in the file for messages. `escape` writes text in the format
    of the file. `write` writes the whole passage, for formats without tags around text. `pairs` and
    `notes` come with the translation.
    """

    nodes: Nodes
    original: tuple[Part, ...]
    escape: Escape
    where: str = ""
    write: "Callable[[Passage], str] | None" = None
    target: Nodes | None = None
    pairs: tuple[Pair, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text of the source that a reader sees."""
        return plain(self.nodes)

    def take(self, carried: Carried) -> None:
        """Sets the translation."""
        self.target = placed(carried.nodes, carried.transfer)
        self.pairs, self.notes = carried.pairs, carried.notes

    def written(self) -> str:
        """The passage as text of the file: its translation if it has one, else the original."""
        if self.target is None:
            return joined(self.original)
        return self.write(self) if self.write else escaped(self.target, self.escape)


def escaped(nodes: Nodes, escape: Escape) -> str:
    """The nodes as text of a file, for formats with tags around text."""
    parts: list[str] = []
    for node in nodes:
        match node:
            case str():
                parts.append(escape(node))
            case Kept(text=text):
                parts.append(escape(text))
            case Void(raw=raw):
                parts.append(joined(raw))
            case Bound(inside=inside):
                parts.append(escaped(inside, escape))
            case Around(opening=opening, inside=inside, closing=closing):
                parts += [joined(opening), escaped(inside, escape), joined(closing)]
    return "".join(parts)


def passages(parts: Iterable[Part]) -> Iterator[Passage]:
    """The passages with words among the parts of a file, including those in the tags of other
    passages."""
    for part in parts:
        if isinstance(part, Passage):
            yield from passages(_tags(part.nodes))
            if has_words(part.text):
                yield part


def _tags(nodes: Nodes) -> Iterator[Part]:
    """The parts of which the tags of the nodes are made."""
    for node in nodes:
        if isinstance(node, Void):
            yield from node.raw
        elif isinstance(node, Around):
            yield from (*node.opening, *_tags(node.inside), *node.closing)


def has_words(text: str) -> bool:
    """Whether a text has any letters to translate."""
    return any(map(str.isalpha, text))
