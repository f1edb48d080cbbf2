"""Masks over words (Devlin et al. 2019, 3.1), anew each time a text is seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allyouneed.text.encoder_tokenizer import AnyEncoderTokenizer

MASKED, REPLACED = 0.8, 0.1  # the rest of the chosen tokens stay as they are

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Masked:
    """Ids of which some are hidden, the places of these, rising, and what was there."""

    ids: Ids
    places: Ids
    hidden: Ids


class Masking:
    """Chooses `share` of a text's tokens, and hides them: of those chosen, 80 % by [MASK] and 10 %
    by any piece, while 10 % stay; each in its turn by chance.

    [CLS], [SEP] and what else is no text are never chosen. Of n tokens, share · n are, rounded, at
    least one; with `whole_words`, as many whole words as fit into that, at least one word.
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
        """Hides tokens of one text; what is drawn is drawn from `rng`."""
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
    """The places of a text's words: a piece begins one where it begins with a space or a sign, or
    follows a sign."""

    def __init__(self, tokenizer: AnyEncoderTokenizer) -> None:
        spellings = [tokenizer.spelling(i) for i in range(len(tokenizer))]
        self._begins = np.array([not _is_letter(spelling[:1]) for spelling in spellings])
        self._ends = np.array(  # a space alone goes with what follows it
            [not _is_letter(spelling[-1:]) and spelling != b" " for spelling in spellings]
        )

    def __call__(self, ids: Ids, places: Ids) -> Sequence[Ids]:
        """`places` in groups, one for each word; what lies apart is not one word."""
        before = places - 1
        begins = self._begins[ids[places]] | self._ends[ids[before]]
        begins[1:] |= before[1:] != places[:-1]
        return np.split(places, np.flatnonzero(begins[1:]) + 1)


def _is_letter(byte: bytes) -> bool:
    """Letters, digits, and all that is not ASCII, of which one byte says nothing."""
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
