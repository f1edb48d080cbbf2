"""Marian's text rules: two SentencePiece models, and tables of the ids that their pieces have.

The kind "marian" of tokenizer.json holds both `.spm` files as they were, in base64.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.files import write_whole
from allyouneed.text.clean import clean
from allyouneed.text.sentencepiece_file import SPACE
from allyouneed.text.sentencepiece_model import SentencePieceModel
from allyouneed.text.spelt import Spelt
from allyouneed.text.tokenizer import Encoding

KIND = "marian"
BYTE = re.compile("<0x[0-9A-F]{2}>")
LANGUAGE_CODE = re.compile(">>.*?<<", re.DOTALL)  # as ">>fra<< Good morning." asks for French


class MarianTokenizer(Spelt):
    """One side of a Marian model, cutting texts as `transformers.MarianTokenizer` does.

    Two things are kept apart that it mixes: "</s>" and other special pieces written in a text are
    text, and an id for what is unknown is shown as U+FFFD.
    """

    def __init__(self, contents: Mapping[str, Any], side: str = "source") -> None:
        """`contents` are those of tokenizer.json; `side` is "source" or "target".

        Raises:
            ValueError: a table that does not fit; it says which, and why.
        """
        self._contents, self._side = contents, side
        own = "vocabulary" if side == "source" else "target_vocabulary"
        self._ids: Mapping[str, int] = contents[own] or contents["vocabulary"]
        special: Mapping[str, str] = contents["special"]
        if sorted(self._ids.values()) != list(range(len(self._ids))):
            raise ValueError(f"{side} ids are not 0 to {len(self._ids) - 1}, each once")
        if missing := [piece for piece in special.values() if piece not in self._ids]:
            raise ValueError(f"the {side} vocabulary lacks {missing[0]}")
        self._spelt: list[str] = sorted(self._ids, key=self._ids.__getitem__)
        self._file = base64.b64decode(contents[side], validate=True)
        self.PAD, self.END, self.UNKNOWN = (
            self._ids[special[name]] for name in ("pad", "end", "unknown")
        )
        self.START = self.PAD  # Marian's targets begin with it
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
        """The tokenizer of these two `.spm` files; without a `target_vocabulary` both sides have
        the same ids. `special` says how "pad", "end" and "unknown" are spelt. Without
        `language_codes`, what looks like one at the beginning of a text is text.

        Raises:
            ValueError: a table that does not fit; it says which, and why.
            ModelFolderError: the same of a `.spm` file.
        """
        found = cls(
            {
                "kind": KIND,
                "special": dict(special),
                **({} if language_codes else {"language_codes": False}),
                "source": base64.b64encode(source).decode(),
                "target": base64.b64encode(target).decode(),
                "vocabulary": dict(vocabulary),
                "target_vocabulary": None if target_vocabulary is None else dict(target_vocabulary),
            }
        )
        for side in (found.target, found):
            side.check()
        return found

    def check(self) -> None:
        """Reads this side's `.spm` file, which else the first text does.

        Raises:
            ModelFolderError: it is damaged, or of a kind that is not read.
        """
        self._model  # noqa: B018

    @cached_property
    def _model(self) -> SentencePieceModel:
        try:
            return SentencePieceModel(self._file)
        except ValueError as error:
            raise ModelFolderError(f"{self._side}.spm: {error}") from error

    @property
    def ids(self) -> Mapping[str, int]:
        """The id of each piece of this side, by its spelling."""
        return self._ids

    @property
    def target_vocabulary(self) -> Mapping[str, int] | None:
        """The ids of the target side, where it has a vocabulary of its own."""
        found: Mapping[str, int] | None = self._contents["target_vocabulary"]
        return found

    def __len__(self) -> int:
        return len(self._ids)

    def encode(self, text: str) -> Encoding:
        """Tokenises one text; surrogates count as U+FFFD."""
        text, _ = clean(text)
        code = self.code(text)
        begin = len(code)
        spelt, spans = [code] * bool(code), [(0, begin)] * bool(code)
        for piece in self._model.cut(text[begin:]):
            spelt.append(piece.spelling)
            spans.append((piece.span[0] + begin, piece.span[1] + begin))
        ids = [self._ids.get(spelling, self.UNKNOWN) for spelling in spelt]
        ids.append(self.END)
        spans.append((len(text), len(text)))
        return Encoding(ids, [self.piece(id) for id in ids], spans)

    def code(self, text: str) -> str:
        """The language that a text asks for at its beginning, such as ">>fra<<"; or nothing."""
        found = LANGUAGE_CODE.match(text) if self._codes else None
        return found[0] if found else ""

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokenises many texts, ids only; every list ends in `END`."""
        return [self.encode(text).ids for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids, as SentencePiece puts it together; padding and end have none.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        spelt = b"".join([self.spelling(id) for id in ids])
        return spelt.removeprefix(b" ").decode(errors="replace")

    def piece(self, id: int) -> str:
        """One piece, its ▁ made a space.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        if not 0 <= id < len(self):
            raise UsageError(
                f"id {id} is outside this vocabulary of {len(self)} pieces; "
                "use the tokenizer.json of the model that wrote it"
            )
        return self._spelt[id].replace(SPACE, " ")

    def spelling(self, id: int) -> bytes:
        """What one piece adds to a text, in UTF-8; none for padding and end.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        readable = self.piece(id)
        if id in (self.PAD, self.END):
            return b""
        if id == self.UNKNOWN:
            return "\ufffd".encode()
        if BYTE.fullmatch(readable) and readable in self._model.byte_pieces:
            return bytes([self._model.byte_pieces[readable]])
        return readable.encode()

    def files(self) -> dict[str, bytes]:
        """The files of `transformers.MarianTokenizer` by name, without its configuration."""
        tables = {"vocab.json": "vocabulary", "target_vocab.json": "target_vocabulary"}
        written = {
            name: json.dumps(self._contents[key], ensure_ascii=False, indent=2).encode()
            for name, key in tables.items()
            if self._contents[key] is not None
        }
        return {**written, "source.spm": self._file, "target.spm": self.target._file}

    def to_json(self) -> str:
        """Both sides, as JSON."""
        return json.dumps(self._contents, ensure_ascii=False, separators=(",", ":"))

    def save(self, path: str | Path) -> None:
        """Writes `tokenizer.json`, beside first and then renamed.

        Raises:
            OSError: no room or no permission; a file that was there stays as it was.
        """
        write_whole(path, self.to_json())

    def fingerprint(self) -> str:
        """SHA-256 of the JSON, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def read_marian_tokenizer(contents: Mapping[str, Any], origin: str) -> MarianTokenizer:
    """The tokenizer that `MarianTokenizer.to_json` wrote; `origin` is how an error names it.

    Raises:
        ModelFolderError: it is damaged.
    """
    try:
        return MarianTokenizer(contents)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFolderError(
            f"{origin} is no tokenizer of Marian's: {error}; import the model again"
        ) from error
