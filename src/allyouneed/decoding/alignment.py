"""Which source word a target word comes from, read off the decoder's cross-attention.

B batch · S source length · T target length · H heads
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from allyouneed.core.attention import MultiHeadAttention, Site
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.scoring import teacher_input
from allyouneed.errors import UsageError


@torch.inference_mode()
def cross_attention_map(
    model: Transformer, source_BS: Tensor, target_BT: Tensor, layer: int = -1
) -> Tensor:
    """How much each target token looks at each source token, BTS: one decoder layer's
    cross-attention, the mean of its heads, captured while the target is teacher-forced.

    Row t is the attention of the step that produced target token t. `layer` counts from 0, or
    from the last with negative numbers. With two decoder layers the last tells best; with six it
    is often the last but one (Garg et al. 2019).

    Raises:
        UsageError: a layer that the decoder does not have.
        ShapeError: source and target that are not BS and BT with the same B.
    """
    layers = model.decoder.layers
    if not -len(layers) <= layer < len(layers):
        raise UsageError(f"layer {layer}: the decoder has layers 0 … {len(layers) - 1}")
    attention = layers[layer].cross_attention
    assert isinstance(attention, MultiHeadAttention)
    seen: list[Tensor] = []

    def watch(weights_BHTS: Tensor, site: Site) -> Tensor:
        seen.append(weights_BHTS.mean(dim=1))
        return weights_BHTS

    attention.probes.append(watch)
    try:
        model(source_BS, teacher_input(model, source_BS, target_BT))
    finally:
        attention.probes.remove(watch)
    return seen[0]


def pharaoh(
    attention_TS: Tensor, source_groups: Sequence[int], target_groups: Sequence[int]
) -> str:
    """Alignment in Pharaoh format, "0-0 1-2": pairs of source word and target word, from 0.

    The groups name the word that each token belongs to; a token of group -1 (the end) is left
    out. What is padding has no group. Each target word gets the source word that its tokens look
    at most.
    """
    weights: dict[int, dict[int, float]] = {}
    for row, target in zip(attention_TS.tolist(), target_groups, strict=False):
        for weight, source in zip(row, source_groups, strict=False):
            if source >= 0 and target >= 0:
                words = weights.setdefault(target, {})
                words[source] = words.get(source, 0.0) + weight
    pairs = sorted((max(words, key=words.__getitem__), t) for t, words in weights.items())
    return " ".join(f"{source}-{target}" for source, target in pairs)
