"""Texts that are their pieces' spellings, one behind the other."""

from collections.abc import Sequence

from allyouneed.text.growing_text import GrowingText


class Spelt:
    """A tokenizer each of whose pieces adds the same bytes to a text, whatever stands around it;
    a space at the very start is left out."""

    def spelling(self, id: int) -> bytes:
        """What one piece adds to a text, in UTF-8; none for padding, start and end.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        raise NotImplementedError

    def spans(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """The characters of `decode(ids)` that each piece touches, begin and end, for any ids: what
        a model writes need not be how its text would be tokenised, nor UTF-8.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        spellings = [self.spelling(id) for id in ids]
        spelt = b"".join(spellings)
        added = len(spelt) - len(spelt.removeprefix(b" "))
        character = _characters(spelt[added:])
        found: list[tuple[int, int]] = []
        begin = -added
        for spelling in spellings:
            end = begin + len(spelling)
            first = character[max(begin, 0)]
            found.append((first, first if end <= max(begin, 0) else character[end - 1] + 1))
            begin = end
        return found

    def growing(self) -> GrowingText:
        """A text that grows token by token."""
        return GrowingText(self.spelling)


def _characters(spelt: bytes) -> list[int]:
    """For each byte, and for the one after the last, its character's number; bytes that are no
    UTF-8 are as many characters as `decode` writes U+FFFD for them."""
    numbers: list[int] = []
    count = 0
    while True:
        try:
            good, bad = spelt.decode(), 0
        except UnicodeDecodeError as error:
            good, bad = spelt[: error.start].decode(), error.end - error.start
        widths = [len(character.encode()) for character in good] + [bad] * bool(bad)
        for width in widths:
            numbers += [count] * width
            count += 1
        spelt = spelt[sum(widths) :]
        if not spelt:
            return [*numbers, count]
