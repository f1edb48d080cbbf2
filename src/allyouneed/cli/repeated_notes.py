"""Notes that many lines of a file have in common."""

import re
from collections import defaultdict

from allyouneed.cli.output import note

EXAMPLES = 10  # line numbers in a summary


class RepeatedNotes:
    """Tells the first note of each kind at once, and how many others there were at the end.

    Notes are of one kind when they differ in nothing but numbers. `unit` is what is counted, such
    as "line".
    """

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._seen: dict[str, list[int]] = defaultdict(list)

    def add(self, number: int, text: str) -> None:
        """A note about line `number`."""
        numbers = self._seen[re.sub(r"\d+", "N", text)]
        if not numbers:
            note(f"{self._unit} {number}: {text}")
        numbers.append(number)

    def tell_rest(self) -> None:
        """A line for each kind of which there was more than the note that was told."""
        for first, *rest in self._seen.values():
            if rest:
                which = ", ".join(map(str, rest[:EXAMPLES])) + (", ..." if rest[EXAMPLES:] else "")
                units = f"{self._unit}s" if rest[1:] else self._unit
                note(f"{len(rest):,} more {units} like {self._unit} {first}: {which}")
