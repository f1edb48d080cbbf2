"""Keys of menus: the letter that opens an entry, marked as in "&Open" (Qt, Windows) or "_Open"
(GTK). The mark is no text. In the translation it stands before the same letter, if there is one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from allyouneed.translation.markup.nodes import Around, Node, Nodes, leaves, plain, tidy

# A mark stands at the beginning of a word, or behind its first letters: "E&xit".
_MARKS = re.compile(
    r"(?:(?<![^\s(\"'])|(?<=\b[A-Z])(?=&[a-z])|(?<=\b[A-Z][a-z])(?=&[a-z]))&(?=[^\W_])(?!\w+;)"
)
_MARKS_OF_GTK = re.compile(r"(?<![^\s(\"'])_(?=[A-Z])|(?<=\b[A-Z])_(?=[a-z])")
_WORD = re.compile(r"(?<![^\s(\"'„“«¿¡-])[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class MenuKey:
    """The mark and the letter behind it, as a label has them."""

    mark: str
    letter: str


def without_key(nodes: Nodes, gtk: bool = False) -> tuple[tuple[Node, ...], MenuKey | None]:
    """The nodes of a label without the mark of its key, and the key. A text with two
    keys is no label: it stays as it is, and there is no key. `gtk` allows the mark "_", unless the
    text has another such sign, as names of variables have."""
    text = plain(nodes)
    for mark, pattern in (("&", _MARKS), ("_", _MARKS_OF_GTK))[: 1 + gtk]:
        places = [begin + found.start() for begin, found in _found(pattern, nodes)]
        if len(places) == 1 and (mark == "&" or text.count(mark) == 1):
            place = places[0]
            return _replaced(nodes, place, place + 1, ""), MenuKey(mark, text[place + 1])
    return tuple(nodes), None


def with_key(nodes: Nodes, key: MenuKey | None) -> tuple[Node, ...]:
    """The nodes of a translation with the mark of the key: before the first word that begins with
    the letter, else before the letter inside of a word, else before the first word. A language
    without small letters gets "(&O)" behind its text, as is usual there."""
    if key is None:
        return tuple(nodes)
    letter = key.letter.lower()
    words = [(begin + found.start(), found[0].lower()) for begin, found in _found(_WORD, nodes)]
    begins = [begin for begin, word in words if word.startswith(letter)]
    inside = [begin + word.find(letter) for begin, word in words if letter in word]
    others = [begin for begin, word in words if word.islower()]
    for place in (*begins[:1], *inside[:1], *others[:1]):
        return _replaced(nodes, place, place, key.mark)
    return tidy([*nodes, f"({key.mark}{key.letter.upper()})"])


def _found(pattern: re.Pattern[str], nodes: Nodes) -> Iterator[tuple[int, re.Match[str]]]:
    """The matches in the texts of the nodes, each with the place at which its text begins."""
    for leaf, begin, _ in leaves(nodes):
        if isinstance(leaf, str):
            for match in pattern.finditer(leaf):
                yield begin, match


def _replaced(nodes: Nodes, begin: int, end: int, new: str) -> tuple[Node, ...]:
    """The nodes with `new` in place of plain(nodes)[begin:end], which is inside of one text."""
    found: list[Node] = []
    for node in nodes:
        length = len(plain([node]))
        if 0 <= begin < length:
            if isinstance(node, str):
                node = node[:begin] + new + node[end:]
                begin = end = -1
            elif isinstance(node, Around):
                node = replace(node, inside=_replaced(node.inside, begin, end, new))
                begin = end = -1
        found.append(node)
        begin, end = begin - length, end - length
    return tuple(found)
