"""Scores and attention of given translations, by teacher forcing of the core model.

B sentences · S source length · T target length
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.data.padding import padded
from allyouneed.decoding.alignment import cross_attention_map
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.links import Aligned
from allyouneed.decoding.scoring import score_targets
from allyouneed.engine.batches import batches_of_like_length
from allyouneed.errors import AllYouNeedError, DataError
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.segments import Segment

Ids = Sequence[Sequence[int]]


@torch.inference_mode()
def token_scores(model: Transformer, sources: Ids, targets: Ids) -> list[tuple[float, ...]]:
    """log P of each token of each target, in order. The batches do not change the result.

    Raises:
        DataError: a pair is longer than the model's positions; the message has its number.
        AllYouNeedError: the log-probabilities of a pair are not finite; the message has its number.
    """
    lengths = [max(map(len, pair)) for pair in zip(sources, targets, strict=True)]
    for number, length in enumerate(lengths, 1):
        if length > model.config.max_positions:
            raise DataError(
                f"pair {number} has {length} tokens, more than the model's "
                f"{model.config.max_positions} positions; score it in parts"
            )
    found: dict[int, tuple[float, ...]] = {}
    for chosen in batches_of_like_length(lengths):
        source_BS = _padded(model, [sources[n] for n in chosen])
        target_BT = _padded(model, [targets[n] for n in chosen])
        found |= zip(chosen, score_targets(model, source_BS, target_BT), strict=True)
    for number in range(len(lengths)):
        if not all(map(math.isfinite, found[number])):
            raise AllYouNeedError(
                f"pair {number + 1}: the model's log-probabilities are not finite; check its "
                "weights for NaN"
            )
    return [found[n] for n in range(len(lengths))]


@torch.inference_mode()
def attention_map(
    model: Transformer, source: Sequence[int], target: Sequence[int], heads: AlignmentHeads
) -> Tensor:
    """The mean cross-attention TS of the heads.

    Raises:
        ShapeError: a text is longer than the model's positions.
    """
    source_BS, target_BT = _padded(model, [source]), _padded(model, [target])
    return cross_attention_map(model, source_BS, target_BT, heads)[0]


@torch.inference_mode()
def align(
    model: Transformer,
    tokenizer: AnyTokenizer,
    segments: Sequence[Segment],
    sources: Ids,
    targets: Ids,
    heads: AlignmentHeads,
) -> list[Aligned]:
    """The links of each segment, given the ids of its source and of its translation."""
    found: dict[int, Aligned] = {}
    for chosen in batches_of_like_length([len(source) for source in sources]):
        source_BS = _padded(model, [sources[n] for n in chosen])
        target_BT = _padded(model, [targets[n] for n in chosen])
        weights_BTS = cross_attention_map(model, source_BS, target_BT, heads)
        for n, weights_TS in zip(chosen, weights_BTS, strict=True):
            found[n] = segments[n].aligned(weights_TS, sources[n], targets[n], tokenizer)
    return [found[n] for n in range(len(segments))]


def _padded(model: Transformer, rows: Ids) -> Tensor:
    return padded(rows, model.config.pad, next(model.parameters()).device)
