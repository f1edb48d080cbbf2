"""BPE dropout: in training, a sentence is cut into different pieces each time it is used."""

import math
import random
from collections.abc import Sequence

from allyouneed.errors import ConfigError
from allyouneed.text.tokenizer import Tokenizer


class BpeDropout:
    """Undoes merges at random on stored ids: a variant of Provilkov et al. 2020.

    Provilkov et al. start from characters and skip each possible merge with probability p at
    every step, so other merges become possible and pieces may cross the borders of the usual ones.
    This class splits each piece of the usual encoding with probability p into the two pieces it
    was merged from, and then treats both parts in the same way. The text need not be encoded again,
    and the result depends on the ids and the generator only. At the same p it splits less often.
    """

    def __init__(self, tokenizer: Tokenizer, p: float, longest: float = math.inf) -> None:
        """`p` is the probability of a split: 0 never splits, 1 leaves single bytes.

        A text is left unchanged if splitting would give more than `longest` ids.

        Raises:
            ConfigError: `p` is not a probability.
        """
        if not 0.0 <= p <= 1.0:
            raise ConfigError(f"bpe dropout {p} is not a probability; give 0 to 1, usually 0.1")
        self.p = p
        self.longest = longest
        self._halves = tokenizer.halves()

    def __call__(self, ids: Sequence[int], rng: random.Random) -> list[int]:
        """Ids of the same text after random splits. Special ids are never split.

        Each merge that is considered takes one number from `rng`.
        """
        if self.p == 0.0:
            return list(ids)
        halves, draw, p = self._halves, rng.random, self.p
        result: list[int] = []
        waiting = list(ids)[::-1]
        while waiting:
            piece = waiting.pop()
            split = halves.get(piece)
            if split is None or draw() >= p:
                result.append(piece)
            else:
                waiting += split[::-1]
        return result if len(result) <= self.longest else list(ids)
