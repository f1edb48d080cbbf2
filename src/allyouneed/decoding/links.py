"""Word alignments as numbers, and how they are printed; needs no torch.

S source length · T target length
"""

from collections.abc import Sequence
from typing import Any, Protocol

Alignment = tuple[tuple[int, int], ...]
"""Pairs (source word, target word), both counted from 0; words are what white space separates."""


class AnyArray(Protocol):
    """An array of NumPy or a tensor."""

    def tolist(self) -> Any:
        """Its numbers in nested lists."""


def word_alignment(
    attention_TS: AnyArray, source_groups: Sequence[int], target_groups: Sequence[int]
) -> Alignment:
    """Pairs (source word, target word), in order of the source words.

    The groups name the word that each token belongs to. A token of group -1, such as the end, is
    left out; padding has no group. Each target word gets the one source word that its tokens look
    at most.
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
