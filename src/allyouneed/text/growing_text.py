"""Decodes a text one id at a time."""

import codecs
from collections.abc import Callable


class GrowingText:
    """Takes one id at a time and returns the text as far as it is certain.

    `spelling` gives the bytes of each piece. Bytes of an incomplete character are kept until the
    character is complete, white space until other text follows it. The returned parts, joined, are
    `tokenizer.decode(ids).strip()`.
    """

    def __init__(self, spelling: Callable[[int], bytes]) -> None:
        self._spelling = spelling
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._blank = ""
        self._begun = False

    def add(self, id: int) -> str:
        """The text that is certain once this id is known and was not returned before; often "".

        Raises:
            UsageError: an id outside the vocabulary.
        """
        return self._without_edges(self._decoder.decode(self._spelling(id)))

    def end(self) -> str:
        """The rest: U+FFFD for a character that was never completed, or ""."""
        return self._without_edges(self._decoder.decode(b"", final=True))

    def _without_edges(self, characters: str) -> str:
        """The characters without white space at the start and (so far) the end of the text."""
        text = self._blank + characters if self._begun else characters.lstrip()
        certain = text.rstrip()
        self._blank = text[len(certain) :]
        self._begun = self._begun or bool(certain)
        return certain
