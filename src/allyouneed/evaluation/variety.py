"""Variety of a set of texts: the shares of distinct words and of distinct pairs of words (Li et al.
2016)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from allyouneed.errors import UsageError


@dataclass(frozen=True, slots=True)
class Variety:
    """How varied a set of texts is.

    `distinct_1` is the number of distinct words divided by the number of words; `distinct_2` is the
    number of distinct pairs of neighbouring words divided by the number of words (Li et al. 2016,
    "A Diversity-Promoting Objective Function for Neural Conversation Models"). Both fall as the set
    grows, so only sets of equal size can be compared. `commonest` is the most frequent text, and
    `commonest_share` its share of the texts.
    """

    texts: int
    words: int
    distinct_1: float
    distinct_2: float
    commonest: str
    commonest_share: float

    def to_dict(self) -> dict[str, Any]:
        """All values as a dictionary, for JSON."""
        return asdict(self)


def variety(texts: Sequence[str]) -> Variety:
    """The variety of these texts. Words are lower-cased and separated by white space.

    Raises:
        UsageError: no text has a word.
    """
    split = [text.lower().split() for text in texts]
    words = sum(map(len, split))
    if not words:
        raise UsageError(f"none of the {len(texts)} texts has a word to measure variety by")
    commonest, count = Counter(" ".join(text) for text in split).most_common(1)[0]
    return Variety(
        texts=len(texts),
        words=words,
        distinct_1=_different(split, 1) / words,
        distinct_2=_different(split, 2) / words,
        commonest=commonest,
        commonest_share=count / len(texts),
    )


def _different(texts: Iterable[Sequence[str]], n: int) -> int:
    """The number of distinct sequences of n words within the texts."""
    return len({tuple(text[i : i + n]) for text in texts for i in range(len(text) - n + 1)})
