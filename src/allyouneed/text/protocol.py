"""The methods that every kind of tokenizer has."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from allyouneed.text.encoding import Encoding


class Growing(Protocol):
    """A decoder that takes one id at a time and returns the text as far as it is certain.

    The returned parts, joined, are `decode(ids).strip()`.
    """

    def add(self, id: int) -> str:
        """The text that is certain once this id is known and was not returned before; often "".

        Raises:
            UsageError: an id outside the vocabulary.
        """

    def end(self) -> str:
        """The rest of the text."""


@runtime_checkable
class AnyTokenizer(Protocol):
    """The vocabulary of one side, source or target: from text to ids and back.

    A model has the tokenizer of its sources; that tokenizer's `target` is the tokenizer of its
    translations. Both are the same object if the sides share one vocabulary. `Tokenizer` is this
    project's own kind. Imported models have other kinds; `opening.READERS` has their readers.
    """

    PAD: int
    START: int
    END: int
    UNKNOWN: int

    @property
    def target(self) -> "AnyTokenizer":
        """The tokenizer of translations. Its own `target` is itself."""

    def __len__(self) -> int:
        """The number of pieces. Ids are 0 … len - 1."""

    def encode(self, text: str) -> Encoding:
        """One text's ids, readable pieces and spans; all three end with the end of the sentence."""

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts' ids; every list ends in `END`."""

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids.

        Raises:
            UsageError: an id outside the vocabulary.
        """

    def piece(self, id: int) -> str:
        """One piece as readable text.

        Raises:
            UsageError: an id outside the vocabulary.
        """

    def spans(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """For each id the characters of `decode(ids)` that its piece touches: (begin, end).

        Raises:
            UsageError: an id outside the vocabulary.
        """

    def growing(self) -> Growing:
        """A decoder that takes one id at a time and returns the text as far as it is certain."""

    def to_json(self) -> str:
        """The whole tokenizer, both sides, as JSON; `opening.read_tokenizer` reads it."""

    def save(self, path: str | Path) -> None:
        """Writes `to_json` to a file.

        Raises:
            OSError: no room or no permission. A file already at `path` is then unchanged.
        """

    def fingerprint(self) -> str:
        """SHA-256 of the JSON, in hexadecimal."""


@runtime_checkable
class Coded(Protocol):
    """A tokenizer of a model whose texts may begin with a language code."""

    def code(self, text: str) -> str:
        """The language code at the beginning of a text, such as ">>fra<<"; "" if there is none.

        The code applies to the whole text. Every part of a split text needs it.
        """
