"""A passage and its translation, both cut into atoms, and which atom comes from which."""

from bisect import bisect_left
from collections.abc import Iterable

from allyouneed.text.atoms import atoms
from allyouneed.translation.markup.items import Area
from allyouneed.translation.markup.links import atoms_within, origins
from allyouneed.translation.markup.nodes import Nodes, leaves, plain
from allyouneed.translation.markup.transfer import Range, Transfer


class AlignedAtoms:
    """The atoms of one passage: s is a number of an atom of the source, t of the translation.

    `source` and `text` are the two texts. `origin` has for each t the s from which it comes; -1 if
    that is unknown.
    """

    def __init__(self, passage: Nodes, transfer: Transfer, cuts: Iterable[int]) -> None:
        """No atom of the translation goes across a place in `cuts`."""
        self.source, self.text = plain(passage), transfer.text
        self.s_atoms = atoms(self.source, (begin for _, begin, _ in leaves(passage)))
        self.t_atoms = atoms(self.text, cuts)
        self.origin = origins(self.s_atoms, self.t_atoms, transfer.links)
        literals = transfer.literals or {}
        for node, begin, end in leaves(passage):
            if not isinstance(node, str) and node in literals:
                self._tie(atoms_within(self.s_atoms, (begin, end)), literals[node])
        self._comes_from: dict[int, list[int]] = {}
        for t, s in enumerate(self.origin):
            self._comes_from.setdefault(s, []).append(t)

    def _tie(self, source: Range, span: Range) -> None:
        """Links a literal to itself, in place of the alignment of its characters."""
        first, last = atoms_within(self.t_atoms, span)
        for t in range(first, last):
            if source[0] < source[1]:
                self.origin[t] = min(source[0] + t - first, source[1] - 1)

    def come_from(self, s: int, area: Area) -> list[int]:
        """The atoms of the area that come from atom s."""
        found = self._comes_from.get(s, [])
        return found[bisect_left(found, area.atoms[0]) : bisect_left(found, area.atoms[1])]

    def count_from(self, atoms: Range, area: Area) -> int:
        """How many atoms of the area come from these atoms of the source."""
        low, high = atoms
        return sum(low <= s < high for s in self.origin[slice(*area.atoms)])

    def words(self, atoms: Range) -> int:
        """The number of words among these atoms of the source."""
        return sum(atom.is_word for atom in self.s_atoms[slice(*atoms)])
