"""BERT's text rules, WordPiece: words and signs are cut into the longest pieces of a vocabulary (Wu
et al. 2016; Devlin et al. 2019), by the library `tokenizers`.

The kind "wordpiece" of tokenizer.json. Unlike this project's own tokenizer, WordPiece loses parts
of a text: the kinds of white space, characters that are in no piece and, in some vocabularies, case
and accents.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers

from allyouneed.checks import expect_list
from allyouneed.errors import ModelFolderError
from allyouneed.text.clean import clean
from allyouneed.text.concatenating import ConcatenatingTokenizer
from allyouneed.text.encoder_tokenizer import MASK_IN_TEXT
from allyouneed.text.encoding import Encoding
from allyouneed.text.tokenizers_library import stay_quiet_after_fork

KIND = "wordpiece"
INSIDE = "##"  # the beginning of a piece inside a word
LONGEST_WORD = 100  # characters; a longer word becomes the unknown piece
SPECIAL = {
    "pad": "[PAD]",
    "unknown": "[UNK]",
    "start": "[CLS]",
    "end": "[SEP]",
    "mask": "[MASK]",
}


class WordPiece(ConcatenatingTokenizer):
    """A tokenizer of a BERT model.

    "[CLS]" and other special pieces written in a text are ordinary text. Only `encode_masked` reads
    "[MASK]" as the mask.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        chinese_characters: bool = True,
        special: Mapping[str, str] = SPECIAL,
    ) -> None:
        """`strip_accents` None means the value of `lowercase`. `chinese_characters` makes each
        Chinese character a word. `special` says how the special pieces are spelt.

        Raises:
            ValueError: the ids are not 0 to n-1, or a special piece is missing.
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
        """This tokenizer itself, since an encoder-only model has one side."""
        return self

    @property
    def vocabulary(self) -> dict[str, int]:
        """Each piece → its id, in the order of the ids."""
        return {piece: id for id, piece in enumerate(self._pieces)}

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, text: str) -> Encoding:
        """One text's ids, pieces and spans; all three end with [SEP]."""
        text, _ = clean(text)
        found = self.library.encode(text)
        ids = [*found.ids, self.END]
        spans: list[tuple[int, int]] = [*found.offsets, (len(text), len(text))]
        return Encoding(ids, [self.piece(id) for id in ids], spans)

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts' ids; every list ends in `END`."""
        expect_list(texts, "texts", "a list of texts")
        found = self.library.encode_batch_fast([clean(text)[0] for text in texts])
        return [[*encoding.ids, self.END] for encoding in found]

    def encode_masked(self, text: str) -> list[int]:
        """One text's ids, with `MASK` for each "[MASK]" in the text; ends in `END`."""
        *parts, last = self.encode_ids(text.split(MASK_IN_TEXT))
        return [id for part in parts for id in (*part[:-1], self.MASK)] + last

    def put(self, id: int, before: str, after: str) -> str:
        """The text `before`, the piece `id` and the text `after`, as one text."""
        piece = self.piece(id)
        if piece.startswith(INSIDE):
            before, piece = before.removesuffix(" "), piece.removeprefix(INSIDE)
        elif before[-1:].isalnum():  # the piece begins a word, as the mask did
            before += " "
        return before + piece + (" " if after[:1].isalnum() else "") + after

    def piece(self, id: int) -> str:
        """One piece. A piece inside a word begins with "##".

        Raises:
            UsageError: an id outside the vocabulary.
        """
        if not self._has(id):
            raise self._outside(id)
        return self._pieces[id]

    def spelling(self, id: int) -> bytes:
        """The bytes (UTF-8) that one piece adds to a text: U+FFFD for the unknown piece, none for
        the other special pieces. A piece that begins a word begins with a space.

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

    def __reduce__(self) -> Any:
        return read_word_piece, (json.loads(self.to_json()), "a copy")


def read_word_piece(contents: Mapping[str, Any], origin: str) -> WordPiece:
    """The tokenizer that `WordPiece.to_json` wrote; errors name the file `origin`.

    Raises:
        ModelFolderError: the contents are damaged.
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
