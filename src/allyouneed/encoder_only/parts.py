"""The input of a model without a decoder: [CLS] text [SEP]. Long texts are cut into parts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from allyouneed.errors import DataError, UsageError
from allyouneed.text.clean import clean
from allyouneed.text.encoder_tokenizer import MASK_IN_TEXT, AnyEncoderTokenizer
from allyouneed.text.sentences import split_long

Text = str | tuple[str, str]
"""A text, or a pair of texts."""


@dataclass(frozen=True, slots=True)
class Part:
    """One input of the model: ids from [CLS] to [SEP], and the segment of each id.

    `number` is the index of the text. `text` is the part's own text, which begins at character
    `begin` of the (clean) text; both are left out for a pair.
    """

    number: int
    ids: list[int]
    segments: list[int]
    text: str = ""
    begin: int = 0


class Cutter:
    """Cuts texts into parts.

    A text of more than `known_length` tokens, with [CLS] and [SEP], is cut at the ends of
    sentences. Pairs and texts with masks are not cut. `segments` is the number of segments of the
    model; the second text of a pair is in the second segment.
    """

    def __init__(self, tokenizer: AnyEncoderTokenizer, known_length: int, segments: int) -> None:
        self.tokenizer = tokenizer
        self.known_length = known_length
        self.segments = segments

    def cut(self, texts: Sequence[Text]) -> tuple[list[Part], list[list[str]]]:
        """The parts of all texts, and the notes about each text.

        Raises:
            DataError: a pair is too long. The message has its number.
        """
        parts: list[Part] = []
        notes: list[list[str]] = []
        for number, text in enumerate(texts):
            cleaned = [clean(one) for one in (text if isinstance(text, tuple) else (text,))]
            of_text = [note for _, some in cleaned for note in some]
            if isinstance(text, tuple):
                parts.append(self._pair(number, *(one.strip() for one, _ in cleaned)))
            else:
                cut = list(self._cut_one(number, cleaned[0][0]))
                if len(cut) > 1:
                    known = f"the {self.known_length} tokens that the model knows"
                    of_text.append(f"longer than {known}: read in {len(cut)} parts")
                parts += cut
            notes.append(of_text)
        return parts, notes

    def _cut_one(self, number: int, text: str) -> Iterator[Part]:
        pieces = split_long(text, self._fits) or [""]
        stripped = [piece.strip() for piece in pieces]
        begin = 0
        for piece, inside, ids in zip(
            pieces, stripped, self.tokenizer.encode_ids(stripped), strict=True
        ):
            here = begin + piece.find(inside)
            yield Part(number, [self.tokenizer.START, *ids], [0] * (len(ids) + 1), inside, here)
            begin += len(piece)

    def _pair(self, number: int, first: str, second: str) -> Part:
        first_ids, second_ids = self.tokenizer.encode_ids([first, second])
        ids = [self.tokenizer.START, *first_ids, *second_ids]
        self._check_length(ids, f"pair {number + 1}")
        other = min(1, max(0, self.segments - 1))
        return Part(number, ids, [0] * (1 + len(first_ids)) + [other] * len(second_ids))

    def masked(self, number: int, text: str) -> Part:
        """The one part of text `number`, with the mask's id for each "[MASK]" in it.

        Raises:
            UsageError: the text has no mask.
            DataError: the text is too long.
        """
        ids = [self.tokenizer.START, *self.tokenizer.encode_masked(text)]
        if self.tokenizer.MASK not in ids:
            raise UsageError(
                f"text {number + 1} has no mask; write {MASK_IN_TEXT} in place of a word"
            )
        self._check_length(ids, f"text {number + 1}")
        return Part(number, ids, [0] * len(ids))

    def _fits(self, text: str) -> bool:
        text = text.strip()
        if len(text.encode()) + 3 <= self.known_length:
            return True  # at most one token per byte, one for the added space, [CLS] and [SEP]
        return len(self.tokenizer.encode_ids([text])[0]) + 1 <= self.known_length

    def _check_length(self, ids: Sequence[int], what: str) -> None:
        if len(ids) > self.known_length:
            raise DataError(
                f"{what} has {len(ids)} tokens, but the model takes at most {self.known_length}; "
                "shorten it"
            )
