"""Turns the tags of a text, in their order, into nested nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from allyouneed.translation.markup.nodes import Around, Kept, Node, Part, Script, Void, tidy


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """A tag that opens an element of this name. `language` is the code of the language that the tag
    names, "" if it names none."""

    name: str
    raw: tuple[Part, ...]
    script: Script = ""
    language: str = ""

    def around(self, inside: Iterable[Node], closing: tuple[Part, ...]) -> Around:
        """The element, with what stands in it and the tag that closes it."""
        return Around(self.raw, tidy([*inside]), closing, self.script, self.language)


@dataclass(frozen=True, slots=True, eq=False)
class Closing:
    """A tag that closes an element of this name."""

    name: str
    raw: tuple[Part, ...]


Token = str | Void | Kept | Opening | Closing
DEEPEST = 60  # elements within each other, and tags without partner; further ones stand alone


def nested(tokens: Iterable[Token]) -> tuple[Node, ...]:
    """The tokens as nodes.

    The partner of a tag may be missing, because the markup is broken or the partner is outside the
    passage. Such an opening tag holds everything after it, and such a closing tag everything before
    it. Tags therefore never cross each other.
    """
    levels: list[tuple[Opening | None, list[Node]]] = [(None, [])]
    alone = 0
    for token in tokens:
        inside = levels[-1][1]
        if isinstance(token, Opening):
            if len(levels) > DEEPEST:
                inside.append(Void(token.raw))
            else:
                levels.append((token, []))
        elif isinstance(token, Closing):
            if any(opening and opening.name == token.name for opening, _ in levels):
                _close(levels, token)
            elif alone < DEEPEST:
                alone += 1
                inside[:] = [Around((), tidy(inside), token.raw)]
            else:
                inside.append(Void(token.raw))
        else:
            inside.append(token)
    while len(levels) > 1:
        _end(levels)
    return tidy(levels[0][1])


def first_of_both_kinds(tokens: Sequence[Token]) -> int | None:
    """The index of the first tag that is never closed, if a tag before it is closed without having
    been opened; otherwise None. In a translation two such tags could cross."""
    open_tags: list[tuple[str, int]] = []
    first_closing = None
    for number, token in enumerate(tokens):
        if isinstance(token, Opening):
            open_tags.append((token.name, number))
        elif isinstance(token, Closing):
            names = [name for name, _ in open_tags]
            if token.name in names:
                del open_tags[len(names) - 1 - names[::-1].index(token.name) :]
            elif first_closing is None:
                first_closing = number
    if first_closing is None:
        return None
    return next((number for _, number in open_tags if number > first_closing), None)


def _close(levels: list[tuple[Opening | None, list[Node]]], token: Closing) -> None:
    while (opening := levels[-1][0]) is not None and opening.name != token.name:
        _end(levels)
    opening, inside = levels.pop()
    assert opening is not None
    levels[-1][1].append(opening.around(inside, token.raw))


def _end(levels: list[tuple[Opening | None, list[Node]]]) -> None:
    """Ends the innermost element that is still open, where no tag ends it."""
    opening, inside = levels.pop()
    assert opening is not None
    levels[-1][1].append(opening.around(inside, ()))
