"""Marian's text rules: two SentencePiece models, and tables of the ids of their pieces.

The kind "marian" of tokenizer.json holds both unchanged `.spm` files in base64.
"""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from allyouneed.text.sentencepiece_tokenizer import SentencePieceTokenizer

LANGUAGE_CODE = re.compile(">>.*?<<", re.DOTALL)  # ">>fra<< Good morning." asks for French


class MarianTokenizer(SentencePieceTokenizer):
    """One side of a Marian model. It cuts texts as `transformers.MarianTokenizer` does.

    Two differences: "</s>" and other special pieces written in a text are ordinary text here, and
    the id of the unknown piece is decoded as U+FFFD.
    """

    KIND = "marian"

    def __init__(self, contents: Mapping[str, Any], side: str = "source") -> None:
        """`contents` are those of tokenizer.json; `side` is "source" or "target".

        Raises:
            ValueError: a table does not fit. The message says which one, and why.
        """
        own = "vocabulary" if side == "source" else "target_vocabulary"
        ids: Mapping[str, int] = contents[own] or contents["vocabulary"]
        special: Mapping[str, str] = contents["special"]
        if sorted(ids.values()) != list(range(len(ids))):
            raise ValueError(f"{side} ids are not 0 to {len(ids) - 1}, each once")
        if missing := [piece for piece in special.values() if piece not in ids]:
            raise ValueError(f"the {side} vocabulary lacks {missing[0]}")
        self.PAD, self.END, self.UNKNOWN = (
            ids[special[name]] for name in ("pad", "end", "unknown")
        )
        self.START = self.PAD  # Marian's targets begin with padding
        super().__init__(
            contents,
            side,
            file=contents[side],
            spelt=sorted(ids, key=ids.__getitem__),
            ids=ids,
            silent=(self.PAD, self.END),
        )
        self._codes = bool(contents.get("language_codes", True))
        self.target = self if side == "target" else MarianTokenizer(contents, "target")

    @classmethod
    def of_files(
        cls,
        source: bytes,
        target: bytes,
        vocabulary: Mapping[str, int],
        target_vocabulary: Mapping[str, int] | None,
        special: Mapping[str, str],
        language_codes: bool = True,
    ) -> "MarianTokenizer":
        """The tokenizer of these two `.spm` files.

        Without `target_vocabulary` both sides have the same ids. `special` says how "pad", "end"
        and "unknown" are spelt. Without `language_codes`, a beginning such as ">>fra<<" is ordinary
        text.

        Raises:
            ValueError: a table does not fit. The message says which one, and why.
            ModelFolderError: a `.spm` file is damaged or of a kind that is not supported.
        """
        found = cls(
            {
                "kind": cls.KIND,
                "special": dict(special),
                **({} if language_codes else {"language_codes": False}),
                "source": base64.b64encode(source).decode(),
                "target": base64.b64encode(target).decode(),
                "vocabulary": dict(vocabulary),
                "target_vocabulary": None if target_vocabulary is None else dict(target_vocabulary),
            }
        )
        found.target.check()
        found.check()
        return found

    @property
    def ids(self) -> Mapping[str, int]:
        """The id of each piece of this side, by its spelling."""
        return self._ids

    @property
    def target_vocabulary(self) -> Mapping[str, int] | None:
        """The ids of the target side; None if both sides share their ids."""
        found: Mapping[str, int] | None = self._contents["target_vocabulary"]
        return found

    def code(self, text: str) -> str:
        """The language code at the beginning of a text, such as ">>fra<<"; "" if there is none."""
        found = LANGUAGE_CODE.match(text) if self._codes else None
        return found[0] if found else ""

    def _prefix(self, text: str) -> str:
        return self.code(text)

    def files(self) -> dict[str, bytes]:
        """The files of `transformers.MarianTokenizer` by name, without its configuration."""
        tables = {"vocab.json": "vocabulary", "target_vocab.json": "target_vocabulary"}
        written = {
            name: json.dumps(self._contents[key], ensure_ascii=False, indent=2).encode()
            for name, key in tables.items()
            if self._contents[key] is not None
        }
        return {**written, "source.spm": self._file, "target.spm": self.target._file}
