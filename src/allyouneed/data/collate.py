"""Makes padded tensors of token ids. B batch · S source length · T target length."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.data.corpus import SIDES, Side
from allyouneed.data.padding import padded_ids
from allyouneed.data.store import TokenStore

# (ids ending in the end token, side, epoch, number of the pair) → ids ending in the end token
Augment = Callable[[Sequence[int], Side, int, int], Sequence[int]]

# (numbers of the pairs, source ids BS, labels BT) → which source token each label comes from, BTS
Linked = Callable[[Sequence[int], NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]


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
    numbers = list(map(int, indices))
    if augment is None:
        source_BS, labels_BT = (store.padded(side, numbers, pad) for side in SIDES)
    else:
        pairs = [
            [
                augment(ids.tolist(), side, epoch, n)
                for side, ids in zip(SIDES, store.pair(n), strict=True)
            ]
            for n in numbers
        ]
        source_BS, labels_BT = (padded_ids(rows, pad) for rows in zip(*pairs, strict=True))
    there_BT = labels_BT != pad
    target_in_BT = np.full_like(labels_BT, pad)
    target_in_BT[:, 0] = start
    target_in_BT[:, 1:][there_BT[:, 1:]] = labels_BT[:, :-1][there_BT[:, 1:]]
    guide_BTS = None
    if linked is not None:
        linked_BTS = torch.from_numpy(linked(numbers, source_BS, labels_BT)).float()
        guide_BTS = linked_BTS / linked_BTS.sum(dim=-1, keepdim=True).clamp(min=1)
    return Batch(
        torch.from_numpy(source_BS),
        torch.from_numpy(target_in_BT),
        torch.from_numpy(labels_BT),
        int(there_BT.sum()),
        guide_BTS,
    )
