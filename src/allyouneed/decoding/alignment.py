"""Which source word a target word comes from, read off the decoder's cross-attention.

B batch · S source length · T target length · H heads
"""

from copy import copy
from typing import TypeVar

import torch
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention, Site
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.scoring import teacher_input

Module = TypeVar("Module", bound=nn.Module)


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
    chosen.check(len(model.decoder.layers), model.config.heads)
    model = _twin(model)  # so that threads that share the model do not see each other's probes
    attention = model.decoder.layers[chosen.layer].cross_attention
    heads = list(chosen.heads or range(model.config.heads))
    assert isinstance(attention, MultiHeadAttention)
    seen: list[Tensor] = []

    def watch(weights_BHTS: Tensor, site: Site) -> Tensor:
        seen.append(weights_BHTS[:, heads].mean(dim=1))
        return weights_BHTS

    attention.probes.append(watch)
    model(source_BS, teacher_input(model, source_BS, target_BT))
    return seen[0]


def _twin(module: Module) -> Module:
    """The module again, with the same weights but lists of probes of its own."""
    twin = copy(module)
    twin._modules = {name: child and _twin(child) for name, child in module._modules.items()}
    if isinstance(twin, MultiHeadAttention):
        twin.probes = [*twin.probes]
    return twin
