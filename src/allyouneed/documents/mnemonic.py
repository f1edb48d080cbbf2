"""Mnemonics: the letter of a label that chooses it together with Alt, marked as in "&Open" (Qt,
Windows, where it is called an access key) or "_Open" (GTK). The mark is no text. In the translation
it stands before the same letter, if there is one."""

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
class Mnemonic:
    """The mark and the letter behind it, as a label has them."""

    mark: str
    letter: str


def without_mnemonic(nodes: Nodes, gtk: bool = False) -> tuple[tuple[Node, ...], Mnemonic | None]:
    """The nodes of a label without the mark, and the mnemonic. A text with two marks is no label:
    it stays as it is and has no mnemonic. `gtk` allows the mark "_", unless the text has another
    such sign, as names of variables have."""
    text = plain(nodes)
    for mark, pattern in (("&", _MARKS), ("_", _MARKS_OF_GTK))[: 1 + gtk]:
        places = [place for place, _ in _found(pattern, nodes)]
        if len(places) == 1 and (mark == "&" or text.count(mark) == 1):
            place = places[0]
            return _replaced(nodes, place, place + 1, ""), Mnemonic(mark, text[place + 1])
    return tuple(nodes), None


def with_mnemonic(nodes: Nodes, mnemonic: Mnemonic | None) -> tuple[Node, ...]:
    """The nodes of a translation with the mark put in. The mark stands before the first word that
    begins with the mnemonic's letter; if no word does, before this letter inside of a word; if no
    word has it, before the first word. A translation in a script without small letters gets "(&O)"
    at its end, as is usual there."""
    if mnemonic is None:
        return tuple(nodes)
    letter = mnemonic.letter.lower()
    words = [(begin, word.lower()) for begin, word in _found(_WORD, nodes)]
    begins = [begin for begin, word in words if word.startswith(letter)]
    inside = [begin + word.find(letter) for begin, word in words if letter in word]
    others = [begin for begin, word in words if word.islower()]
    for place in (*begins[:1], *inside[:1], *others[:1]):
        return _replaced(nodes, place, place, mnemonic.mark)
    return tidy([*nodes, f"({mnemonic.mark}{mnemonic.letter.upper()})"])


def _found(pattern: re.Pattern[str], nodes: Nodes) -> Iterator[tuple[int, str]]:
    """Each match of the pattern in a text of the nodes: its place in `plain(nodes)`, and what
    matched. Literals are no texts."""
    for leaf, begin, _ in leaves(nodes):
        if isinstance(leaf, str):
            for match in pattern.finditer(leaf):
                yield begin + match.start(), match[0]


def _replaced(nodes: Nodes, begin: int, end: int, new: str) -> tuple[Node, ...]:
    """The nodes with `new` in place of plain(nodes)[begin:end], which is inside of one text."""
    changed: list[Node] = []
    for node in nodes:
        length = len(plain([node]))
        if 0 <= begin < length:
            if isinstance(node, str):
                node = node[:begin] + new + node[end:]
                begin = end = -1
            elif isinstance(node, Around):
                node = replace(node, inside=_replaced(node.inside, begin, end, new))
                begin = end = -1
        changed.append(node)
        begin, end = begin - length, end - length
    return tuple(changed)
