"""A text that grows token by token."""

import codecs
from collections.abc import Callable


class GrowingText:
    """Gives out what each token adds, whole characters only.

    `spelling` gives the bytes of each piece. All that was given out, joined, is
    `tokenizer.decode(ids).strip()`: bytes wait until their character is whole, and white space
    until something else comes behind it.
    """

    def __init__(self, spelling: Callable[[int], bytes]) -> None:
        self._spelling = spelling
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._blank = ""
        self._begun = False

    def add(self, id: int) -> str:
        """What can be given out now that this token has come; often nothing.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        return self._taken(self._decoder.decode(self._spelling(id)))

    def end(self) -> str:
        """What is left: U+FFFD for a character that has never become whole, or nothing."""
        return self._taken(self._decoder.decode(b"", final=True))

    def _taken(self, characters: str) -> str:
        text = self._blank + characters if self._begun else characters.lstrip()
        given = text.rstrip()
        self._blank = text[len(given) :]
        self._begun = self._begun or bool(given)
        return given
