"""Summarises notes that are the same for many lines of a file."""

import re
from collections import defaultdict

from allyouneed.cli.output import note

EXAMPLES = 10  # line numbers in a summary


class RepeatedNotes:
    """Writes the first note of each kind at once, and the number of the others at the end.

    Notes are of the same kind if they differ only in their numbers. `unit` names the items that
    have notes, such as "line".
    """

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._seen: dict[str, list[int]] = defaultdict(list)

    def add(self, number: int, text: str) -> None:
        """Adds a note about line `number`."""
        numbers = self._seen[re.sub(r"\d+", "N", text)]
        if not numbers:
            note(f"{self._unit} {number}: {text}")
        numbers.append(number)

    def tell_rest(self) -> None:
        """Writes a line for each kind with more than one note."""
        for first, *rest in self._seen.values():
            if rest:
                which = ", ".join(map(str, rest[:EXAMPLES])) + (", ..." if rest[EXAMPLES:] else "")
                units = f"{self._unit}s" if rest[1:] else self._unit
                note(f"{len(rest):,} more {units} like {self._unit} {first}: {which}")
