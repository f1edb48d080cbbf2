"""Finds the point of a translation where an item without characters stands, such as a picture."""

import re

from allyouneed.translation.markup.aligned_atoms import AlignedAtoms
from allyouneed.translation.markup.items import Area, Item
from allyouneed.translation.markup.links import atoms_within
from allyouneed.translation.markup.nodes import Bound
from allyouneed.translation.markup.transfer import Range

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)+")  # of several atoms: nothing is put within it


class Points:
    """Finds points, each as the character of the translation before which the item is put."""

    def __init__(self, aligned: AlignedAtoms) -> None:
        self._aligned = aligned
        self._numbers = [match.span() for match in _NUMBER.finditer(aligned.text)]

    def found(self, item: Item, span: Range, area: Area) -> int:
        """The point of an item, never within a number. `span` are the characters of the source
        around the item."""
        point = self._point(item, span, area)
        for begin, end in self._numbers:
            if begin < point < end:
                return min(end, area.characters[1])
        return point

    def _point(self, item: Item, span: Range, area: Area) -> int:
        """The character at which the alignment puts an item without characters."""
        s_low, s_high = atoms_within(self._aligned.s_atoms, span)
        before, after = item.atoms[0] - 1, item.atoms[1]
        low, high = area.characters
        t_low, t_high = area.atoms
        begin, end = item.characters
        if before < s_low:  # it stands before all words
            first = self._aligned.t_atoms[t_low].begin if t_low < t_high else high
            return min(low + begin - span[0], first)
        if after >= s_high:
            last = self._aligned.t_atoms[t_high - 1].end if t_low < t_high else low
            return max(high - (span[1] - end), last)
        glued_left = self._aligned.s_atoms[before].end == begin
        glued_right = self._aligned.s_atoms[after].begin == end
        to_left = glued_left or item.has_words or isinstance(item.node, Bound)
        if glued_right and self._aligned.s_atoms[after].is_word:
            to_left = False
        searched = (self._after(before, s_low, area), self._before(after, s_high, area))
        left, right = searched
        if left is None and right is None:
            share = (begin - span[0]) / max(span[1] - span[0], 1)
            t = min(t_low + round(share * (t_high - t_low)), t_high - 1)
            return self._aligned.t_atoms[t].begin if t >= t_low else high
        if left is None or (right is not None and not to_left):
            assert right is not None
            return right
        if isinstance(item.node, Bound) and not glued_left:  # the space before a mark of a note
            left += self._aligned.text[left : left + 2].isspace()
        return left

    def _after(self, s: int, s_low: int, area: Area) -> int | None:
        """The end of the words that come from atom s, or from one of the two atoms before it."""
        for source in range(s, max(s - 3, s_low - 1), -1):
            if found := self._aligned.come_from(source, area):
                return self._aligned.t_atoms[found[-1]].end
        return None

    def _before(self, s: int, s_high: int, area: Area) -> int | None:
        """The begin of the words that come from atom s, or from one of the two atoms after it."""
        for source in range(s, min(s + 3, s_high)):
            if found := self._aligned.come_from(source, area):
                return self._aligned.t_atoms[found[0]].begin
        return None
