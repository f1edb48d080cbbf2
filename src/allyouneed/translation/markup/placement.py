"""Puts the markup of a text on its translation.

The nodes of the source form a tree, and the translation gets the same tree: every tag once, inside
the same tag as before. Only the places of the tags in the text are searched for, by alignment.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from allyouneed.text.atoms import atoms, is_unspaced
from allyouneed.translation.markup.links import Link, atoms_within, origins
from allyouneed.translation.markup.nodes import (
    Around,
    Bound,
    Kept,
    Node,
    Nodes,
    Void,
    leaves,
    plain,
    tidy,
)

Literal = Kept | Void | Bound
Range = tuple[int, int]
ALIGNED = 0.9  # weight of the alignment against the place, in deciding which words a tag holds
NEAR = 1.5  # distance in words from a tag's place at which the weight falls by the factor e
LIKELY = 0.2  # least weight of the first and of the last word of a tag
CLOSING = ".,;:!?…)]}»”"  # signs that no space is put before
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)+")  # of several atoms: nothing is put within it
COMPARED = 60  # most candidates for each end of a tag; of more, only the outermost are tried


@dataclass(frozen=True, slots=True)
class Transfer:
    """A translation, its links to the source, and the places of the literals in it."""

    text: str
    links: tuple[Link, ...] = ()
    literals: Mapping[Literal, Range] | None = None


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


@dataclass(slots=True, eq=False)
class _Item:
    """A node to be placed.

    `atoms` and `characters` are its places (begin, end) in the source. `place` is its place in the
    translation, in characters. `inside` are the items within it.
    """

    node: Node
    atoms: Range
    characters: Range
    order: int
    place: Range = (0, 0)
    inside: "list[_Item]" = field(default_factory=list)

    @property
    def has_words(self) -> bool:
        """Whether it holds atoms, which alignment can follow."""
        return self.atoms[0] < self.atoms[1]


@dataclass(frozen=True, slots=True)
class _Area:
    """The atoms and characters of the translation that the children of a node may use."""

    atoms: Range
    characters: Range


class _Placement:
    """Places the nodes of one passage. s is a number of an atom of the source, t of the
    translation."""

    def __init__(self, source: Nodes, transfer: Transfer, ranges: Mapping[Around, Range]) -> None:
        self.source, self.text, self.ranges = source, transfer.text, ranges
        self.plain = plain(source)
        self.literals = dict(transfer.literals or {})
        self.s_atoms = atoms(self.plain, (begin for _, begin, _ in leaves(source)))
        cuts = [n for span in self.literals.values() for n in span]
        self.initial = _initial(source, self.plain, self.text)
        self.t_atoms = atoms(self.text, [*cuts, 1] if self.initial else cuts)
        self.origin = origins(self.s_atoms, self.t_atoms, transfer.links)
        self.numbers = [match.span() for match in _NUMBER.finditer(self.text)]
        self.dropped: list[Range] = []
        for node, begin, end in leaves(source):
            if not isinstance(node, str) and node in self.literals:
                self._tie(atoms_within(self.s_atoms, (begin, end)), self.literals[node])
        self.comes_from: dict[int, list[int]] = {}
        for t, s in enumerate(self.origin):
            self.comes_from.setdefault(s, []).append(t)

    def _tie(self, source: Range, span: Range) -> None:
        """Links a literal to itself, in place of the alignment of its characters."""
        first, last = atoms_within(self.t_atoms, span)
        for t in range(first, last):
            if source[0] < source[1]:
                self.origin[t] = min(source[0] + t - first, source[1] - 1)

    def nodes(self) -> tuple[Node, ...]:
        """The whole passage."""
        area = _Area((0, len(self.t_atoms)), (0, len(self.text)))
        items = self._planned(self.source, (0, len(self.plain)), area)
        return self._written(items, area.characters)

    def _planned(self, nodes: Nodes, span: Range, area: _Area) -> list[_Item]:
        """The items of nodes, placed in an area of the translation, in the order of their places.
        The nodes have the characters `span` of the source."""
        items = self._items(nodes, span[0])
        self._find_places(items, span, area)
        items.sort(key=lambda item: (*item.place, item.order))
        cursor = area.characters[0]
        for n, item in enumerate(items):
            limit = items[n + 1].place[0] if n + 1 < len(items) else area.characters[1]
            item.place = self._with_space(item, cursor, limit)
            cursor = item.place[1]
            if isinstance(item.node, Around) and item.has_words:
                inner = _Area(atoms_within(self.t_atoms, item.place), item.place)
                item.inside = self._planned(item.node.inside, item.characters, inner)
        return items

    def _written(self, items: Sequence[_Item], characters: Range) -> tuple[Node, ...]:
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
            elif self._stands_for_space(item):
                if isinstance(found[-1], str):
                    found[-1] = found[-1].rstrip()
                found.append(item.node)
                while cursor < characters[1] and self.text[cursor].isspace():
                    cursor += 1
            else:
                found += self._spaced(item, found, begin, begin < characters[1])
        found.append(self._slice(cursor, characters[1]))
        return tidy(found)

    def _spaced(self, item: _Item, found: Sequence[Node], place: int, more: bool) -> Iterator[Node]:
        """A node without characters in the translation, with the white space of the source around
        it."""
        before, after = self._spaces_around(item)
        if not item.has_words and not (before and after):
            before = after = False
        left = plain([node for node in found if node != ""][-1:])[-1:]
        left = left or self.text[max(place - 1, 0) : place]
        right = self.text[place : place + 1] if more else ""
        parted = before and left and not (left.isspace() or is_unspaced(left))
        if parted or self._runs_together(item, 0, left):
            yield " "
        yield item.node
        parted = after and right and not (right.isspace() or is_unspaced(right) or right in CLOSING)
        if parted or self._runs_together(item, 1, right):
            yield " "

    def _runs_together(self, item: _Item, side: int, sign: str) -> bool:
        """Whether a literal would touch a letter or digit on this side that it does not touch in
        the source."""
        begin, end = item.characters
        beside = self.plain[end : end + 1] if side else self.plain[max(begin - 1, 0) : begin]
        return item.has_words and sign.isalnum() and sign != beside and not is_unspaced(sign)

    def _items(self, nodes: Nodes, begin: int) -> list[_Item]:
        items, order = [], 0
        for node in nodes:
            end = begin + len(plain([node]))
            if not isinstance(node, str):
                items.append(
                    _Item(node, atoms_within(self.s_atoms, (begin, end)), (begin, end), order)
                )
            begin, order = end, order + 1
        return items

    def _find_places(self, items: list[_Item], span: Range, area: _Area) -> None:
        """Gives each item a place in the translation; the places do not overlap."""
        taken: list[Range] = []  # in atoms
        placed: list[_Item] = []
        for item in items:
            if self._is_given(item) or self._found_literally(item, area, placed):
                taken.append(atoms_within(self.t_atoms, item.place))
                placed.append(item)
        tags = [item for item in items if isinstance(item.node, Around) and item.has_words]
        s_area = atoms_within(self.s_atoms, span)
        for item in sorted(tags, key=self._evidence, reverse=True):
            if item in placed:
                continue
            found = self._range(item, s_area, area, taken)
            if found is not None:
                taken.append(found)
                item.place = self.t_atoms[found[0]].begin, self.t_atoms[found[1] - 1].end
                placed.append(item)
        for item in items:
            if item not in placed:
                point = _outside(item, self._point_beside_numbers(item, span, area), placed)
                item.place = point, point

    def _is_given(self, item: _Item) -> bool:
        """Whether `ranges` prescribes the place of the item, which is then set."""
        if not isinstance(item.node, Around) or item.node not in self.ranges:
            return False
        item.place = self.ranges[item.node]
        return True

    def _found_literally(self, item: _Item, area: _Area, placed: Sequence[_Item]) -> bool:
        """Whether the item is a literal with a place in the area, which is then set. A literal with
        a place outside of the area loses it."""
        if isinstance(item.node, (str, Around)) or item.node not in self.literals:
            return False
        item.place = begin, end = self.literals[item.node]
        inside = area.characters[0] <= begin and end <= area.characters[1]
        if inside and not any(b < end and begin < e for b, e in (one.place for one in placed)):
            return True
        if self.text[begin - 1 : begin].isspace():
            while self.text[end : end + 1].isspace():
                end += 1
        self.dropped.append((begin, end))
        return False

    def _evidence(self, item: _Item) -> tuple[bool, int, int]:
        """Sorts items by the number of atoms that come from them, behind the large letter at the
        begin; earlier items win ties."""
        low, high = item.atoms
        found = sum(low <= s < high for s in self.origin)
        return item.node is self.initial, found, -item.order

    def _range(
        self, item: _Item, s_area: Range, area: _Area, taken: Iterable[Range]
    ) -> Range | None:
        """The atoms of the translation that a tag holds; None if there is no room for it."""
        low, high = area.atoms
        if item.node is self.initial:
            return low, low + 1
        free = [True] * (high - low)
        for begin, end in taken:
            free[begin - low : end - low] = [False] * (end - begin)
        if item.atoms == s_area and all(free) and low < high:
            return low, high
        return (
            self._same_text(item, area, free)
            or self._sign_of_ordinal(item, area, free)
            or self._best(item, s_area, area, free)
            or self._nearest(item, s_area, area, free)
        )

    def _same_text(self, item: _Item, area: _Area, free: list[bool]) -> Range | None:
        """The place of the tag's own words in the translation, if they are unchanged there, such
        as a name; or that of its signs, if it has no words."""
        own = self.s_atoms[slice(*item.atoms)]
        wanted = [atom.text for atom in own]
        words = [atom.text for atom in own if atom.is_word]
        if words and max(map(len, words)) < 2 and not all(map(str.isdigit, words)):
            return None
        low, high = area.atoms
        found = [
            t
            for t in range(low, high - len(wanted) + 1)
            if self.t_atoms[t].text == wanted[0]
            and all(free[t - low : t - low + len(wanted)])
            and [atom.text for atom in self.t_atoms[t : t + len(wanted)]] == wanted
        ]
        if not found:
            return None

        def agreeing(t: int) -> int:
            origin = self.origin[t : t + len(wanted)]
            return sum(item.atoms[0] <= s < item.atoms[1] for s in origin)

        best = max(found, key=lambda t: (agreeing(t), -t))
        return best, best + len(wanted)

    def _sign_of_ordinal(self, item: _Item, area: _Area, free: list[bool]) -> Range | None:
        """The full stop behind a number, for the raised letters of `1<sup>st</sup>`."""
        number = item.atoms[0] - 1
        if not (isinstance(item.node, Around) and item.node.script == "super" and number >= 0):
            return None
        if not self.s_atoms[number].text.isdigit():
            return None
        low, high = area.atoms
        for t in self._from(number, area):
            stop = t + 1
            if stop < high and free[stop - low] and self.t_atoms[stop].text == ".":
                return stop, stop + 1
        return None

    def _best(self, item: _Item, s_area: Range, area: _Area, free: list[bool]) -> Range | None:
        """The range of atoms with the highest Dice coefficient with the atoms that belong to the
        tag. Both alignment and place say how much an atom belongs to it, because attention is often
        one word off, and the order of words is mostly the same."""
        low, high = area.atoms
        words = [atom.is_word for atom in self.t_atoms[low:high]]
        expected = self._words(item.atoms) * sum(words) / max(self._words(s_area), 1)
        known = any(item.atoms[0] <= s < item.atoms[1] for s in self.origin[low:high])
        most = high - low if known else max(round(expected), 1)
        belongs = self._belonging(item, s_area, area)
        sums, counts, blocked = [0.0], [0], [0]
        for one, is_word, is_free in zip(belongs, words, free, strict=True):
            sums.append(sums[-1] + one * is_word)
            counts.append(counts[-1] + is_word)
            blocked.append(blocked[-1] + (not is_free))
        ends = [n for n, one in enumerate(belongs) if one >= LIKELY and free[n] and words[n]]
        if len(ends) > COMPARED:
            ends = ends[: COMPARED // 2] + ends[-COMPARED // 2 :]
        best, best_score = None, 0.0
        for n, begin in enumerate(ends):
            for last in ends[n:]:
                end = last + 1
                if blocked[end] > blocked[begin] or counts[end] - counts[begin] > most:
                    break
                score = 2 * (sums[end] - sums[begin]) / (counts[end] - counts[begin] + expected)
                if score > best_score:
                    best, best_score = (low + begin, low + end), score
        return self._with_signs(item, best, area, free) if best else None

    def _belonging(self, item: _Item, s_area: Range, area: _Area) -> list[float]:
        """How much each atom of the area belongs to a tag, from 0 to 1."""
        first, last = item.atoms
        before, inside = self._words((s_area[0], first)), self._words(item.atoms)
        targets = self.t_atoms[slice(*area.atoms)]
        scale = sum(atom.is_word for atom in targets) / max(self._words(s_area), 1)
        begin, end = before * scale, (before + inside) * scale
        found = []
        words = 0
        for atom, origin in zip(targets, self.origin[slice(*area.atoms)], strict=True):
            away = max(begin - words - 0.5, words + 0.5 - end, 0.0)
            by_origin = first <= origin < last
            found.append(ALIGNED * by_origin + (1 - ALIGNED) * math.exp(-away / NEAR))
            words += atom.is_word
        return found

    def _words(self, atoms: Range) -> int:
        """The number of words among these atoms of the source."""
        return sum(atom.is_word for atom in self.s_atoms[slice(*atoms)])

    def _with_signs(self, item: _Item, found: Range, area: _Area, free: list[bool]) -> Range:
        """The range, extended by the sign before or after it if the tag begins or ends with the
        same sign."""
        begin, end = found
        first, last = self.s_atoms[item.atoms[0]], self.s_atoms[item.atoms[1] - 1]
        low, high = area.atoms
        if not first.is_word and begin > low and free[begin - 1 - low]:
            begin -= self.t_atoms[begin - 1].text == first.text
        if not last.is_word and end < high and free[end - low]:
            end += self.t_atoms[end].text == last.text
        return begin, end

    def _nearest(self, item: _Item, s_area: Range, area: _Area, free: list[bool]) -> Range | None:
        """One free word near the expected place of the tag, preferably a word without a link. A tag
        such as a hyperlink needs a word, or nobody could click on it."""
        low, high = area.atoms
        words = [t for t in range(low, high) if free[t - low] and self.t_atoms[t].is_word]
        if not words:
            return None
        share = (sum(item.atoms) / 2 - s_area[0]) / max(s_area[1] - s_area[0], 1)
        middle = low + share * (high - low) - 0.5
        best = min(words, key=lambda t: (abs(t - middle) + 2 * (self.origin[t] >= 0), t))
        return best, best + 1

    def _point_beside_numbers(self, item: _Item, span: Range, area: _Area) -> int:
        """The character before which an item without characters is put, if that is not within a
        number; else the end of the number."""
        point = self._point(item, span, area)
        for begin, end in self.numbers:
            if begin < point < end:
                return min(end, area.characters[1])
        return point

    def _point(self, item: _Item, span: Range, area: _Area) -> int:
        """The character at which the alignment puts an item without characters."""
        s_low, s_high = atoms_within(self.s_atoms, span)
        before, after = item.atoms[0] - 1, item.atoms[1]
        low, high = area.characters
        t_low, t_high = area.atoms
        begin, end = item.characters
        if before < s_low:  # it stands before all words
            first = self.t_atoms[t_low].begin if t_low < t_high else high
            return min(low + begin - span[0], first)
        if after >= s_high:
            last = self.t_atoms[t_high - 1].end if t_low < t_high else low
            return max(high - (span[1] - end), last)
        glued_left = self.s_atoms[before].end == begin
        glued_right = self.s_atoms[after].begin == end
        to_left = glued_left or item.has_words or isinstance(item.node, Bound)
        if glued_right and self.s_atoms[after].is_word:
            to_left = False
        searched = (self._after(before, s_low, area), self._before(after, s_high, area))
        left, right = searched
        if left is None and right is None:
            share = (begin - span[0]) / max(span[1] - span[0], 1)
            t = min(t_low + round(share * (t_high - t_low)), t_high - 1)
            return self.t_atoms[t].begin if t >= t_low else high
        if left is None or (right is not None and not to_left):
            assert right is not None
            return right
        if isinstance(item.node, Bound) and not glued_left:  # the space before a mark of a note
            left += self.text[left : left + 2].isspace()
        return left

    def _after(self, s: int, s_low: int, area: _Area) -> int | None:
        """The end of the words that come from atom s, or from one of the two atoms before it."""
        for source in range(s, max(s - 3, s_low - 1), -1):
            if found := self._from(source, area):
                return self.t_atoms[found[-1]].end
        return None

    def _before(self, s: int, s_high: int, area: _Area) -> int | None:
        """The begin of the words that come from atom s, or from one of the two atoms after it."""
        for source in range(s, min(s + 3, s_high)):
            if found := self._from(source, area):
                return self.t_atoms[found[0]].begin
        return None

    def _from(self, s: int, area: _Area) -> list[int]:
        """The atoms of the area that come from atom s."""
        found = self.comes_from.get(s, [])
        return found[bisect_left(found, area.atoms[0]) : bisect_left(found, area.atoms[1])]

    def _with_space(self, item: _Item, cursor: int, limit: int) -> Range:
        """The place of an item. A tag includes the white space at its edges if it does so in the
        source."""
        begin = max(item.place[0], cursor)
        end = max(item.place[1], begin)
        if not isinstance(item.node, Around) or not item.has_words or begin == end:
            return begin, end
        inside = self.plain[slice(*item.characters)]
        if inside[:1].isspace():
            while begin > cursor and self.text[begin - 1].isspace():
                begin -= 1
        if inside[-1:].isspace():
            while end < limit and self.text[end].isspace():
                end += 1
        return begin, end

    def _spaces_around(self, item: _Item) -> tuple[bool, bool]:
        """Whether white space, or an end of the passage, is on each side of it in the source."""
        begin, end = item.characters
        before, after = self.plain[max(begin - 1, 0) : begin], self.plain[end : end + 1]
        return not before or before.isspace(), not after or after.isspace()

    def _stands_for_space(self, item: _Item) -> bool:
        """Whether the item itself is white space, such as a line break between two words."""
        begin, end = item.characters
        beside = self.plain[max(begin - 1, 0) : begin] + self.plain[end : end + 1]
        return begin < end and not item.has_words and not any(map(str.isspace, beside))

    def _slice(self, begin: int, end: int) -> str:
        """Characters of the translation, without the literals that lost their places."""
        text, cursor = "", begin
        for low, high in sorted(self.dropped):
            if cursor < high and low < end:
                text += self.text[cursor : max(low, cursor)]
                cursor = max(cursor, high)
        return text + self.text[cursor:end] if cursor < end else text


def _initial(source: Nodes, text: str, target: str) -> Around | None:
    """The tag of the large letter with which a chapter begins, if the translation begins with a
    letter, too."""
    first = next((node for node in source if node != ""), "")
    if not isinstance(first, Around) or not plain([first]).isalpha() or not target[:1].isalpha():
        return None
    return first if len(plain([first])) == 1 and text[1:2].isalpha() else None


def _outside(item: _Item, point: int, placed: Iterable[_Item]) -> int:
    """The point, or an edge of the neighbour inside which the point lies."""
    for other in placed:
        begin, end = other.place
        if begin < point < end:
            return begin if item.order < other.order else end
    return point
