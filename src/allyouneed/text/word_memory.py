"""Tokenises many texts with a memory of words, since most words occur many times."""

from collections.abc import Callable, Sequence
from itertools import chain, islice

WORDS = 1 << 16  # words kept, about 20 MB
LONGEST = 24  # characters; longer words are not kept, since they rarely occur again


class WordMemory:
    """Gives a text's ids by joining the remembered ids of its words.

    `encode` must give a text of words with single spaces the ids of its words, one after another,
    where a space belongs to the word after it. Other texts are given to `encode` whole: those with
    other white space, with words longer than `LONGEST`, or with new words once the memory is full.
    """

    def __init__(self, encode: Callable[[list[str]], list[list[int]]]) -> None:
        self._encode = encode
        self._known: dict[str, list[int]] = {}

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        words_of = [text.split(" ") for text in texts]
        unknown = self._learn(set(chain.from_iterable(words_of)).difference(self._known))
        whole = [n for n, words in enumerate(words_of) if not unknown.isdisjoint(words)]
        for n in whole:
            words_of[n] = []
        known = self._known.__getitem__
        ids = [list(chain.from_iterable(map(known, words))) for words in words_of]
        for n, one in zip(whole, self._encode([texts[n] for n in whole]), strict=True):
            ids[n] = one
        return ids

    def _learn(self, words: set[str]) -> set[str]:
        """Remembers as many of the words as there is room for. Returns the others."""
        plain = (word for word in words if len(word) <= LONGEST and word.split() == [word])
        learnt = list(islice(plain, max(0, WORDS - len(self._known))))
        self._known.update(zip(learnt, self._encode(learnt), strict=True))
        return words.difference(learnt)
