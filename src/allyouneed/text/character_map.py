"""SentencePiece's table of replacements for characters, such as Unicode's form NFKC.

The table has two parts. The first is a trie of byte strings, stored as a double array (Aoe 1989) of
32-bit units in the format of the library Darts-clone. The second holds the replacements, each of
which ends in a zero byte. At each place of a text the longest matching string is replaced.
"""

import array
import sys


class CharacterMap:
    """The table of a `.spm` file. An empty table replaces nothing."""

    def __init__(self, table: bytes) -> None:
        """`table` is the content of the field precompiled_charsmap.

        Raises:
            ValueError: `table` is damaged.
        """
        size = int.from_bytes(table[:4], "little")
        if table and (size % 4 or not 0 < size <= len(table) - 4 or table[-1] != 0):
            raise ValueError(f"its table of characters ({len(table)} bytes) is damaged")
        self._units = array.array("I", table[4 : 4 + size])
        if sys.byteorder == "big":
            self._units.byteswap()
        self._replacements = table[4 + size :]
        self._plain: dict[str, bool] = {}

    def replaced(self, text: str, place: int) -> tuple[str, int]:
        """The replacement for the characters at text[place:], and the number of those characters.

        Raises:
            ValueError: the table is damaged.
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
        """The offset of a unit's children: 21 bits, shifted left by 8 if bit 9 of the unit is 1."""
        return unit >> 10 << ((unit & 0x200) >> 6)

    def _replacement(self, begin: int | None, itself: str) -> str:
        if begin is None:
            return itself
        if begin >= len(self._replacements):
            raise ValueError("its table of characters is damaged")
        return self._replacements[begin : self._replacements.index(0, begin)].decode()
