"""How fast a cell could be at most: bytes that have to be read, operations to be done.

D d_model · F d_ff · V vocabulary · S source length · T target length
"""

from allyouneed.core.config import TransformerConfig
from contest.cells import Cell
from contest.machine import Limits

CACHED = 2  # bytes of a cached key's or value's component, in bfloat16


def step_bytes(config: TransformerConfig, cell: Cell) -> float:
    """Bytes of one step of a forced cell, on average: the decoder's weights and the output layer in
    int8, once; the cached keys and values of all hypotheses, and of each sentence's memory once.

    Reading weights less than once a step is the way below this floor."""
    caches = cell.batch * cell.beam * (cell.length + 1) / 2 + cell.batch * len(cell.sources[0])
    return decoder_weights(config) + caches * 2 * config.d_model * CACHED * config.decoder_layers


def cell_operations(config: TransformerConfig, cell: Cell, target_tokens: int) -> float:
    """Multiplications and additions of all projections, for a target of so many tokens in all and
    as many hypotheses as the beam is wide."""
    return products(config, sum(map(len, cell.sources)), target_tokens * cell.beam)


def products(config: TransformerConfig, source_tokens: int, target_tokens: int) -> float:
    """Multiplications and additions of all projections of so many tokens."""
    encoder = config.encoder_layers * (4 * config.d_model**2 + 2 * config.d_model * config.d_ff)
    memory = config.decoder_layers * 2 * config.d_model**2
    return 2.0 * (source_tokens * (encoder + memory) + target_tokens * decoder_weights(config))


def decoder_weights(config: TransformerConfig) -> int:
    """Weights that a step multiplies with; the memory's keys and values are there before."""
    layer = 6 * config.d_model**2 + 2 * config.d_model * config.d_ff
    return config.decoder_layers * layer + config.d_model * config.vocabulary


def floors(
    config: TransformerConfig, cell: Cell, target_tokens: int, limits: Limits
) -> dict[str, float | None]:
    """Seconds below which the whole cell cannot be: by bytes (forced cells, whose steps are known)
    and by operations."""
    by_bytes = None
    if cell.batch:
        moved = step_bytes(config, cell) * cell.length * cell.batches
        by_bytes = moved / limits.bytes_per_second
    operations = cell_operations(config, cell, target_tokens)
    return {"bytes": by_bytes, "operations": operations / limits.operations_per_second}
