"""Masks over words (Devlin et al. 2019, 3.1), drawn again each time a text is seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allyouneed.text.encoder_tokenizer import AnyEncoderTokenizer

MASKED, REPLACED = 0.8, 0.1  # shares of the chosen tokens; the others are not changed

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Masked:
    """Ids with some tokens hidden, the ascending places of these, and the original tokens there."""

    ids: Ids
    places: Ids
    hidden: Ids


class Masking:
    """Chooses a `share` of a text's tokens at random. Of the chosen tokens 80 % become [MASK], 10 %
    become a random piece, and 10 % are not changed.

    [CLS], [SEP] and other special tokens are never chosen. Of n tokens share · n are chosen,
    rounded, at least one. With `whole_words`, as many whole words are chosen as fit into that
    number, at least one word.
    """

    def __init__(self, tokenizer: AnyEncoderTokenizer, share: float, whole_words: bool) -> None:
        self._mask = tokenizer.MASK
        self._share = share
        self._special = np.zeros(len(tokenizer), dtype=bool)
        self._special[[tokenizer.PAD, tokenizer.START, tokenizer.END, tokenizer.MASK]] = True
        self._pieces = np.flatnonzero(~self._special)
        self._groups: Callable[[Ids, Ids], Sequence[Ids]] | None = None
        if whole_words:
            self._groups = WholeWords(tokenizer)

    def __call__(self, ids: Ids, rng: np.random.Generator) -> Masked:
        """Hides tokens of one text. All random numbers come from `rng`."""
        candidates = np.flatnonzero(~self._special[ids])
        count = max(1, round(self._share * len(candidates)))
        if self._groups is None:
            places = rng.permutation(candidates)[:count]
        else:
            places = _words_that_fit(self._groups(ids, candidates), count, rng)
        places = np.sort(places)
        draws = rng.random(len(places))
        others = rng.choice(self._pieces, len(places))
        hidden = ids.copy()
        hidden[places] = np.where(
            draws < MASKED,
            self._mask,
            np.where(draws < MASKED + REPLACED, others, ids[places]),
        )
        return Masked(hidden, places, ids[places])


class WholeWords:
    """Groups the places of a text's pieces by word. A piece begins a word if it begins with a space
    or a sign, or if it follows a sign."""

    def __init__(self, tokenizer: AnyEncoderTokenizer) -> None:
        spellings = [tokenizer.spelling(i) for i in range(len(tokenizer))]
        self._begins = np.array([not _is_letter(spelling[:1]) for spelling in spellings])
        self._ends = np.array(  # a piece that is a space belongs to the word after it
            [not _is_letter(spelling[-1:]) and spelling != b" " for spelling in spellings]
        )

    def __call__(self, ids: Ids, places: Ids) -> Sequence[Ids]:
        """The `places` in groups, one for each word. Places with a gap between them are not of one
        word."""
        before = places - 1
        begins = self._begins[ids[places]] | self._ends[ids[before]]
        begins[1:] |= before[1:] != places[:-1]
        return np.split(places, np.flatnonzero(begins[1:]) + 1)


def _is_letter(byte: bytes) -> bool:
    """Whether the byte is a letter or a digit. All bytes beyond ASCII count as letters, because one
    byte of UTF-8 does not tell."""
    return byte.isalnum() or byte >= b"\x80"


def _words_that_fit(words: Sequence[Ids], count: int, rng: np.random.Generator) -> Ids:
    order = rng.permutation(len(words))
    chosen: list[Ids] = []
    held = 0
    for number in order:
        word = words[number]
        if held + len(word) <= count:
            chosen.append(word)
            held += len(word)
            if held == count:
                break
    return np.concatenate(chosen or [words[order[0]]])
