"""Puts the markup of a text on its translation.

The nodes of the source form a tree, and the translation gets the same tree: every tag once, inside
the same tag as before. Only the places of the tags in the text are searched for, by alignment.
"""

from collections.abc import Iterable, Mapping, Sequence

from allyouneed.translation.markup.aligned_atoms import AlignedAtoms
from allyouneed.translation.markup.items import Area, Item
from allyouneed.translation.markup.links import atoms_within
from allyouneed.translation.markup.nodes import Around, Node, Nodes, plain, tidy
from allyouneed.translation.markup.points import Points
from allyouneed.translation.markup.tag_words import TagWords
from allyouneed.translation.markup.transfer import Range, Transfer
from allyouneed.translation.markup.white_space import WhiteSpace


def placed(
    source: Nodes, transfer: Transfer, ranges: Mapping[Around, Range] | None = None
) -> tuple[Node, ...]:
    """The nodes of the source with the text of the translation: the same tree, every node once.

    A literal of the transfer takes the place of its characters. A literal without a place is put in
    by alignment, as is markup without text. `ranges` prescribes the places of outermost nodes, in
    characters of the translation; these places must not overlap.
    """
    if all(isinstance(node, str) for node in source):
        return tidy([transfer.text])
    return _Placement(source, transfer, ranges or {}).nodes()


class _Placement:
    """Places the nodes of one passage."""

    def __init__(self, source: Nodes, transfer: Transfer, ranges: Mapping[Around, Range]) -> None:
        self._source, self._ranges = source, ranges
        self._literals = dict(transfer.literals or {})
        self._initial = _initial(source, plain(source), transfer.text)
        cuts = [n for span in self._literals.values() for n in span]
        self._aligned = AlignedAtoms(source, transfer, [*cuts, 1] if self._initial else cuts)
        self._whole = Area((0, len(self._aligned.t_atoms)), (0, len(transfer.text)))
        self._tags = TagWords(self._aligned, transfer.languages)
        self._points = Points(self._aligned)
        self._white_space = WhiteSpace(self._aligned)
        self._dropped: list[Range] = []

    def nodes(self) -> tuple[Node, ...]:
        """The whole passage."""
        items = self._planned(self._source, (0, len(self._aligned.source)), self._whole)
        return self._written(items, self._whole.characters)

    def _planned(self, nodes: Nodes, span: Range, area: Area) -> list[Item]:
        """The items of nodes, placed in an area of the translation, in the order of their places.
        The nodes have the characters `span` of the source."""
        items = self._items(nodes, span[0])
        self._find_places(items, span, area)
        items.sort(key=lambda item: (*item.place, item.order))
        cursor = area.characters[0]
        for n, item in enumerate(items):
            limit = items[n + 1].place[0] if n + 1 < len(items) else area.characters[1]
            item.place = self._white_space.with_space(item, cursor, limit)
            cursor = item.place[1]
            if isinstance(item.node, Around) and item.has_words:
                inner = Area(atoms_within(self._aligned.t_atoms, item.place), item.place)
                item.inside = self._planned(item.node.inside, item.characters, inner)
        return items

    def _written(self, items: Sequence[Item], characters: Range) -> tuple[Node, ...]:
        """The nodes of a part of the translation, with the items at their places."""
        found: list[Node] = []
        cursor = characters[0]
        for item in items:
            begin, end = item.place
            found.append(self._slice(cursor, begin))
            cursor = max(cursor, end)
            if isinstance(item.node, Around) and item.has_words:
                inside = self._written(item.inside, item.place)
                found.append(Around(item.node.opening, inside, item.node.closing))
            elif begin < end:  # a literal in its place
                found.append(item.node)
            elif self._white_space.stands_for_space(item):
                if isinstance(found[-1], str):
                    found[-1] = found[-1].rstrip()
                found.append(item.node)
                while cursor < characters[1] and self._aligned.text[cursor].isspace():
                    cursor += 1
            else:
                found += self._white_space.spaced(item, found, begin, begin < characters[1])
        found.append(self._slice(cursor, characters[1]))
        return tidy(found)

    def _items(self, nodes: Nodes, begin: int) -> list[Item]:
        items, order = [], 0
        for node in nodes:
            end = begin + len(plain([node]))
            if not isinstance(node, str):
                held = atoms_within(self._aligned.s_atoms, (begin, end))
                items.append(Item(node, held, (begin, end), order))
            begin, order = end, order + 1
        return items

    def _find_places(self, items: list[Item], span: Range, area: Area) -> None:
        """Gives each item a place in the translation; the places do not overlap."""
        taken: list[Range] = []  # in atoms
        placed: list[Item] = []
        for item in items:
            if self._is_given(item) or self._found_literally(item, area, placed):
                taken.append(atoms_within(self._aligned.t_atoms, item.place))
                placed.append(item)
        tags = [item for item in items if isinstance(item.node, Around) and item.has_words]
        s_area = atoms_within(self._aligned.s_atoms, span)
        for item in sorted(tags, key=self._evidence, reverse=True):
            if item in placed:
                continue
            found = self._tag_words(item, s_area, area, taken)
            if found is not None:
                taken.append(found)
                words = self._aligned.t_atoms[slice(*found)]
                item.place = words[0].begin, words[-1].end
                placed.append(item)
        for item in items:
            if item not in placed:
                point = _outside(item, self._points.found(item, span, area), placed)
                item.place = point, point

    def _is_given(self, item: Item) -> bool:
        """Whether `ranges` prescribes the place of the item, which is then set."""
        if not isinstance(item.node, Around) or item.node not in self._ranges:
            return False
        item.place = self._ranges[item.node]
        return True

    def _found_literally(self, item: Item, area: Area, placed: Sequence[Item]) -> bool:
        """Whether the item is a literal with a place in the area, which is then set. A literal with
        a place outside of the area loses it."""
        if isinstance(item.node, (str, Around)) or item.node not in self._literals:
            return False
        item.place = begin, end = self._literals[item.node]
        inside = area.characters[0] <= begin and end <= area.characters[1]
        if inside and not any(b < end and begin < e for b, e in (one.place for one in placed)):
            return True
        if begin == end:
            return False
        if self._aligned.text[begin - 1 : begin].isspace():
            while self._aligned.text[end : end + 1].isspace():
                end += 1
        self._dropped.append((begin, end))
        return False

    def _evidence(self, item: Item) -> tuple[bool, int, int]:
        """Sorts items by the number of atoms that come from them, behind the large letter at the
        begin; earlier items win ties."""
        found = self._aligned.count_from(item.atoms, self._whole)
        return item.node is self._initial, found, -item.order

    def _tag_words(
        self, item: Item, s_area: Range, area: Area, taken: Iterable[Range]
    ) -> Range | None:
        """The atoms of the translation that a tag holds; None if there is no room for it."""
        if item.node is self._initial:
            return area.atoms[0], area.atoms[0] + 1
        return self._tags.found(item, s_area, area, taken)

    def _slice(self, begin: int, end: int) -> str:
        """Characters of the translation, without the literals that lost their places."""
        text, cursor = "", begin
        for low, high in sorted(self._dropped):
            if cursor < high and low < end:
                text += self._aligned.text[cursor : max(low, cursor)]
                cursor = max(cursor, high)
        return text + self._aligned.text[cursor:end] if cursor < end else text


def _initial(source: Nodes, text: str, target: str) -> Around | None:
    """The tag of the large letter with which a chapter begins, if the translation begins with a
    letter, too."""
    first = next((node for node in source if node != ""), "")
    if not isinstance(first, Around) or not plain([first]).isalpha() or not target[:1].isalpha():
        return None
    return first if len(plain([first])) == 1 and text[1:2].isalpha() else None


def _outside(item: Item, point: int, placed: Iterable[Item]) -> int:
    """The point, or an edge of the neighbour inside which the point lies."""
    for other in placed:
        begin, end = other.place
        if begin < point < end:
            return begin if item.order < other.order else end
    return point
