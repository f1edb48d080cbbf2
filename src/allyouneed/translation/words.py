"""Counts words as alignments do: white space separates words."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from allyouneed.text.atoms import is_unspaced
from allyouneed.text.protocol import AnyTokenizer

_WORD = re.compile(r"\S+")


class WordCounter:
    """Counts the words of a text that comes in pieces. A word may go over several pieces."""

    def __init__(self) -> None:
        self.words = 0
        self.inside_word = False

    @property
    def next(self) -> int:
        """The number, from 0, of the word to which the next letter would belong."""
        return self.words - self.inside_word

    def add(self, piece: str) -> None:
        """Counts the next piece."""
        if piece:
            goes_on = self.inside_word and not piece[0].isspace()
            self.words += len(piece.split()) - goes_on
            self.inside_word = not piece[-1].isspace()


def same_words(before: str, after: str) -> Sequence[int]:
    """The number in `after` of each word of `before`. The texts have the same letters and digits;
    marks may be others, and may stand as words of their own."""
    words, others = before.split(), after.split()
    if len(words) == len(others):
        return range(len(words))
    places = [n for n, word in enumerate(others) for _ in filter(str.isalnum, word)]
    numbers, seen, last = [], 0, -1
    for word in words:
        count = sum(map(str.isalnum, word))
        last = places[seen] if count and seen < len(places) else min(last + 1, len(others) - 1)
        numbers.append(last)
        seen += count
    return numbers


def spread(values: Sequence[float], before: str, after: str) -> tuple[float, ...]:
    """The values of the words of `after`, from those of the words of `before` (`same_words`). A
    mark that stands alone has the value of the word before it, or behind it at the beginning."""
    numbers = same_words(before, after)
    count = len(after.split())
    if len(values) != len(numbers) or len(values) == count:
        return tuple(values)
    found = dict(zip(numbers, values, strict=True))
    every: list[float] = []
    for n in range(count):
        every.append(found.get(n, every[-1] if every else values[0]))
    return tuple(every)


def word_numbers(tokenizer: AnyTokenizer, ids: Sequence[int]) -> list[int]:
    """The number of the word of each token; -1 for white space and for tokens without text, such as
    the end token."""
    return words_at(tokenizer.decode(ids), tokenizer.spans(ids))


def words_at(text: str, spans: Iterable[tuple[int, int]]) -> list[int]:
    """The number of the word at each place (begin, end) of a text; -1 as in `word_numbers`."""
    begins = [match.start() for match in _WORD.finditer(text)]
    return [
        bisect_left(begins, end) - 1 if text[begin:end] and not text[end - 1].isspace() else -1
        for begin, end in spans
    ]


def units_at(
    text: str, spans: Iterable[tuple[int, int]]
) -> tuple[list[int], list[tuple[int, int]]]:
    """The number of the unit of each token at a place (begin, end) of a text, and the places of the
    units.

    A unit is a word; in scripts that are written without spaces, it is the characters of a token.
    Tokens without text have the number -1.
    """
    numbers: list[int] = []
    units: list[tuple[int, int]] = []
    for begin, end in spans:
        begin = max(begin, 0)
        while begin < end and text[begin].isspace():
            begin += 1
        if begin >= end:
            numbers.append(-1)
            continue
        if not units or _parts(text, units[-1][1], begin):
            units.append((begin, end))
        else:
            units[-1] = units[-1][0], max(units[-1][1], end)
        numbers.append(len(units) - 1)
    return numbers, units


def _parts(text: str, end: int, begin: int) -> bool:
    """Whether a unit that ends at `end` and a token that begins at `begin` are not of one word."""
    if end > begin:
        return False
    apart = any(map(str.isspace, text[end:begin]))
    return apart or is_unspaced(text[end - 1]) or is_unspaced(text[begin])
