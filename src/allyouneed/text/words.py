"""Words, as white space separates them, and the pieces that they begin with."""

import re
from collections.abc import Sequence

_WORD = re.compile(r"\S+")


def words(text: str) -> list[tuple[int, int]]:
    """Where each word begins and ends, in characters."""
    return [word.span() for word in _WORD.finditer(text)]


def first_pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """For each word of the text the number of the piece that holds its first letter, which is the
    one that carries a word's tag (Devlin et al. 2019, 5.3).

    `spans` are those of `encode(text)`. A letter that no piece holds, as some tokenizers leave
    letters out, gives its word the next piece.
    """
    found: list[int] = []
    number = 0
    for begin, _ in words(text):
        while number < len(spans) - 1 and spans[number][1] <= begin:
            number += 1
        found.append(number)
    return found
