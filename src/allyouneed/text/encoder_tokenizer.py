"""Text for a model without a decoder (Devlin et al. 2019): [CLS] text [SEP], and masks in it."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

from allyouneed.text.clean import clean
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.text.tokenizer_file import ENCODER_SPECIALS

MASK_IN_TEXT = "[MASK]"
"""How a mask is written in a text; only `encode_masked` takes it for one."""


class AnyEncoderTokenizer(AnyTokenizer, Protocol):
    """A tokenizer whose `START` is [CLS], whose `END` is [SEP], and which has a mask."""

    MASK: int

    def encode_masked(self, text: str) -> list[int]:
        """As `encode_ids`, each "[MASK]" in the text being the mask; ends in `END`."""

    def put(self, id: int, before: str, after: str) -> str:
        """The text with this piece in the place of a mask between the two."""

    def spelling(self, id: int) -> bytes:
        """What one piece adds to a text, in UTF-8: a piece that begins a word begins with a space;
        none for padding, [CLS] and [SEP].

        Raises:
            UsageError: an id outside the vocabulary.
        """


class EncoderTokenizer(Tokenizer):
    """Byte-level pieces, as the others', with [CLS] and [SEP] where those have start and end."""

    MASK = ENCODER_SPECIALS.index(MASK_IN_TEXT)
    specials: ClassVar[tuple[str, ...]] = ENCODER_SPECIALS

    def encode_masked(self, text: str) -> list[int]:
        """As `encode_ids`, each "[MASK]" in the text being the mask; ends in `END`.

        A space before a mask is the mask's, as it is every word's.
        """
        cleaned, _ = clean(text)
        *parts, last = f" {cleaned}".split(MASK_IN_TEXT) if cleaned else [""]
        ids: list[int] = []
        for part in parts:
            ids += [*self._ids_as_spelt(part.removesuffix(" ")), self.MASK]
        return [*ids, *self._ids_as_spelt(last), self.END]

    def put(self, id: int, before: str, after: str) -> str:
        """The text with this piece in the place of a mask between the two."""
        piece = self.spelling(id).decode(errors="replace")
        whole = f" {before}".removesuffix(" ") + piece + after
        return whole.removeprefix(" ")

    def _ids_as_spelt(self, text: str) -> Sequence[int]:
        """Ids of a text that is given no space ahead."""
        words = self._library.pre_tokenizer.pre_tokenize_str(text)
        return [token.id for word, _ in words for token in self._library.model.tokenize(word)]
