"""The highest possible speed of a cell, by the bytes to read and the operations to compute.

D d_model · F d_ff · V vocabulary · S source length · T target length
"""

from allyouneed.core.config import TransformerConfig
from contest.cells import Cell
from contest.machine import Limits

CACHED = 2  # bytes of a cached key's or value's component, in bfloat16


def step_bytes(config: TransformerConfig, cell: Cell) -> float:
    """The mean number of bytes that a step of a forced cell reads: the decoder's weights and the
    output layer in int8, once; the cached keys and values of all hypotheses; and those of each
    sentence's memory, once.

    An engine can be faster only by reading the weights less than once per step."""
    caches = cell.batch * cell.beam * (cell.length + 1) / 2 + cell.batch * len(cell.sources[0])
    return decoder_weights(config) + caches * 2 * config.d_model * CACHED * config.decoder_layers


def cell_operations(config: TransformerConfig, cell: Cell, target_tokens: int) -> float:
    """The multiplications and additions of all projections, for this number of target tokens and
    `beam` hypotheses."""
    return products(config, sum(map(len, cell.sources)), target_tokens * cell.beam)


def products(config: TransformerConfig, source_tokens: int, target_tokens: int) -> float:
    """The multiplications and additions of all projections for these numbers of tokens."""
    encoder = config.encoder_layers * (4 * config.d_model**2 + 2 * config.d_model * config.d_ff)
    memory = config.decoder_layers * 2 * config.d_model**2
    return 2.0 * (source_tokens * (encoder + memory) + target_tokens * decoder_weights(config))


def decoder_weights(config: TransformerConfig) -> int:
    """The number of weights that a step multiplies by, without those for the memory's keys and
    values, which are computed before the first step."""
    layer = 6 * config.d_model**2 + 2 * config.d_model * config.d_ff
    return config.decoder_layers * layer + config.d_model * config.vocabulary


def floors(
    config: TransformerConfig, cell: Cell, target_tokens: int, limits: Limits
) -> dict[str, float | None]:
    """The least possible time of the whole cell in seconds, by bytes (only for forced cells, whose
    number of steps is known) and by operations. None for SSRU decoders, whose cells select part of
    the output layer for each sentence."""
    if config.decoder == "ssru":
        return {"bytes": None, "operations": None}
    by_bytes = None
    if cell.batch:
        moved = step_bytes(config, cell) * cell.length * cell.batches
        by_bytes = moved / limits.bytes_per_second
    operations = cell_operations(config, cell, target_tokens)
    return {"bytes": by_bytes, "operations": operations / limits.operations_per_second}
