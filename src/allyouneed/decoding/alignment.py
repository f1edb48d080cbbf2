"""Which source word a target word comes from, read off the decoder's cross-attention.

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


class Watched:
    """A model that tells after each step of a search where it has looked; a search has its own."""

    def __init__(self, model: Transformer, chosen: AlignmentHeads) -> None:
        """`chosen` are the heads whose mean is told.

        Raises:
            UsageError: a layer or a head that the decoder does not have.
        """
        chosen.check(len(model.decoder.layers), model.config.heads)
        self.model = _twin(model)
        attention = self.model.decoder.layers[chosen.layer].cross_attention
        heads = list(chosen.heads or range(model.config.heads))
        assert isinstance(attention, MultiHeadAttention)

        def watch(weights_BHTS: Tensor, site: Site) -> Tensor:
            self._newest_RS = weights_BHTS[:, heads, -1].mean(dim=1)
            return weights_BHTS

        attention.probes.append(watch)

    @property
    def config(self) -> TransformerConfig:
        """That of the model."""
        return self.model.config

    @property
    def training(self) -> bool:
        """Whether the model is in training mode."""
        return self.model.training

    def encode(self, source_BS: Tensor) -> Any:
        """As the model."""
        return self.model.encode(source_BS)

    def start(self, memory: Any, hypotheses: int, max_length: int) -> Cache:
        """As the model."""
        return self.model.start(memory, hypotheses, max_length)

    def step(self, ids_BN: Tensor, cache: Cache) -> Tensor:
        """As the model."""
        logits_BNV = self.model.step(ids_BN, cache)
        self._newest_BNS = self._newest_RS.view(*ids_BN.shape, -1)
        return logits_BNV

    def looks(self) -> Tensor:
        """How much each hypothesis looked at each source token in the last step, BNS."""
        return self._newest_BNS


def _twin(module: Module) -> Module:
    """The module again, with the same weights but lists of probes of its own."""
    twin = copy(module)
    twin._modules = {name: child and _twin(child) for name, child in module._modules.items()}
    if isinstance(twin, MultiHeadAttention):
        twin.probes = [*twin.probes]
    return twin
