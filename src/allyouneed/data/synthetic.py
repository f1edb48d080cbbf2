"""Pairs made from a seed: tasks that a Transformer must learn, with no file needed."""

import random
from collections.abc import Iterator

from allyouneed.data.corpus import MadeTask, Pair

LETTERS = "abcdefghijklmnop"
SHORTEST, LONGEST = 4, 8  # letters; shorter ones would soon repeat


def made_pairs(task: MadeTask, pairs: int, seed: int) -> Iterator[Pair]:
    """Letters with spaces between; the target is the source copied or reversed.

    The same (task, pairs, seed) gives the same pairs everywhere; `pairs` only says where to stop.
    """
    rng = random.Random(seed)
    for line in range(1, pairs + 1):
        letters = rng.choices(LETTERS, k=rng.randint(SHORTEST, LONGEST))
        answer = letters if task == "copy" else letters[::-1]
        yield Pair(" ".join(letters), " ".join(answer), line)
