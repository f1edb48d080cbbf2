"""Replaces parts of a text, and maps places between the old and the new text."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable


class Rewriting:
    """`text` is the old text with its replacements (begin, end, new), which must be in order and
    not overlap."""

    def __init__(self, old: str, replacements: Iterable[tuple[int, int, str]]) -> None:
        parts: list[str] = []
        self._old: list[int] = [0]  # where stretches begin: unchanged and replaced by turns
        self._new: list[int] = [0]
        place, length = 0, 0
        for begin, end, new in replacements:
            parts += [old[place:begin], new]
            length += begin - place
            self._old += [begin, end]
            self._new += [length, length + len(new)]
            place, length = end, length + len(new)
        parts.append(old[place:])
        self.text = "".join(parts)

    def old_span(self, begin: int, end: int) -> tuple[int, int]:
        """The place in the old text of (begin, end) in the new text. A replacement counts whole."""
        first = bisect_right(self._new, begin) - 1
        last = bisect_left(self._new, end) - 1
        old_begin = self._old[first] + (0 if first % 2 else begin - self._new[first])
        if last % 2:
            return old_begin, self._old[last + 1]
        return old_begin, max(self._old[last] + end - self._new[last], old_begin)

    def new_span(self, begin: int, end: int) -> tuple[int, int]:
        """The place in the new text of (begin, end) in the old text."""
        first = bisect_right(self._old, begin) - 1
        last = bisect_left(self._old, end) - 1
        new_begin = self._new[first] + (0 if first % 2 else begin - self._old[first])
        if last % 2:
            return new_begin, self._new[last + 1]
        return new_begin, max(self._new[last] + end - self._old[last], new_begin)
