"""The kinds of noise that a corpus gets, their shares, and their random choices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from random import Random

from allyouneed.data.corpus import Pair
from allyouneed.data.noise import added, case, typed
from allyouneed.data.noise.case import Texts
from allyouneed.errors import DataError

Tell = Callable[[str, Pair], None]  # (kind of noise, the pair that got it)
CASES = {
    "capitals": case.capitals,
    "title_case": case.title_case,
    "small_letters": case.small_letters,
}


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The share of pairs, from 0 to 1, that get each kind of noise, and the number of `copies` of
    each pair. Every copy gets its own noise.

    The random choices depend on the seed, the copy and the pair's line only. They are made once,
    when the pairs are tokenised, and stored with them. Training is therefore as fast as without
    noise, batches know the real lengths, and all workers see the same pairs.

    Raises:
        DataError: a share is not between 0 and 1, or the shares of the cases add up to more than 1.
    """

    seed: int = 0
    copies: int = 1
    joined: float = 0.0
    copied: float = 0.0
    foreign: float = 0.0
    emoji: float = 0.0
    typing_errors: float = 0.0
    no_accents: float = 0.0
    no_end_mark: float = 0.0
    doubled_spaces: float = 0.0
    capitals: float = 0.0
    title_case: float = 0.0
    small_letters: float = 0.0

    def __post_init__(self) -> None:
        for name, share in self.shares().items():
            if not 0 <= share <= 1:
                raise DataError(f"noise.{name}={share} must be a number from 0 to 1")
        if (together := sum(getattr(self, name) for name in CASES)) > 1:
            raise DataError(
                f"noise: {', '.join(CASES)} add up to {together:g}, but a line can have one of "
                "them only; lower them to 1 in all"
            )
        if self.copies < 1:
            raise DataError(f"noise.copies={self.copies} must be at least 1")

    def shares(self) -> dict[str, float]:
        """The share of each kind, by name."""
        kinds = (field.name for field in fields(self) if field.name not in ("seed", "copies"))
        return {name: getattr(self, name) for name in kinds}

    def of(self, pairs: Sequence[Pair], tell: Tell = lambda kind, pair: None) -> list[Pair]:
        """All copies of these pairs with their noise. `tell` is called for each noise added."""
        return [
            self._noisy(pair, pairs, copy, tell) for copy in range(self.copies) for pair in pairs
        ]

    def _noisy(self, pair: Pair, pairs: Sequence[Pair], copy: int, tell: Tell) -> Pair:
        chance = Random(f"{self.seed} {copy} {pair.line}")
        texts = pair.source, pair.target

        def draw(kind: str, change: Callable[[Texts], Texts]) -> None:
            nonlocal texts
            if chance.random() < getattr(self, kind) and (changed := change(texts)) != texts:
                texts = changed
                tell(kind, pair)

        def other() -> Texts:
            found = chance.choice(pairs)
            return found.source, found.target

        draw("joined", lambda texts: added.joined(texts, other()))
        draw("copied", lambda texts: added.copied(texts, chance))
        draw("foreign", lambda texts: added.foreign(texts, other(), chance))
        draw("typing_errors", lambda texts: typed.typing_errors(texts, chance))
        draw("no_accents", lambda texts: typed.no_accents(texts, chance))
        draw("no_end_mark", typed.no_end_mark)
        draw("emoji", lambda texts: added.emoji(texts, chance))
        draw("doubled_spaces", lambda texts: typed.doubled_spaces(texts, chance))
        drawn = chance.random()
        for kind, change in CASES.items():
            drawn -= getattr(self, kind)
            if drawn < 0:
                if (changed := change(texts)) != texts:
                    texts = changed
                    tell(kind, pair)
                break
        return Pair(*texts, pair.line)
