"""Tokenises many texts with a memory of words, since most words occur many times."""

from collections.abc import Callable, Sequence
from itertools import chain

WORDS = 1 << 16  # words kept, about 20 MB
LONGEST = 24  # characters; longer words are not kept, since they rarely occur again


class WordMemory:
    """Gives a text's ids by joining the remembered ids of its words.

    `encode` must give a text of words with single spaces the ids of its words, one after another,
    where a space belongs to the word after it. Other texts are given to `encode` whole: those with
    other white space, with words longer than `LONGEST`, or with more than `WORDS` words together.
    """

    def __init__(self, encode: Callable[[list[str]], list[list[int]]]) -> None:
        self._encode = encode
        self._known: dict[str, list[int]] = {}

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        words_of = [text.split(" ") for text in texts]
        words = set(chain.from_iterable(words_of))
        known = self._with(words)
        unknown = words.difference(known)
        whole = [n for n, one in enumerate(words_of) if not unknown.isdisjoint(one)]
        for n in whole:
            words_of[n] = []
        ids = [list(chain.from_iterable(map(known.__getitem__, one))) for one in words_of]
        for n, one in zip(whole, self._encode([texts[n] for n in whole]), strict=True):
            ids[n] = one
        return ids

    def _with(self, words: set[str]) -> dict[str, list[int]]:
        """The memory after adding these words, as far as there is room. If they fit only into an
        empty memory, a new memory is begun, because texts of another language have other words. A
        thread that reads the old memory keeps it."""
        known = self._known
        new = [word for word in words.difference(known) if _is_plain(word)]
        if len(known) + len(new) > WORDS:
            every = [word for word in words if _is_plain(word)]
            if len(every) <= WORDS:
                known, new = {}, every
        new = new[: max(0, WORDS - len(known))]
        known.update(zip(new, self._encode(new), strict=True))
        self._known = known
        return known


def _is_plain(word: str) -> bool:
    return len(word) <= LONGEST and word.split() == [word]
