"""White space around the markup of a translation, as it is in the source."""

from collections.abc import Iterator, Sequence

from allyouneed.text.atoms import is_unspaced
from allyouneed.translation.markup.aligned_atoms import AlignedAtoms
from allyouneed.translation.markup.items import Item
from allyouneed.translation.markup.nodes import Around, Node, plain
from allyouneed.translation.markup.transfer import Range

CLOSING = ".,;:!?…)]}»”"  # signs that no space is put before


class WhiteSpace:
    """Decides which white space stands inside a tag and which stands around a node."""

    def __init__(self, aligned: AlignedAtoms) -> None:
        self._aligned = aligned

    def with_space(self, item: Item, cursor: int, limit: int) -> Range:
        """The place of an item. White space at the edge of the tag's content is inside the tag if
        it is inside in the source."""
        begin = max(item.place[0], cursor)
        end = max(item.place[1], begin)
        if not isinstance(item.node, Around) or not item.has_words or begin == end:
            return begin, end
        inside = self._aligned.source[slice(*item.characters)]
        if inside[:1].isspace():
            while begin > cursor and self._aligned.text[begin - 1].isspace():
                begin -= 1
        if inside[-1:].isspace():
            while end < limit and self._aligned.text[end].isspace():
                end += 1
        return begin, end

    def stands_for_space(self, item: Item) -> bool:
        """Whether the item itself is white space, such as a line break between two words."""
        begin, end = item.characters
        beside = (
            self._aligned.source[max(begin - 1, 0) : begin] + self._aligned.source[end : end + 1]
        )
        return begin < end and not item.has_words and not any(map(str.isspace, beside))

    def spaced(self, item: Item, found: Sequence[Node], place: int, more: bool) -> Iterator[Node]:
        """A node without characters in the translation, with the white space of the source around
        it."""
        before, after = self._spaces_around(item)
        if not item.has_words and not (before and after):
            before = after = False
        left = plain([node for node in found if node != ""][-1:])[-1:]
        left = left or self._aligned.text[max(place - 1, 0) : place]
        right = self._aligned.text[place : place + 1] if more else ""
        parted = before and left and not (left.isspace() or is_unspaced(left))
        if parted or self._runs_together(item, 0, left):
            yield " "
        yield item.node
        parted = after and right and not (right.isspace() or is_unspaced(right) or right in CLOSING)
        if parted or self._runs_together(item, 1, right):
            yield " "

    def _runs_together(self, item: Item, side: int, sign: str) -> bool:
        """Whether the literal would be next to `sign`, a letter or digit, on this side, although in
        the source it is not."""
        begin, end = item.characters
        beside = (
            self._aligned.source[end : end + 1]
            if side
            else self._aligned.source[max(begin - 1, 0) : begin]
        )
        return item.has_words and sign.isalnum() and sign != beside and not is_unspaced(sign)

    def _spaces_around(self, item: Item) -> tuple[bool, bool]:
        """Whether white space, or an end of the passage, is on each side of it in the source."""
        begin, end = item.characters
        before, after = (
            self._aligned.source[max(begin - 1, 0) : begin],
            self._aligned.source[end : end + 1],
        )
        return not before or before.isspace(), not after or after.isspace()
