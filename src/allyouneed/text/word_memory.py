"""Tokenising many texts by their words, which come again and again."""

from collections.abc import Callable, Sequence
from itertools import chain

WORDS = 1 << 16  # remembered at once: some 20 MB
LONGEST = 32  # characters: longer words seldom come again


class WordMemory:
    """What a tokenizer makes of texts, made up from what it made of their words before.

    It must give a text the ids of its words, one after the other, where single spaces part them,
    each space belonging to the word behind it. Texts that anything else parts, or with words that
    are longer than `LONGEST`, are given to it whole.
    """

    def __init__(self, encode: Callable[[list[str]], list[list[int]]]) -> None:
        self._encode = encode
        self._known: dict[str, list[int]] = {}

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        known = self._known  # threads that share the memory may each replace it
        parted = [text.split(" ") for text in texts]
        new = set(chain.from_iterable(parted)).difference(known)
        odd = {word for word in new if len(word) > LONGEST or word.split() != [word]}
        fresh = list(new - odd)
        known.update(zip(fresh, self._encode(fresh), strict=True))
        whole = [n for n, words in enumerate(parted) if not odd.isdisjoint(words)] if odd else []
        for n in whole:
            parted[n] = []
        ids = [list(chain.from_iterable(map(known.__getitem__, words))) for words in parted]
        for n, one in zip(whole, self._encode([texts[n] for n in whole]), strict=True):
            ids[n] = one
        if len(known) > WORDS:
            self._known = {}
        return ids
