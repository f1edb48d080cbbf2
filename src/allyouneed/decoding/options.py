"""What every search can be told.

B batch · S source length
"""

from dataclasses import dataclass

from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Lengths of hypotheses, and what they must not repeat.

    `min_length` is the fewest tokens before the end (1: no empty translation). `max_length` is
    the most tokens, the end among them; None: those of the source without its end, plus
    `extra_length` (50, as in section 6.1). The model's `max_positions` always limits too.
    `no_repeat_ngram=n` lets no sequence of n tokens occur twice in a hypothesis; 0 lets all.
    `loop_guard` ends endless repetition, see `constraints.LoopGuard`.

    Raises:
        UsageError: a value out of range, with the range.
    """

    min_length: int = 1
    max_length: int | None = None
    extra_length: int = 50
    no_repeat_ngram: int = 0
    loop_guard: bool = True

    def __post_init__(self) -> None:
        at_least("min_length", self.min_length, 0)
        at_least("extra_length", self.extra_length, 1)
        at_least("no_repeat_ngram", self.no_repeat_ngram, 0)
        if self.max_length is not None and self.max_length <= self.min_length:
            raise UsageError(
                f"max_length={self.max_length} leaves no room for min_length={self.min_length} "
                f"tokens and the end; it must be at least {self.min_length + 1}"
            )

    def limits(self, source_BS: Tensor, config: TransformerConfig) -> Tensor:
        """The most tokens that each sentence's hypotheses may have, B."""
        if self.max_length is not None:
            limits_B = source_BS.new_full((source_BS.size(0),), self.max_length)
        else:
            counted_BS = (source_BS != config.pad) & (source_BS != config.end)
            limits_B = counted_BS.sum(dim=1) + self.extra_length
        return limits_B.clamp(max=config.max_positions)


def at_least(name: str, value: int, least: int) -> None:
    """Raises UsageError for an option below `least`."""
    if value < least:
        raise UsageError(f"{name}={value} must be at least {least}")
