"""Byte-pair models (Sennrich et al. 2016) of SentencePiece: neighbouring symbols are merged, the
pair with the highest score first, until no two neighbours make a piece."""

import re
from collections.abc import Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush

from allyouneed.text.sentencepiece_file import SPACE, Kind

REMEMBERED = 1 << 16  # words whose pieces are cached
LONG_WORD = 40  # characters; longer words are not cached


class BytePairs:
    """Cuts texts by merging neighbouring symbols. Holds the pieces with their scores."""

    def __init__(self, pieces: Sequence[tuple[str, float, Kind]]) -> None:
        kinds = (Kind.NORMAL, Kind.USER_DEFINED, Kind.UNUSED)
        self._scores = {piece: score for piece, score, kind in pieces if kind in kinds}
        self._unused = {piece for piece, _, kind in pieces if kind == Kind.UNUSED}
        whole = {piece for piece, _, kind in pieces if kind == Kind.USER_DEFINED}
        longest_first = sorted(whole, key=len, reverse=True)
        self._symbols = re.compile("|".join([*map(re.escape, longest_first), "."]), re.DOTALL)
        self._whole = whole
        apart = all(SPACE not in piece[1:] for piece in self._scores)
        self._words = re.compile(f"{SPACE}?[^{SPACE}]+|{SPACE}" if apart else ".+", re.DOTALL)
        self._remembered = lru_cache(REMEMBERED)(self._joined)

    def knows(self, spelling: str) -> bool:
        """Whether a cut text can contain this piece. Unused pieces occur only during merging."""
        return spelling in self._scores and spelling not in self._unused

    def cut(self, normal: str) -> list[tuple[int, int]]:
        """The spans (begin, end) of the pieces. A character that is in no piece is its own span.

        If spaces occur only at the beginning of pieces, no merge crosses words. Each word is then
        cut separately.
        """
        found: list[tuple[int, int]] = []
        begin = 0
        for word in self._words.findall(normal):
            join = self._remembered if len(word) <= LONG_WORD else self._joined
            for length in join(word):
                found.append((begin, begin + length))
                begin += length
        return found

    def _joined(self, word: str) -> list[int]:
        """The lengths of the word's pieces, in order."""
        symbols: list[str] = self._symbols.findall(word)
        count = len(symbols)
        before, behind = list(range(-1, count - 1)), [*range(1, count), -1]
        parts: dict[str, tuple[str, str]] = {}  # the halves of unused pieces, to split them again
        pairs: list[tuple[float, int, int, int]] = []
        for left in range(count - 1):
            self._propose(symbols, left, left + 1, parts, pairs)
        heapify(pairs)
        while pairs:
            _, left, right, length = heappop(pairs)
            if not symbols[left] or not symbols[right]:
                continue
            if len(symbols[left]) + len(symbols[right]) != length:
                continue  # one of the two has been merged with another symbol
            symbols[left] += symbols[right]
            symbols[right] = ""
            behind[left] = behind[right]
            if behind[left] >= 0:
                before[behind[left]] = left
            new: list[tuple[float, int, int, int]] = []
            if before[left] >= 0:
                self._propose(symbols, before[left], left, parts, new)
            if behind[left] >= 0:
                self._propose(symbols, left, behind[left], parts, new)
            for pair in new:
                heappush(pairs, pair)
        return [length for symbol in symbols if symbol for length in self._used(symbol, parts)]

    def _propose(
        self,
        symbols: Sequence[str],
        left: int,
        right: int,
        parts: dict[str, tuple[str, str]],
        pairs: list[tuple[float, int, int, int]],
    ) -> None:
        """Adds the pair of these two neighbours to `pairs` if they make a piece.

        User-defined pieces are never merged. Of pairs with equal scores the first in the text is
        merged first.
        """
        one, other = symbols[left], symbols[right]
        if one in self._whole or other in self._whole:
            return
        score = self._scores.get(one + other)
        if score is None:
            return
        pairs.append((-score, left, right, len(one) + len(other)))
        if one + other in self._unused:
            parts[one + other] = (one, other)

    def _used(self, piece: str, parts: dict[str, tuple[str, str]]) -> list[int]:
        """The length of a piece; of an unused piece, the lengths of its parts."""
        lengths: list[int] = []
        waiting = [piece]
        while waiting:
            one = waiting.pop()
            if one in self._unused and one in parts:
                waiting += reversed(parts[one])
            else:
                lengths.append(len(one))
        return lengths
