"""Texts as a model without a decoder sees them: [CLS] text [SEP], in parts where they are long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from allyouneed.errors import DataError, UsageError
from allyouneed.text.clean import clean
from allyouneed.text.encoder_tokenizer import MASK_IN_TEXT, AnyEncoderTokenizer
from allyouneed.text.sentences import split_long

Text = str | tuple[str, str]
"""A text, or a pair of texts whose relation is asked for."""


@dataclass(frozen=True, slots=True)
class Part:
    """What the model sees at once: ids from [CLS] to [SEP], the segment of each, and the number of
    the text that it is a part of. Of a part of one text also what it says, and at which character
    of the (clean) text it begins."""

    number: int
    ids: list[int]
    segments: list[int]
    text: str = ""
    begin: int = 0


class Cutter:
    """Makes parts of texts.

    A text of more than `known_length` tokens, [CLS] and [SEP] among them, is cut where its
    sentences end; pairs and texts with masks are whole. `segments` is how many the model tells
    apart, the second text of a pair being in the second.
    """

    def __init__(self, tokenizer: AnyEncoderTokenizer, known_length: int, segments: int) -> None:
        self.tokenizer = tokenizer
        self.known_length = known_length
        self.segments = segments

    def cut(self, texts: Sequence[Text]) -> tuple[list[Part], list[list[str]]]:
        """The parts of all texts, and the notes about each text.

        Raises:
            DataError: a pair that is too long, by its number.
        """
        parts: list[Part] = []
        notes: list[list[str]] = []
        for number, text in enumerate(texts):
            cleaned = [clean(one) for one in (text if isinstance(text, tuple) else (text,))]
            said = [note for _, some in cleaned for note in some]
            if isinstance(text, tuple):
                parts.append(self._pair(number, *(one.strip() for one, _ in cleaned)))
            else:
                cut = list(self._cut_one(number, cleaned[0][0]))
                if len(cut) > 1:
                    known = f"the {self.known_length} tokens that the model knows"
                    said.append(f"longer than {known}: seen in {len(cut)} parts")
                parts += cut
            notes.append(said)
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
        """Text `number` whole, each "[MASK]" in it being the mask.

        Raises:
            UsageError: there is none.
            DataError: it is too long.
        """
        ids = [self.tokenizer.START, *self.tokenizer.encode_masked(text)]
        if self.tokenizer.MASK not in ids:
            raise UsageError(
                f"text {number + 1} has no mask; write {MASK_IN_TEXT} where a word is to be found"
            )
        self._check_length(ids, f"text {number + 1}")
        return Part(number, ids, [0] * len(ids))

    def _fits(self, text: str) -> bool:
        text = text.strip()
        if len(text.encode()) + 3 <= self.known_length:  # at most a token a byte, space, two ends
            return True
        return len(self.tokenizer.encode_ids([text])[0]) + 1 <= self.known_length

    def _check_length(self, ids: Sequence[int], what: str) -> None:
        if len(ids) > self.known_length:
            raise DataError(
                f"{what} has {len(ids)} tokens, and the model knows {self.known_length} at most; "
                "shorten it"
            )
