"""The decoder's cross-attention, from which word alignments are computed.

B batch · S source length · T target length · H heads
"""

from copy import copy
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention, Site
from allyouneed.core.cache import Cache
from allyouneed.core.config import TransformerConfig
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
    """The attention of each target token to each source token, BTS, by teacher forcing.

    The result is the mean over the chosen heads; None means all heads of the last layer. Row t is
    the attention of the step that produces target token t.

    Raises:
        UsageError: the decoder lacks the layer or a head.
        ShapeError: source and target are not BS and BT with the same B.
    """
    chosen = chosen or AlignmentHeads()
    chosen.check(len(model.decoder.layers), model.config.heads)
    model = _with_own_probes(model)  # other threads may use the same model
    attention = model.decoder.layers[chosen.layer].cross_attention
    heads = list(chosen.heads or range(model.config.heads))
    assert isinstance(attention, MultiHeadAttention)
    seen: list[Tensor] = []

    def record(weights_BHTS: Tensor, site: Site) -> Tensor:
        seen.append(weights_BHTS[:, heads].mean(dim=1))
        return weights_BHTS

    attention.probes.append(record)
    model(source_BS, teacher_input(model, source_BS, target_BT))
    return seen[0]


class AttentionRecorder:
    """A wrapped model that records the cross-attention of its last step.

    Each search needs a recorder of its own.
    """

    def __init__(self, model: Transformer, chosen: AlignmentHeads) -> None:
        """`chosen` are the heads whose mean is recorded.

        Raises:
            UsageError: the decoder lacks the layer or a head.
        """
        chosen.check(len(model.decoder.layers), model.config.heads)
        self.model = _with_own_probes(model)
        attention = self.model.decoder.layers[chosen.layer].cross_attention
        heads = list(chosen.heads or range(model.config.heads))
        assert isinstance(attention, MultiHeadAttention)

        def record(weights_BHTS: Tensor, site: Site) -> Tensor:
            self._newest_RS = weights_BHTS[:, heads, -1].mean(dim=1)
            return weights_BHTS

        attention.probes.append(record)

    @property
    def config(self) -> TransformerConfig:
        """The configuration of the wrapped model."""
        return self.model.config

    @property
    def training(self) -> bool:
        """Whether the wrapped model is in training mode."""
        return self.model.training

    def encode(self, source_BS: Tensor) -> Any:
        """The wrapped model's memory."""
        return self.model.encode(source_BS)

    def start(self, memory: Any, hypotheses: int, max_length: int) -> Cache:
        """The wrapped model's cache."""
        return self.model.start(memory, hypotheses, max_length)

    def step(self, ids_BN: Tensor, cache: Cache) -> Tensor:
        """The wrapped model's logits BNV. Records the attention of the step."""
        logits_BNV = self.model.step(ids_BN, cache)
        self._newest_BNS = self._newest_RS.view(*ids_BN.shape, -1)
        return logits_BNV

    def looks(self) -> Tensor:
        """The attention of each hypothesis to each source token in the last step, BNS."""
        return self._newest_BNS


def _with_own_probes(module: Module) -> Module:
    """A copy of the module with the same weights and its own lists of probes."""
    copied = copy(module)
    copied._modules = {
        name: child and _with_own_probes(child) for name, child in module._modules.items()
    }
    if isinstance(copied, MultiHeadAttention):
        copied.probes = [*copied.probes]
    return copied
