"""Tokenizers of models without a decoder (Devlin et al. 2019): [CLS] text [SEP], with masks."""

from typing import Protocol

from allyouneed.text.clean import clean
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.text.tokenizer_file import ENCODER_SPECIALS

MASK_IN_TEXT = "[MASK]"
"""How a mask is written in a text. Only `encode_masked` reads it as the mask."""


class AnyEncoderTokenizer(AnyTokenizer, Protocol):
    """A tokenizer with a mask. Its `START` is [CLS] and its `END` is [SEP]."""

    MASK: int

    def encode_masked(self, text: str) -> list[int]:
        """One text's ids, with `MASK` for each "[MASK]" in the text; ends in `END`."""

    def put(self, id: int, before: str, after: str) -> str:
        """The text `before`, the piece `id` and the text `after`, as one text."""

    def spelling(self, id: int) -> bytes:
        """The bytes (UTF-8) that one piece adds to a text; none for padding, [CLS] and [SEP].

        A piece that begins a word begins with a space.

        Raises:
            UsageError: an id outside the vocabulary.
        """


class EncoderTokenizer(Tokenizer):
    """A byte-level `Tokenizer` whose start is [CLS], whose end is [SEP], and which has [MASK]."""

    MASK = ENCODER_SPECIALS.index(MASK_IN_TEXT)
    specials: tuple[str, ...] = ENCODER_SPECIALS

    def encode_masked(self, text: str) -> list[int]:
        """One text's ids, with `MASK` for each "[MASK]" in the text; ends in `END`.

        A space before a mask belongs to the mask, as a space before a word belongs to the word.
        """
        cleaned, _ = clean(text)
        *parts, last = f" {cleaned}".split(MASK_IN_TEXT) if cleaned else [""]
        ids: list[int] = []
        for part in parts:
            ids += [*self._ids_as_spelt(part.removesuffix(" ")), self.MASK]
        return [*ids, *self._ids_as_spelt(last), self.END]

    def put(self, id: int, before: str, after: str) -> str:
        """The text `before`, the piece `id` and the text `after`, as one text."""
        piece = self.spelling(id).decode(errors="replace")
        whole = f" {before}".removesuffix(" ") + piece + after
        return whole.removeprefix(" ")

    def _ids_as_spelt(self, text: str) -> list[int]:
        """Ids of a text without an added space."""
        return self._byte_level.ids(text)
