"""Tokenizers whose decoded text is the concatenation of the pieces' bytes."""

from collections.abc import Iterable, Sequence

from allyouneed.checks import expect_list
from allyouneed.text.growing_text import GrowingText
from allyouneed.text.stored import StoredTokenizer

IDS = "a list of ids"


class ConcatenatingTokenizer(StoredTokenizer):
    """A tokenizer in which each piece adds the same bytes to a text, whatever its neighbours.

    One space at the very start of a decoded text is left out.
    """

    def spelling(self, id: int) -> bytes:
        """The bytes (UTF-8) that one piece adds to a text; none for padding, start and end.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        raise NotImplementedError

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids. Padding, start and end have no text.

        Bytes that are not UTF-8, which a model may write, become U+FFFD.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        expect_list(ids, "ids", IDS)
        spelt = b"".join(map(self.spelling, ids))
        return spelt.removeprefix(b" ").decode(errors="replace")

    def spans(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """For each id the characters of `decode(ids)` that its piece touches: (begin, end).

        Any ids will do. A model may write ids that `encode` would not give, and bytes that are
        not UTF-8.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        expect_list(ids, "ids", IDS)
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
        """A decoder that takes one id at a time and returns the text as far as it is certain."""
        return GrowingText(self.spelling)


def _characters(spelt: bytes) -> list[int]:
    """For each byte, and for the end of the bytes, the index of its character in the decoded text.

    Each U+FFFD that `decode` writes for bytes that are not UTF-8 counts as one character.
    """
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
