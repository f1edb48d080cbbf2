"""Nodes to be placed on a translation, and the part of the translation that they may use."""

from dataclasses import dataclass, field

from allyouneed.translation.markup.nodes import Node
from allyouneed.translation.markup.transfer import Range


@dataclass(slots=True, eq=False)
class Item:
    """A node to be placed.

    `atoms` and `characters` are its places (begin, end) in the source. `place` is its place in the
    translation, in characters. `inside` are the items within it.
    """

    node: Node
    atoms: Range
    characters: Range
    order: int
    place: Range = (0, 0)
    inside: "list[Item]" = field(default_factory=list)

    @property
    def has_words(self) -> bool:
        """Whether the node contains atoms of the source. Alignment then says where it goes."""
        return self.atoms[0] < self.atoms[1]


@dataclass(frozen=True, slots=True)
class Area:
    """The atoms and characters of the translation that the children of a node may use."""

    atoms: Range
    characters: Range
