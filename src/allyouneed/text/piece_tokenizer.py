"""Text rules of M2M-100, NLLB-200 and Argos: one SentencePiece model a side, and the ids that its
pieces have.

The kind "pieces" of tokenizer.json holds the `.spm` files as they were, in base64.
"""

import base64
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
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

KIND = "pieces"


class PieceTokenizer(Spelt):
    """One side of such a model. Special pieces and marks of languages written in a text are text;
    an id for what is unknown is shown as U+FFFD."""

    def __init__(self, contents: Mapping[str, Any], side: str = "source") -> None:
        """`contents` are those of tokenizer.json; `side` is "source" or "target".

        Raises:
            ValueError: a table that does not fit; it says which, and why.
        """
        self._contents, self._side = contents, side
        own = contents[side] or contents["source"]
        self._spelt: Sequence[str] = own["pieces"]
        if not all(isinstance(piece, str) for piece in self._spelt):
            raise ValueError(f"the {side} pieces are not all texts")
        ids = {piece: id for id, piece in reversed(list(enumerate(self._spelt)))}
        special: Mapping[str, str] = contents["special"]
        if missing := [piece for piece in special.values() if piece not in ids]:
            raise ValueError(f"the {side} vocabulary lacks {missing[0]}")
        self.ends = side == "target" or bool(contents.get("ends", True))
        self._file = base64.b64decode(own["model"], validate=True)
        self.PAD, self.START, self.END, self.UNKNOWN = (
            ids[special[name]] for name in ("pad", "start", "end", "unknown")
        )
        silent = {*contents["silent"], *special.values()} - {special["unknown"]}
        self._silent = {ids[piece] for piece in silent if piece in ids}
        self._ids = {piece: id for piece, id in ids.items() if piece not in silent}
        two = contents["target"] is not None or not self.ends
        self.target = self if side == "target" or not two else PieceTokenizer(contents, "target")

    @classmethod
    def of_files(
        cls,
        source: tuple[bytes, Sequence[str]],
        target: tuple[bytes, Sequence[str]] | None,
        special: Mapping[str, str],
        silent: Collection[str] = (),
        ends: bool = True,
    ) -> "PieceTokenizer":
        """The tokenizer of a `.spm` file and its pieces by id, for each side; without a `target`
        both are the same. `special` says how "pad", "start", "end" and "unknown" are spelt;
        `silent` are pieces that are no text, such as marks of languages; without `ends` the ids of
        a source have no end, as models of OpenNMT are trained.

        Raises:
            ValueError: a table that does not fit; it says which, and why.
            ModelFolderError: the same of a `.spm` file.
        """

        def one(side: tuple[bytes, Sequence[str]]) -> dict[str, Any]:
            return {"model": base64.b64encode(side[0]).decode(), "pieces": list(side[1])}

        found = cls(
            {
                "kind": KIND,
                "special": dict(special),
                "silent": sorted(silent),
                **({} if ends else {"ends": False}),
                "source": one(source),
                "target": None if target is None else one(target),
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
            raise ModelFolderError(f"the {self._side} .spm file: {error}") from error

    def __len__(self) -> int:
        return len(self._spelt)

    def encode(self, text: str) -> Encoding:
        """Tokenises one text; surrogates count as U+FFFD."""
        text, _ = clean(text)
        pieces = self._model.cut(text)
        ids = [self._ids.get(piece.spelling, self.UNKNOWN) for piece in pieces]
        spans = [piece.span for piece in pieces]
        if self.ends:
            ids.append(self.END)
            spans.append((len(text), len(text)))
        return Encoding(ids, [self.piece(id) for id in ids], spans)

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokenises many texts, ids only; every list ends in `END`."""
        return [self.encode(text).ids for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids, as SentencePiece puts it together; special pieces have none.

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
        """What one piece adds to a text, in UTF-8; none for special pieces and marks.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        readable = self.piece(id)
        if id in self._silent:
            return b""
        if id == self.UNKNOWN:
            return "\ufffd".encode()
        if readable in self._model.byte_pieces:
            return bytes([self._model.byte_pieces[readable]])
        return readable.encode()

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


def read_piece_tokenizer(contents: Mapping[str, Any], origin: str) -> PieceTokenizer:
    """The tokenizer that `PieceTokenizer.to_json` wrote; `origin` is how an error names it.

    Raises:
        ModelFolderError: it is damaged.
    """
    try:
        return PieceTokenizer(contents)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFolderError(
            f"{origin} is no tokenizer of pieces: {error}; import the model again"
        ) from error
