"""The table by which SentencePiece writes characters in another way, such as NFKC.

It is a trie of byte strings, laid out in a double array (Aoe 1989) of units of 32 bits as the
library Darts-clone has them, and behind it the replacements, each ended by a zero byte. The longest
string of the trie that a text begins with is replaced.
"""

import array
import sys


class CharacterMap:
    """The table of a `.spm` file; an empty one leaves every character as it is."""

    def __init__(self, table: bytes) -> None:
        """`table` is the field precompiled_charsmap.

        Raises:
            ValueError: it is no such table.
        """
        size = int.from_bytes(table[:4], "little")
        if table and (size % 4 or not 0 < size <= len(table) - 4 or table[-1] != 0):
            raise ValueError(f"its table of characters has {len(table)} bytes, which do not fit")
        self._units = array.array("I", table[4 : 4 + size])
        if sys.byteorder == "big":
            self._units.byteswap()
        self._replacements = table[4 + size :]
        self._plain: dict[str, bool] = {}

    def replaced(self, text: str, place: int) -> tuple[str, int]:
        """What stands for the characters of `text` from `place` on, and how many they are.

        Raises:
            ValueError: a damaged table.
        """
        first = text[place]
        if self._plain.get(first):
            return first, 1
        if first not in self._plain:
            self._plain[first] = not self._units or not self._begins(first)
            return self.replaced(text, place)
        longest, count = None, 1
        node = self._offset(self._units[0])
        for length, character in enumerate(text[place : place + 32], 1):
            for byte in character.encode():
                node ^= byte
                unit = self._unit(node)
                if unit & 0x800000FF != byte:
                    return self._replacement(longest, first), count
                node ^= self._offset(unit)
            if unit >> 8 & 1:
                longest, count = self._unit(node) & 0x7FFFFFFF, length
        return self._replacement(longest, first), count

    def _begins(self, character: str) -> bool:
        """Whether any string of the trie begins with this character."""
        node = self._offset(self._units[0])
        for byte in character.encode():
            node ^= byte
            unit = self._unit(node)
            if unit & 0x800000FF != byte:
                return False
            node ^= self._offset(unit)
        return True

    def _unit(self, node: int) -> int:
        if node >= len(self._units):
            raise ValueError("its table of characters is damaged")
        return self._units[node]

    @staticmethod
    def _offset(unit: int) -> int:
        """From a unit to where its children lie: 21 bits, or as many with eight zeros below."""
        return unit >> 10 << ((unit & 0x200) >> 6)

    def _replacement(self, begin: int | None, itself: str) -> str:
        if begin is None:
            return itself
        if begin >= len(self._replacements):
            raise ValueError("its table of characters is damaged")
        return self._replacements[begin : self._replacements.index(0, begin)].decode()
