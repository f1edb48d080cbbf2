"""The common part of tokenizers of imported SentencePiece models: one `.spm` file per side cuts the
text, and a table of the model's own gives each piece its id."""

import base64
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from allyouneed.checks import expect_list
from allyouneed.errors import ModelFolderError
from allyouneed.text.clean import clean
from allyouneed.text.concatenating import ConcatenatingTokenizer
from allyouneed.text.encoding import Encoding
from allyouneed.text.sentencepiece_file import SPACE
from allyouneed.text.sentencepiece_model import SentencePieceModel

AnySentencePiece = TypeVar("AnySentencePiece", bound="SentencePieceTokenizer")
BYTE = re.compile("<0x[0-9A-F]{2}>")


class SentencePieceTokenizer(ConcatenatingTokenizer):
    """One side, source or target, of such a model.

    Special pieces written in a text, such as "</s>", are ordinary text. The id of the unknown piece
    is decoded as U+FFFD.
    """

    KIND: ClassVar[str]  # the value of "kind" in tokenizer.json
    PAD: int
    START: int
    END: int
    UNKNOWN: int

    def __init__(
        self,
        contents: Mapping[str, Any],
        side: str,
        *,
        file: str,
        spelt: Sequence[str],
        ids: Mapping[str, int],
        silent: Collection[int],
        ends: bool = True,
    ) -> None:
        """`contents` are those of tokenizer.json; `side` is "source" or "target".

        `file` is the side's `.spm` file in base64. `spelt` has each piece by its id, `ids` the id
        of each piece that a text may contain. Ids in `silent` add nothing to a decoded text.
        `ends` says whether `encode` ends in `END`.

        Raises:
            ValueError: `file` is not base64.
        """
        self._contents, self._side = contents, side
        self._file = base64.b64decode(file, validate=True)
        self._spelt, self._ids, self._silent = spelt, ids, silent
        self.ends = ends

    def check(self) -> None:
        """Reads this side's `.spm` file. Without this call the first text reads it.

        Raises:
            ModelFolderError: the file is damaged, or of a kind that is not supported.
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
        """One text's ids, pieces and spans. Surrogates count as U+FFFD."""
        text, _ = clean(text)
        prefix = self._prefix(text)
        begin = len(prefix)
        spelt, spans = [prefix] * bool(prefix), [(0, begin)] * bool(prefix)
        for piece in self._model.cut(text[begin:]):
            spelt.append(piece.spelling)
            spans.append((piece.span[0] + begin, piece.span[1] + begin))
        ids = [self._ids.get(spelling, self.UNKNOWN) for spelling in spelt]
        if self.ends:
            ids.append(self.END)
            spans.append((len(text), len(text)))
        return Encoding(ids, [self.piece(id) for id in ids], spans)

    def _prefix(self, text: str) -> str:
        """The beginning of `text` that is one piece and is not cut by the `.spm` file."""
        return ""

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts' ids. Every list ends in `END` if `ends` is set."""
        expect_list(texts, "texts", "a list of texts")
        return [self.encode(text).ids for text in texts]

    def piece(self, id: int) -> str:
        """One piece, with a space in place of each ▁.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        if not self._has(id):
            raise self._outside(id)
        return self._spelt[id].replace(SPACE, " ")

    def spelling(self, id: int) -> bytes:
        """The bytes (UTF-8) that one piece adds to a text; none for padding, start, end and marks.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        readable = self.piece(id)
        if id in self._silent:
            return b""
        if id == self.UNKNOWN:
            return "\ufffd".encode()
        if BYTE.fullmatch(readable) and readable in self._model.byte_pieces:
            return bytes([self._model.byte_pieces[readable]])
        return readable.encode()

    def to_json(self) -> str:
        """The whole tokenizer, both sides, as JSON."""
        return json.dumps(self._contents, ensure_ascii=False, separators=(",", ":"))


def read_sentencepiece_tokenizer(
    kind: Callable[[Mapping[str, Any]], AnySentencePiece], contents: Mapping[str, Any], origin: str
) -> AnySentencePiece:
    """The tokenizer that `to_json` wrote as `contents`; errors name the file `origin`.

    Raises:
        ModelFolderError: the contents are damaged.
    """
    try:
        return kind(contents)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFolderError(
            f"{origin} is not a tokenizer of the kind {contents['kind']!r}: {error}; "
            "import the model again"
        ) from error
