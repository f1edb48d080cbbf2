"""Makes padded tensors of token ids. B batch · S source length · T target length."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.data.corpus import Side
from allyouneed.data.padding import padded
from allyouneed.data.store import TokenStore

# (ids ending in the end token, side, epoch, number of the pair) → ids ending in the end token
Augment = Callable[[Sequence[int], Side, int, int], Sequence[int]]

# (number of the pair, source ids, target ids) → which source token each target token comes from, TS
Linked = Callable[[int, Sequence[int], Sequence[int]], NDArray[np.bool_]]


@dataclass(frozen=True)
class Batch:
    """The input of a training step: int64 tensors, and the number of labels that are not padding.

    `target_in_BT` is the start token followed by `labels_BT` without its last position (section
    3.1: the output embeddings are offset by one position).
    `guide_BTS` is there where a head learns alignments: the share of each label that comes from
    each source token. Rows of zeros have no alignment.
    """

    source_BS: Tensor
    target_in_BT: Tensor
    labels_BT: Tensor
    target_tokens: int
    guide_BTS: Tensor | None = None


def collate(
    store: TokenStore,
    indices: Iterable[int],
    pad: int,
    start: int,
    augment: Augment | None = None,
    epoch: int = 0,
    linked: Linked | None = None,
) -> Batch:
    """The pairs with these numbers as one batch, padded on the right.

    `augment` may replace a sentence's tokens by others (BPE dropout). If that makes a sentence
    longer, the batch may exceed the token budget. `linked` gives the word alignments.
    """
    sources: list[Sequence[int]] = []
    targets: list[Sequence[int]] = []
    numbers = list(map(int, indices))
    for index in numbers:
        source, target = (ids.tolist() for ids in store.pair(index))
        if augment is not None:
            source = augment(source, "source", epoch, index)
            target = augment(target, "target", epoch, index)
        sources.append(source)
        targets.append(target)
    labels_BT = padded(targets, pad)
    target_in_BT = torch.full_like(labels_BT, pad)
    target_in_BT[:, 0] = start
    for row, ids in enumerate(targets):
        target_in_BT[row, 1 : len(ids)] = labels_BT[row, : len(ids) - 1]
    source_BS = padded(sources, pad)
    guide_BTS = None
    if linked is not None:
        guide_BTS = torch.zeros(*labels_BT.shape, source_BS.size(1))
        for row, (index, source, target) in enumerate(zip(numbers, sources, targets, strict=True)):
            linked_TS = torch.from_numpy(linked(index, source, target)).float()
            shares_TS = linked_TS / linked_TS.sum(dim=1, keepdim=True).clamp(min=1)
            guide_BTS[row, : len(target), : len(source)] = shares_TS
    return Batch(source_BS, target_in_BT, labels_BT, sum(map(len, targets)), guide_BTS)
