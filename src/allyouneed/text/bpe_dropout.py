"""BPE dropout: the same sentence in other pieces each time it is trained on."""

import math
import random
from collections.abc import Sequence

from allyouneed.errors import ConfigError
from allyouneed.text.tokenizer import Tokenizer


class BpeDropout:
    """Undoes merges at random on stored ids: a variant of Provilkov et al. 2020.

    There, encoding starts from characters and leaves out each possible merge with probability p
    at every step, so that other merges may come about and pieces may cross the borders of the
    usual ones. Here each piece of the usual encoding is split with probability p into the two it
    was merged from, and so on with its parts. Every result refines the usual pieces, the text
    needs no encoding again, and the generator alone decides; at the same p it splits less.
    """

    def __init__(self, tokenizer: Tokenizer, p: float, longest: float = math.inf) -> None:
        """`p` in 0 (never split) to 1 (bytes only); what would be more than `longest` ids stays as
        it is.

        Raises:
            ConfigError: `p` is no probability.
        """
        if not 0.0 <= p <= 1.0:
            raise ConfigError(f"bpe dropout {p} is no probability; give 0 to 1, usually 0.1")
        self.p = p
        self.longest = longest
        self._halves = tokenizer.halves()

    def __call__(self, ids: Sequence[int], rng: random.Random) -> list[int]:
        """Other ids of the same text. Special ids stay; one draw of `rng` for each merge met."""
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
