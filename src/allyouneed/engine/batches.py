"""Batches of sentences of similar length, within a budget of tokens and rows."""

from collections.abc import Iterator, Sequence

BATCH_TOKENS = 2048  # source tokens in a batch, padding included
BATCH_HYPOTHESES = 512  # hypotheses decoded at once; a batch's cache grows with this number


def batches_of_like_length(
    lengths: Sequence[int], tokens: int = BATCH_TOKENS, most_rows: int = BATCH_HYPOTHESES
) -> Iterator[list[int]]:
    """Batches of the numbers 0 … n-1, sorted by length. A batch ends where rows × longest would
    exceed `tokens`, or where it would have more than `most_rows` rows."""
    waiting = by_length(lengths)
    while waiting:
        count = rows_that_fit([lengths[number] for number in waiting], tokens, most_rows)
        yield waiting[:count]
        waiting = waiting[count:]


def by_length(lengths: Sequence[int]) -> list[int]:
    """Numbers 0 … n-1, the shortest first."""
    return sorted(range(len(lengths)), key=lengths.__getitem__)


def rows_that_fit(lengths: Sequence[int], tokens: int, most_rows: int) -> int:
    """The number of these ascending lengths that fit into the first batch: at least one."""
    for rows, length in enumerate(lengths):
        if rows and (rows == most_rows or (rows + 1) * length > tokens):
            return rows
    return len(lengths)
