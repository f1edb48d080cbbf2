"""BERT's text rules: words and signs, cut into the longest pieces of a vocabulary (Wu et al. 2016;
Devlin et al. 2019), over `tokenizers`.

The kind "wordpiece" of tokenizer.json. Unlike this project's own pieces these lose something: case
and accents where they are not told apart, which spaces there were, and what is in no piece.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.files import write_whole
from allyouneed.text.clean import clean
from allyouneed.text.encoder_tokenizer import MASK_IN_TEXT
from allyouneed.text.spelt import Spelt
from allyouneed.text.tokenizer import Encoding, stay_quiet_after_fork

KIND = "wordpiece"
INSIDE = "##"  # begins a piece that does not begin a word
LONGEST_WORD = 100  # characters; a longer word is unknown
SPECIAL = {
    "pad": "[PAD]",
    "unknown": "[UNK]",
    "start": "[CLS]",
    "end": "[SEP]",
    "mask": "[MASK]",
}


class WordPiece(Spelt):
    """A vocabulary of BERT's. "[CLS]" and its like in a text are text; only `encode_masked` takes
    "[MASK]" for the mask."""

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        chinese_characters: bool = True,
        special: Mapping[str, str] = SPECIAL,
    ) -> None:
        """`strip_accents` None: as `lowercase`. `chinese_characters` are each a word; `special`
        says how the special pieces are spelt.

        Raises:
            ValueError: ids that are not 0 to n-1, or a special piece that is missing.
        """
        if sorted(vocabulary.values()) != list(range(len(vocabulary))):
            raise ValueError(f"its ids are not 0 to {len(vocabulary) - 1}, each once")
        for name in SPECIAL:
            if special.get(name) not in vocabulary:
                raise ValueError(f"its vocabulary lacks {special.get(name)}, for {name}")
        self._pieces = sorted(vocabulary, key=vocabulary.__getitem__)
        self._specials = {vocabulary[special[name]]: name for name in SPECIAL}
        self.PAD, self.UNKNOWN, self.START, self.END, self.MASK = self._specials
        self.settings = {
            "lowercase": lowercase,
            "strip_accents": strip_accents,
            "chinese_characters": chinese_characters,
        }
        self.special = dict(special)
        unknown = special["unknown"]
        self.library = tokenizers.Tokenizer(
            models.WordPiece(
                dict(vocabulary), unk_token=unknown, max_input_chars_per_word=LONGEST_WORD
            )
        )
        self.library.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=chinese_characters,
            strip_accents=strip_accents,
            lowercase=lowercase,
        )
        self.library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        stay_quiet_after_fork()

    @property
    def target(self) -> Self:
        """This one: there is no other side."""
        return self

    @property
    def vocabulary(self) -> dict[str, int]:
        """The pieces with their ids, in the order of these."""
        return {piece: id for id, piece in enumerate(self._pieces)}

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, text: str) -> Encoding:
        """One text's ids, pieces and spans; all end with [SEP]."""
        text, _ = clean(text)
        found = self.library.encode(text)
        ids = [*found.ids, self.END]
        spans: list[tuple[int, int]] = [*found.offsets, (len(text), len(text))]
        return Encoding(ids, [self.piece(id) for id in ids], spans)

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts' ids; every list ends in `END`."""
        found = self.library.encode_batch_fast([clean(text)[0] for text in texts])
        return [[*encoding.ids, self.END] for encoding in found]

    def encode_masked(self, text: str) -> list[int]:
        """As `encode_ids`, each "[MASK]" in the text being the mask; ends in `END`."""
        *parts, last = self.encode_ids(text.split(MASK_IN_TEXT))
        return [id for part in parts for id in (*part[:-1], self.MASK)] + last

    def put(self, id: int, before: str, after: str) -> str:
        """The text with this piece in the place of a mask between the two."""
        piece = self.piece(id)
        if piece.startswith(INSIDE):
            before, piece = before.removesuffix(" "), piece.removeprefix(INSIDE)
        elif before[-1:].isalnum():  # a word of its own, as the mask was
            before += " "
        return before + piece + (" " if after[:1].isalnum() else "") + after

    def decode(self, ids: Iterable[int]) -> str:
        """The pieces as words with one space between them; special ones have no text, and what was
        unknown is U+FFFD.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        return b"".join(self.spelling(id) for id in ids).decode().removeprefix(" ")

    def piece(self, id: int) -> str:
        """One piece; inside a word it begins with "##".

        Raises:
            UsageError: an id outside the vocabulary.
        """
        if not 0 <= id < len(self._pieces):
            raise UsageError(f"id {id} is outside this vocabulary of {len(self)} pieces")
        return self._pieces[id]

    def spelling(self, id: int) -> bytes:
        """What one piece adds to a text; none for special pieces, but U+FFFD for unknown.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        piece = self.piece(id)
        if id == self.UNKNOWN:
            return " \ufffd".encode()
        if id in self._specials:
            return b""
        inside = piece.startswith(INSIDE)
        return (piece.removeprefix(INSIDE) if inside else f" {piece}").encode()

    def to_json(self) -> str:
        """The whole tokenizer as one line of JSON."""
        contents = {
            "kind": KIND,
            **self.settings,
            "special": self.special,
            "vocabulary": self.vocabulary,
        }
        return json.dumps(contents, ensure_ascii=False, separators=(",", ":"))

    def save(self, path: str | Path) -> None:
        """Writes `to_json` to a file; raises OSError, and a file that was there stays."""
        write_whole(path, self.to_json())

    def fingerprint(self) -> str:
        """SHA-256 of the JSON, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def __reduce__(self) -> Any:
        return read_word_piece, (json.loads(self.to_json()), "a copy")


def read_word_piece(contents: Mapping[str, Any], origin: str) -> WordPiece:
    """The tokenizer that `to_json` wrote; `origin` is how an error names it.

    Raises:
        ModelFolderError: it is damaged.
    """
    try:
        return WordPiece(
            dict(contents["vocabulary"]),
            special=dict(contents["special"]),
            lowercase=contents["lowercase"],
            strip_accents=contents["strip_accents"],
            chinese_characters=contents["chinese_characters"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFolderError(f"{origin} is damaged: {error}; import the model again") from error
