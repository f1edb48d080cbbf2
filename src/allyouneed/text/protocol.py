"""What everything above asks of a tokenizer, whichever text rules it follows."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from allyouneed.text.tokenizer import Encoding


class Growing(Protocol):
    """A text that grows token by token; all that is given out, joined, is `decode(ids).strip()`."""

    def add(self, id: int) -> str:
        """What can be given out now that this token has come; often nothing.

        Raises:
            UsageError: an id outside the vocabulary.
        """

    def end(self) -> str:
        """What is left."""


class AnyTokenizer(Protocol):
    """One side's vocabulary, and the way from text to ids and back.

    A model's tokenizer is that of its sources; `target` is that of its translations, the same one
    where the two sides share everything. `Tokenizer` is this project's own; imported models bring
    others, each kind with a reader in `opening.READERS`.
    """

    PAD: int
    START: int
    END: int
    UNKNOWN: int

    @property
    def target(self) -> "AnyTokenizer":
        """The tokenizer of translations; its own `target` is itself."""

    def __len__(self) -> int:
        """Pieces of the vocabulary; ids are 0 to one less."""

    def encode(self, text: str) -> Encoding:
        """One text's ids, readable pieces and spans; all end with the end of the sentence."""

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts' ids; every list ends in `END`."""

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids.

        Raises:
            UsageError: an id outside the vocabulary.
        """

    def piece(self, id: int) -> str:
        """One piece made readable.

        Raises:
            UsageError: an id outside the vocabulary.
        """

    def spans(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """The characters of `decode(ids)` that each piece touches, begin and end, for any ids.

        Raises:
            UsageError: an id outside the vocabulary.
        """

    def growing(self) -> Growing:
        """A text that grows token by token."""

    def to_json(self) -> str:
        """The whole tokenizer, both sides, as JSON; `opening.read_tokenizer` reads it."""

    def save(self, path: str | Path) -> None:
        """Writes `to_json` to a file.

        Raises:
            OSError: no room or no permission; a file that was there stays as it was.
        """

    def fingerprint(self) -> str:
        """SHA-256 of the JSON, in hexadecimal."""


@runtime_checkable
class Coded(Protocol):
    """A tokenizer of a model that has to be told something about a text at its beginning."""

    def code(self, text: str) -> str:
        """What stands at the beginning, such as ">>fra<<"; it holds for every part of the text."""
