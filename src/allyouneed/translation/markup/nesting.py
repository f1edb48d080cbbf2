"""Tags in the order in which they stand in a text, as nodes that nest."""

from collections.abc import Iterable
from dataclasses import dataclass

from allyouneed.translation.markup.nodes import Around, Kept, Node, Part, Void, tidy


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """A tag that opens an element of this name."""

    name: str
    raw: tuple[Part, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Closing:
    """A tag that closes an element of this name."""

    name: str
    raw: tuple[Part, ...]


Token = str | Void | Kept | Opening | Closing
DEEPEST = 100  # elements within each other; tags that open further ones stand as they are


def nested(tokens: Iterable[Token]) -> tuple[Node, ...]:
    """The tokens as nodes. A tag without its partner, in broken markup or where the partner is
    outside the passage, becomes a `Void`: it stays where it is and carries nothing."""
    levels: list[tuple[Opening | None, list[Node]]] = [(None, [])]
    for token in tokens:
        if isinstance(token, Opening):
            if len(levels) > DEEPEST:
                levels[-1][1].append(Void(token.raw))
            else:
                levels.append((token, []))
        elif isinstance(token, Closing):
            _close(levels, token)
        else:
            levels[-1][1].append(token)
    while len(levels) > 1:
        _dissolve(levels)
    return tidy(levels[0][1])


def _close(levels: list[tuple[Opening | None, list[Node]]], token: Closing) -> None:
    open_names = [opening.name for opening, _ in levels if opening is not None]
    if token.name not in open_names:
        levels[-1][1].append(Void(token.raw))
        return
    while (opening := levels[-1][0]) is not None and opening.name != token.name:
        _dissolve(levels)
    opening, inside = levels.pop()
    assert opening is not None
    levels[-1][1].append(Around(opening.raw, tidy(inside), token.raw))


def _dissolve(levels: list[tuple[Opening | None, list[Node]]]) -> None:
    """The innermost element that is still open has no end: its tag stands alone."""
    opening, inside = levels.pop()
    assert opening is not None
    levels[-1][1].extend([Void(opening.raw), *inside])
