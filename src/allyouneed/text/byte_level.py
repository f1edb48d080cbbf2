"""Byte-level byte-pair encoding (Sennrich et al. 2016; Radford et al. 2019): words are spelt in
bytes, and neighbouring pieces are merged, the pair that was learnt first before all others."""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from heapq import heappop, heappush

from allyouneed.text.tokenizer_file import BYTE_ALPHABET

REMEMBERED = 1 << 14  # words whose ids are kept
LONGEST = 24  # characters; the ids of longer words are not kept
KNOWN_CHARACTERS = 1 << 12  # whose kind is kept

# GPT-2's pattern for texts in which ASCII stands for every kind of character. A space belongs to
# the word behind it, and no word has letters and digits, or letters and other signs.
_WORDS = re.compile(
    r"'(?:[sdmt]|re|ve|ll)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", re.ASCII
)


class _Kinds(dict[int, str]):
    """An ASCII character of the same kind for each character: a letter that is in no contraction,
    a digit, white space that is not the space, or another sign. ASCII stays as it is. A letter that
    is newer than Python's version of Unicode counts as a sign."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if code < 0x80:
            kind = character
        elif character.isalpha():
            kind = "x"
        elif character.isnumeric():
            kind = "0"
        else:
            kind = "\t" if character.isspace() else "!"
        if len(self) < KNOWN_CHARACTERS:
            self[code] = kind
        return kind


_KINDS = _Kinds()


def words(text: str) -> list[str]:
    """The words that no merge goes across. Joined, they are the text."""
    if text.isascii():
        return _WORDS.findall(text)
    kinds = text.translate(_KINDS)
    return [text[slice(*word.span())] for word in _WORDS.finditer(kinds)]


class ByteLevel:
    """Cuts texts into pieces by the merges of a vocabulary."""

    def __init__(self, ids: Mapping[str, int], merges: Iterable[tuple[str, str]]) -> None:
        """`ids` maps pieces, spelt in the byte alphabet, to ids from 0; `merges` are pairs of
        pieces in the order in which they were learnt."""
        self._of_bytes = [0] * 256
        for character, byte in BYTE_ALPHABET.items():
            self._of_bytes[byte] = ids[character]
        self._size = len(ids)
        self._ranks: dict[int, int] = {}  # of the pair of ids left * size + right
        self._left, self._right, self._merged = array("i"), array("i"), array("i")  # ids, by rank
        for rank, (left, right) in enumerate(merges):
            self._left.append(ids[left])
            self._right.append(ids[right])
            self._merged.append(ids[left + right])
            self._ranks[ids[left] * self._size + ids[right]] = rank
        self._remembered = lru_cache(REMEMBERED)(self._word)

    def merges(self) -> Iterator[tuple[int, int, int]]:
        """The ids of each merge's pieces, left and right, and of the piece that it makes, in the
        order in which they were learnt."""
        return zip(self._left, self._right, self._merged, strict=True)

    def ids(self, text: str) -> list[int]:
        """The ids of a text's pieces, in order."""
        found: list[int] = []
        for word in words(text):
            found += self._remembered(word) if len(word) <= LONGEST else self._word(word)
        return found

    def _word(self, word: str) -> list[int]:
        """The ids of one word. Of two equal pairs, the first is merged first.

        The time is n log n in the number of bytes, so that a word of a million bytes is no harm.
        """
        ids = [self._of_bytes[byte] for byte in word.encode()]
        count = len(ids)
        before, behind = list(range(-1, count - 1)), list(range(1, count + 1))
        ranks, size = self._ranks, self._size
        pairs: list[tuple[int, int]] = []  # rank, place of the left piece

        def propose(left: int) -> None:
            if left >= 0 and behind[left] < count:
                rank = ranks.get(ids[left] * size + ids[behind[left]])
                if rank is not None:
                    heappush(pairs, (rank, left))

        for left in range(count - 1):
            propose(left)
        while pairs:
            rank, left = heappop(pairs)
            right = behind[left]
            if ids[left] < 0 or right == count or ranks.get(ids[left] * size + ids[right]) != rank:
                continue  # one of the two has been merged with another piece
            ids[left], ids[right] = self._merged[rank], -1
            behind[left] = behind[right]
            if behind[left] < count:
                before[behind[left]] = left
            propose(before[left])
            propose(left)
        return [id for id in ids if id >= 0]
