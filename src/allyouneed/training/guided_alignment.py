"""Guided alignment: one head of cross-attention learns given word alignments (Chen et al. 2016,
Garg et al. 2019).

B batch · S source length · T target length · P packed positions · D d_model · K head width
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.transformer import Transformer
from allyouneed.training.recipe.sections import GuidedAlignmentSection


class GuidedHead:
    """The head that learns alignments; it keeps its queries and keys of the latest pass.

    Raises UsageError for a layer or head that the model's decoder does not have.
    """

    def __init__(self, model: Transformer, section: GuidedAlignmentSection) -> None:
        section.check(model.config)
        layer: Any = model.decoder.layers[section.layer]
        self.attention: MultiHeadAttention = layer.cross_attention
        self.weight = section.weight
        self._head = section.head
        self._q_BTK = self._k_BSK = torch.empty(0)

    def watch(self) -> None:
        """From now on, every pass through the core's own module is seen."""

        def see(module: nn.Module, arguments: tuple[Any, ...]) -> None:
            x_BTD, memory_BSD = arguments[:2]
            attention = self.attention
            self.see(
                *(self._of(w, x) for w, x in ((attention.W_Q, x_BTD), (attention.W_K, memory_BSD)))
            )

        self.attention.register_forward_pre_hook(see)

    def _of(self, projection: nn.Linear, x_BTD: Tensor) -> Tensor:
        """The part of a projection's result that belongs to this head."""
        width = projection.out_features // self.attention.heads
        rows = slice(self._head * width, (self._head + 1) * width)
        bias = None if projection.bias is None else projection.bias[rows]
        return nn.functional.linear(x_BTD, projection.weight[rows], bias)

    def see(self, q_BTK: Tensor, k_BSK: Tensor) -> None:
        """Takes this head's queries and keys, as projected."""
        if self.attention.positions:
            turn = self.attention.positions
            q_BTK, k_BSK = turn(q_BTK[:, None])[:, 0], turn(k_BSK[:, None])[:, 0]
        self._q_BTK, self._k_BSK = q_BTK, k_BSK

    def see_packed(
        self, q_PD: Tensor, kv_PD: Tensor, target_starts: Tensor, source_starts: Tensor
    ) -> None:
        """The same of all heads' queries, and of their keys and values side by side, for sentences
        that lie one behind the other."""
        width = self.attention.W_Q.out_features // self.attention.heads
        columns = slice(self._head * width, (self._head + 1) * width)
        self.see(
            _unpacked(q_PD[:, columns], target_starts), _unpacked(kv_PD[:, columns], source_starts)
        )

    def loss(self, guide_BTS: Tensor, there_BS: Tensor) -> Tensor:
        """Cross-entropy of the head's weights against the guide, in nats, summed over the target
        tokens. `guide_BTS` has the share of each target token that comes from each source token. A
        row of zeros has no effect on the loss. `there_BS` is True where there is a source token."""
        q_BTK, k_BSK = self._q_BTK, self._k_BSK
        scores_BTS = (q_BTK @ k_BSK.mT).float() / math.sqrt(q_BTK.size(-1))
        lowest = torch.finfo(scores_BTS.dtype).min
        logs_BTS = scores_BTS.masked_fill(~there_BS[:, None], lowest).log_softmax(dim=-1)
        return -torch.where(guide_BTS > 0, guide_BTS * logs_BTS, 0.0).sum()


def _unpacked(x_PK: Tensor, starts: Tensor) -> Tensor:
    """The sentences of a tensor in which they lie one behind the other, as rows of a padded tensor.
    The values in the padding are arbitrary."""
    starts = starts.long()
    longest = int(starts.diff().max())
    places_BT = starts[:-1, None] + torch.arange(longest)
    flat = x_PK.index_select(0, places_BT.clamp(max=len(x_PK) - 1).flatten())
    return flat.view(*places_BT.shape, x_PK.size(1))


def split_links(
    linked_TS: NDArray[np.bool_],
    stored: tuple[Sequence[int], Sequence[int]],
    split: tuple[Sequence[int], Sequence[int]],
    lengths: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The links of tokens after BPE dropout has split some of them: each part of a token has the
    links of the whole token.

    `stored` and `split` are (source, target) ids before and after; `lengths` has each id's bytes.
    """
    source, target = (
        _wholes(before, after, lengths) for before, after in zip(stored, split, strict=True)
    )
    return linked_TS[np.ix_(target, source)]


def _wholes(
    before: Sequence[int], after: Sequence[int], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each id the number of the one that it is a part of."""
    ends = lengths[np.array(before)].cumsum()
    found: NDArray[np.int64] = np.searchsorted(ends, lengths[np.array(after)].cumsum())
    return found
