"""Which source word a target word comes from, as Pharaoh pairs; needs no torch.

S source length · T target length
"""

from collections.abc import Sequence
from typing import Any, Protocol


class AnyArray(Protocol):
    """An array of NumPy or a tensor."""

    def tolist(self) -> Any:
        """Its numbers in nested lists."""


def pharaoh(
    attention_TS: AnyArray, source_groups: Sequence[int], target_groups: Sequence[int]
) -> str:
    """Alignment in Pharaoh format, "0-0 1-2": pairs of source word and target word, from 0.

    The groups name the word that each token belongs to; a token of group -1 (the end) is left
    out. What is padding has no group. Each target word gets the source word that its tokens look
    at most.
    """
    weights: dict[int, dict[int, float]] = {}
    for row, target in zip(attention_TS.tolist(), target_groups, strict=False):
        for weight, source in zip(row, source_groups, strict=False):
            if source >= 0 and target >= 0:
                words = weights.setdefault(target, {})
                words[source] = words.get(source, 0.0) + weight
    pairs = sorted((max(words, key=words.__getitem__), t) for t, words in weights.items())
    return " ".join(f"{source}-{target}" for source, target in pairs)
