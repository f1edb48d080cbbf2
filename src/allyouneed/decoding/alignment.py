"""Which source word a target word comes from, read off the decoder's cross-attention.

B batch · S source length · T target length · H heads
"""

import torch
from torch import Tensor

from allyouneed.core.attention import MultiHeadAttention, Site
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.scoring import teacher_input


@torch.inference_mode()
def cross_attention_map(
    model: Transformer,
    source_BS: Tensor,
    target_BT: Tensor,
    chosen: AlignmentHeads | None = None,
) -> Tensor:
    """How much each target token looks at each source token, BTS: the mean of the chosen heads
    (None: all of the last layer), captured while the target is teacher-forced.

    Row t is the attention of the step that produced target token t.

    Raises:
        UsageError: a layer or a head that the decoder does not have.
        ShapeError: source and target that are not BS and BT with the same B.
    """
    chosen = chosen or AlignmentHeads()
    layers = model.decoder.layers
    chosen.check(len(layers), model.config.heads)
    attention = layers[chosen.layer].cross_attention
    heads = list(chosen.heads or range(model.config.heads))
    assert isinstance(attention, MultiHeadAttention)
    seen: list[Tensor] = []

    def watch(weights_BHTS: Tensor, site: Site) -> Tensor:
        seen.append(weights_BHTS[:, heads].mean(dim=1))
        return weights_BHTS

    attention.probes.append(watch)
    try:
        model(source_BS, teacher_input(model, source_BS, target_BT))
    finally:
        attention.probes.remove(watch)
    return seen[0]
