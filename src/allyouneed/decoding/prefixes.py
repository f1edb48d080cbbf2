"""Prefixes that translations are forced to begin with: one for each sentence, () for none."""

from collections.abc import Sequence

from allyouneed.core.config import TransformerConfig
from allyouneed.errors import UsageError

Prefixes = Sequence[Sequence[int]]


def check_prefixes(prefixes: Prefixes, sentences: int, config: TransformerConfig) -> None:
    """Raises UsageError for prefixes that do not fit the batch or hold an impossible id."""
    if len(prefixes) != sentences:
        raise UsageError(
            f"{len(prefixes)} prefixes for {sentences} sentences; give one for each, () for none"
        )
    special = {config.pad, config.start, config.end}
    for number, prefix in enumerate(prefixes):
        for id_ in prefix:
            if id_ in special or not 0 <= id_ < config.vocabulary:
                raise UsageError(
                    f"prefix of sentence {number}: id {id_} cannot be forced; it must be an id of "
                    f"0 … {config.vocabulary - 1}, but not one of {sorted(special)}"
                )


def check_room(prefixes: Prefixes, limits: Sequence[int]) -> None:
    """Raises UsageError for a prefix that leaves no room for another token."""
    for prefix, limit in zip(prefixes, limits, strict=False):
        if len(prefix) >= limit:
            raise UsageError(
                f"a prefix of {len(prefix)} tokens leaves no room below the limit of {limit}; "
                "shorten it or raise max_length (--max-length)"
            )
