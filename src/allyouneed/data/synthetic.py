"""Pairs made from a seed: small tasks for a Transformer that need no files."""

import random
from collections.abc import Iterator

from allyouneed.data.corpus import MadeTask, Pair

LETTERS = "abcdefghijklmnop"
SHORTEST, LONGEST = 4, 8  # letters; shorter sequences would soon be repeated


def made_pairs(task: MadeTask, pairs: int, seed: int) -> Iterator[Pair]:
    """Pairs of letters separated by spaces. The target is the source, copied or reversed.

    The same task and seed give the same pairs on every machine; `pairs` is the number of pairs.
    """
    rng = random.Random(seed)
    for line in range(1, pairs + 1):
        letters = rng.choices(LETTERS, k=rng.randint(SHORTEST, LONGEST))
        answer = letters if task == "copy" else letters[::-1]
        yield Pair(" ".join(letters), " ".join(answer), line)
