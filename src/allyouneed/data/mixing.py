"""Temperature sampling: decides how often an epoch sees the pairs of each corpus."""

from collections.abc import Hashable, Sequence


def mixed_weights(
    pairs: Sequence[int], weights: Sequence[float], temperature: float
) -> list[float]:
    """The mean number of times that an epoch sees each pair of a corpus, for each corpus. `pairs`
    holds the sizes of the corpora.

    A corpus is drawn with a probability proportional to its size to the power of 1/T (Arivazhagan
    et al. 2019, "Massively Multilingual Neural Machine Translation in the Wild"). At T = 1 every
    pair is seen once. The higher T is, the more often pairs of small corpora are seen; in the limit
    all corpora are drawn equally often. The length of an epoch does not depend on T. The corpora's
    own weights multiply the result.
    """
    if temperature == 1:
        return list(weights)
    shares = [count ** (1 / temperature) if count else 0.0 for count in pairs]
    scale = sum(pairs) / sum(shares)
    return [
        weight * scale * share / count if count else weight
        for weight, share, count in zip(weights, shares, pairs, strict=True)
    ]


def mixed_by_direction(
    pairs: Sequence[int],
    weights: Sequence[float],
    directions: Sequence[Hashable | None],
    temperature: float,
) -> list[float]:
    """The same, with all corpora of one direction counted as one corpus. A corpus whose direction
    is None stands alone."""
    groups = [number if d is None else d for number, d in enumerate(directions)]
    sizes = dict.fromkeys(groups, 0)
    for group, count in zip(groups, pairs, strict=True):
        sizes[group] += count
    often = mixed_weights(list(sizes.values()), [1.0] * len(sizes), temperature)
    factor = dict(zip(sizes, often, strict=True))
    return [weight * factor[group] for weight, group in zip(weights, groups, strict=True)]
