"""How varied a set of texts is: distinct words and pairs of words (Li et al. 2016)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from allyouneed.errors import UsageError


@dataclass(frozen=True, slots=True)
class Variety:
    """`distinct_1` and `distinct_2` are different words, and different pairs of neighbouring words,
    over all words of the texts: Li et al. 2016, "A Diversity-Promoting Objective Function for
    Neural Conversation Models". Both fall as a set of texts grows: compare sets of one size.
    `commonest` is the text that is there most often, and `commonest_share` its share.
    """

    texts: int
    words: int
    distinct_1: float
    distinct_2: float
    commonest: str
    commonest_share: float

    def to_dict(self) -> dict[str, Any]:
        """All of it by name, as JSON can hold it."""
        return asdict(self)


def variety(texts: Sequence[str]) -> Variety:
    """Words are what white space separates, in lower case.

    Raises:
        UsageError: no word in any of the texts.
    """
    split = [text.lower().split() for text in texts]
    words = sum(map(len, split))
    if not words:
        raise UsageError(f"{len(texts)} texts without a word; their variety cannot be measured")
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
    """How many different sequences of n words there are within the texts."""
    return len({tuple(text[i : i + n]) for text in texts for i in range(len(text) - n + 1)})
