"""Marian's text rules: two SentencePiece models, and tables of the ids that their pieces have.

The kind "marian" of tokenizer.json holds both `.spm` files as they were, in base64.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.text.clean import clean
from allyouneed.text.sentencepiece_model import SPACE, SentencePieceModel
from allyouneed.text.spelt import Spelt
from allyouneed.text.tokenizer import Encoding, write_text

KIND = "marian"
LANGUAGE_CODE = re.compile(">>.*?<<", re.DOTALL)  # as ">>fra<< Good morning." asks for French


class MarianTokenizer(Spelt):
    """One side of a Marian model, cutting texts as `transformers.MarianTokenizer` does.

    Two things are kept apart that it mixes: "</s>" and other special pieces written in a text are
    text, and an id for what is unknown is shown as U+FFFD.
    """

    def __init__(
        self,
        spm: bytes,
        vocabulary: Mapping[str, int],
        special: Mapping[str, str],
        *,
        whole: str,
        target: "MarianTokenizer | None" = None,
    ) -> None:
        """`special` says how "pad", "end" and "unknown" are spelt; `whole` is the JSON of both
        sides; without a `target` this is one.

        Raises:
            ValueError: a file that cannot be read, or a table that does not fit; it says what.
        """
        if sorted(vocabulary.values()) != list(range(len(vocabulary))):
            raise ValueError(f"its ids are not 0 to {len(vocabulary) - 1}, each once")
        if missing := [piece for piece in special.values() if piece not in vocabulary]:
            raise ValueError(f"its vocabulary lacks {missing[0]}")
        self._model = SentencePieceModel(spm)
        self._ids = dict(vocabulary)
        self._spelt = {id: piece for piece, id in vocabulary.items()}
        self.PAD, self.END, self.UNKNOWN = (
            self._ids[special[name]] for name in ("pad", "end", "unknown")
        )
        self.START = self.PAD  # Marian's targets begin with it
        self._target = target
        self._json = whole

    @classmethod
    def of_files(
        cls,
        source: bytes,
        target: bytes,
        vocabulary: Mapping[str, int],
        target_vocabulary: Mapping[str, int] | None,
        special: Mapping[str, str],
    ) -> "MarianTokenizer":
        """The tokenizer of these two `.spm` files; without a `target_vocabulary` both sides have
        the same ids.

        Raises:
            ValueError: a file or a table that does not fit; it says which, and why.
        """
        whole = json.dumps(
            {
                "kind": KIND,
                "special": dict(special),
                "source": base64.b64encode(source).decode(),
                "target": base64.b64encode(target).decode(),
                "vocabulary": dict(vocabulary),
                "target_vocabulary": None if target_vocabulary is None else dict(target_vocabulary),
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )
        try:
            theirs = vocabulary if target_vocabulary is None else target_vocabulary
            side = cls(target, theirs, special, whole=whole)
        except ValueError as error:
            raise ValueError(f"target.spm: {error}") from error
        try:
            return cls(source, vocabulary, special, whole=whole, target=side)
        except ValueError as error:
            raise ValueError(f"source.spm: {error}") from error

    @property
    def target(self) -> "MarianTokenizer":
        """The side of the translations."""
        return self._target or self

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
        found = LANGUAGE_CODE.match(text)
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
        try:
            return self._spelt[id].replace(SPACE, " ")
        except KeyError:
            raise UsageError(
                f"id {id} is outside this vocabulary of {len(self)} pieces; "
                "use the tokenizer.json of the model that wrote it"
            ) from None

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
        byte = self._model.byte_pieces.get(readable)
        return readable.encode() if byte is None else bytes([byte])

    def files(self) -> dict[str, bytes]:
        """The files of `transformers.MarianTokenizer` by name, without its configuration."""
        contents = json.loads(self._json)
        tables = {"vocab.json": "vocabulary", "target_vocab.json": "target_vocabulary"}
        written = {
            name: json.dumps(contents[key], ensure_ascii=False, indent=2).encode()
            for name, key in tables.items()
            if contents[key] is not None
        }
        models = {f"{side}.spm": base64.b64decode(contents[side]) for side in ("source", "target")}
        return written | models

    def to_json(self) -> str:
        """Both sides, as JSON."""
        return self._json

    def save(self, path: str | Path) -> None:
        """Writes `tokenizer.json`, beside first and then renamed.

        Raises:
            OSError: no room or no permission; a file that was there stays as it was.
        """
        write_text(path, self._json)

    def fingerprint(self) -> str:
        """SHA-256 of the JSON, in hexadecimal."""
        return hashlib.sha256(self._json.encode()).hexdigest()


def read_marian_tokenizer(contents: Mapping[str, Any], origin: str) -> MarianTokenizer:
    """The tokenizer that `MarianTokenizer.to_json` wrote; `origin` is how an error names it.

    Raises:
        ModelFolderError: it is damaged.
    """
    try:
        return MarianTokenizer.of_files(
            base64.b64decode(contents["source"], validate=True),
            base64.b64decode(contents["target"], validate=True),
            contents["vocabulary"],
            contents["target_vocabulary"],
            contents["special"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFolderError(
            f"{origin} is no tokenizer of Marian's: {error}; import the model again"
        ) from error
