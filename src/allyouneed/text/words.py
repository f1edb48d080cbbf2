"""Words separated by white space, and the first piece of each word."""

import re
from collections.abc import Sequence

_WORD = re.compile(r"\S+")


def words(text: str) -> list[tuple[int, int]]:
    """The span (begin, end) of each word, in characters."""
    return [word.span() for word in _WORD.finditer(text)]


def first_pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """For each word of the text, the index of the piece with its first letter.

    This piece carries the word's tag (Devlin et al. 2019, 5.3). `spans` are those of
    `encode(text)`. Some tokenizers leave letters out; a word whose first letter is in no piece gets
    the next piece.
    """
    found: list[int] = []
    number = 0
    for begin, _ in words(text):
        while number < len(spans) - 1 and spans[number][1] <= begin:
            number += 1
        found.append(number)
    return found
