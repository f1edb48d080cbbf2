"""Random numbers for sampling, the same in every engine."""

import random
from collections.abc import Sequence

from allyouneed.decoding.options import SamplingOptions


def chances(
    options: SamplingOptions, indices: Sequence[int], length: int
) -> list[list[list[float]]]:
    """Random numbers in [0, 1), indexed by [index][sample][token].

    The numbers of a sample depend on (seed, index, sample) only, not on the other indices.
    """
    return [
        [_drawn(f"{options.seed} {index} {n}", length) for n in range(options.samples)]
        for index in indices
    ]


def _drawn(seed: str, length: int) -> list[float]:
    generator = random.Random(seed)
    return [generator.random() for _ in range(length)]
