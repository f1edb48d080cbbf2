"""Word alignments as pairs of numbers, and their printed form. Needs no torch.

S source length · T target length
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Alignment = tuple[tuple[int, int], ...]
"""Pairs (source word, target word), both counted from 0. White space separates words."""


Span = tuple[int, int]
CharacterLinks = tuple[tuple[Span, Span], ...]
"""Pairs (characters of the source, characters of the target), each as (begin, end)."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """The links of a text and its translation: of words, and of characters where one of the texts
    has a script without spaces."""

    words: Alignment
    characters: CharacterLinks = ()


class AnyArray(Protocol):
    """An array of NumPy or a tensor."""

    def tolist(self) -> Any:
        """Its numbers in nested lists."""


def word_alignment(
    attention_TS: AnyArray, source_groups: Sequence[int], target_groups: Sequence[int]
) -> Alignment:
    """Pairs (source word, target word), in the order of the source words.

    `source_groups` and `target_groups` have the word of each token; -1 leaves a token out, such as
    the end. Padding has no entry. Each target word is aligned with the one source word to which its
    tokens attend most.
    """
    weights: dict[int, dict[int, float]] = {}
    for row, target in zip(attention_TS.tolist(), target_groups, strict=False):
        for weight, source in zip(row, source_groups, strict=False):
            if source >= 0 and target >= 0:
                words = weights.setdefault(target, {})
                words[source] = words.get(source, 0.0) + weight
    return tuple(sorted((max(words, key=words.__getitem__), t) for t, words in weights.items()))


def pharaoh(alignment: Alignment) -> str:
    """The alignment in Pharaoh format, such as "0-0 1-2"."""
    return " ".join(f"{source}-{target}" for source, target in alignment)
