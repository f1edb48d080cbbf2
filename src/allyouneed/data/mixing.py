"""How often an epoch sees the pairs of each corpus: temperature sampling."""

from collections.abc import Sequence


def mixed_weights(
    pairs: Sequence[int], weights: Sequence[float], temperature: float
) -> list[float]:
    """How often an epoch sees each pair of a corpus, on average, for corpora of so many `pairs`.

    Corpus i is drawn with a probability proportional to its size to the power of 1/T (Arivazhagan
    et al. 2019, "Massively Multilingual Neural Machine Translation in the Wild"): at T = 1 every
    pair is seen once; the higher T, the more often those of small corpora, until all corpora are
    drawn alike. An epoch is as long as it is at T = 1. The corpora's own weights multiply the
    result.
    """
    if temperature == 1:
        return list(weights)
    shares = [count ** (1 / temperature) if count else 0.0 for count in pairs]
    scale = sum(pairs) / sum(shares)
    return [
        weight * scale * share / count if count else weight
        for weight, share, count in zip(weights, shares, pairs, strict=True)
    ]
