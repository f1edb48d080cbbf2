"""Makes padded tensors of token ids. B batch · S source length · T target length."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from allyouneed.data.padding import padded
from allyouneed.data.store import TokenStore

Side = Literal["source", "target"]
# (ids ending in the end token, side, epoch, number of the pair) → ids ending in the end token
Augment = Callable[[Sequence[int], Side, int, int], Sequence[int]]


@dataclass(frozen=True)
class Batch:
    """The input of a training step: int64 tensors, and the number of labels that are not padding.

    `target_in_BT` is the start token followed by `labels_BT` without its last position (section
    3.1: the output embeddings are offset by one position).
    """

    source_BS: Tensor
    target_in_BT: Tensor
    labels_BT: Tensor
    target_tokens: int


def collate(
    store: TokenStore,
    indices: Iterable[int],
    pad: int,
    start: int,
    augment: Augment | None = None,
    epoch: int = 0,
) -> Batch:
    """The pairs with these numbers as one batch, padded on the right.

    `augment` may replace a sentence's tokens by others (BPE dropout). If that makes a sentence
    longer, the batch may exceed the token budget.
    """
    sources: list[Sequence[int]] = []
    targets: list[Sequence[int]] = []
    for index in map(int, indices):
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
    return Batch(padded(sources, pad), target_in_BT, labels_BT, sum(map(len, targets)))
