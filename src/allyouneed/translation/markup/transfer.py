"""A translation on which markup is to be put."""

from collections.abc import Mapping
from dataclasses import dataclass

from allyouneed.translation.markup.links import Link
from allyouneed.translation.markup.nodes import Bound, Kept, Void

Literal = Kept | Void | Bound
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Transfer:
    """A translation, its links to the source, and the places of the literals in it. `languages`
    are the codes of source and target, "" where they are not known."""

    text: str
    links: tuple[Link, ...] = ()
    literals: Mapping[Literal, Range] | None = None
    languages: tuple[str, str] = ("", "")
