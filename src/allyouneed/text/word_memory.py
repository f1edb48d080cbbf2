"""Tokenising many texts by their words, which come again and again."""

from collections.abc import Callable, Sequence
from itertools import chain, islice

WORDS = 1 << 16  # that are remembered: some 20 MB, where spaces part them
LONGEST = 24  # characters: longer words seldom come again


class WordMemory:
    """What a tokenizer makes of texts, made up from what it made of their words before.

    It must give a text the ids of its words, one after the other, where single spaces part them,
    each space belonging to the word behind it. It is given texts whole that anything else parts,
    with words that are longer than `LONGEST` and, once the memory is full, with new ones.
    """

    def __init__(self, encode: Callable[[list[str]], list[list[int]]]) -> None:
        self._encode = encode
        self._known: dict[str, list[int]] = {}

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        parted = [text.split(" ") for text in texts]
        strange = self._learn(set(chain.from_iterable(parted)).difference(self._known))
        whole = [n for n, words in enumerate(parted) if not strange.isdisjoint(words)]
        for n in whole:
            parted[n] = []
        known = self._known.__getitem__
        ids = [list(chain.from_iterable(map(known, words))) for words in parted]
        for n, one in zip(whole, self._encode([texts[n] for n in whole]), strict=True):
            ids[n] = one
        return ids

    def _learn(self, words: set[str]) -> set[str]:
        """Remembers as many of them as may be; those that are left."""
        plain = (word for word in words if len(word) <= LONGEST and word.split() == [word])
        learnt = list(islice(plain, max(0, WORDS - len(self._known))))
        self._known.update(zip(learnt, self._encode(learnt), strict=True))
        return words.difference(learnt)
