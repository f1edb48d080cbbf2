"""The common part of all kinds of tokenizers: their file, and the check of an id."""

import hashlib
from pathlib import Path
from typing import SupportsIndex

from allyouneed.checks import expect_path, shortened
from allyouneed.errors import UsageError
from allyouneed.files import write_whole


class StoredTokenizer:
    """A tokenizer that is written to `tokenizer.json` as the text `to_json` gives."""

    def __len__(self) -> int:
        raise NotImplementedError

    def to_json(self) -> str:
        """The whole tokenizer, both sides, as JSON; `opening.read_tokenizer` reads it."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Writes `to_json()` to a new file and renames that file to `path`.

        Raises:
            OSError: no room or no permission. A file already at `path` is then unchanged.
            UsageError: `path` is no path.
        """
        expect_path(path, "path")
        write_whole(path, self.to_json())

    def fingerprint(self) -> str:
        """SHA-256 of `to_json()`, in hexadecimal: equal for equal tokenizers."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def _has(self, id: int) -> bool:
        """Whether this value is an id of the vocabulary."""
        return isinstance(id, SupportsIndex) and 0 <= id < len(self)

    def _outside(self, id: int) -> UsageError:
        """The error for an id that is not in the vocabulary."""
        return UsageError(
            f"id {shortened(id)} is outside this vocabulary of {len(self)} pieces; "
            "use the tokenizer.json of the model that wrote it"
        )
