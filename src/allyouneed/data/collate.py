"""Token ids of a batch as padded tensors. B batch · S source length · T target length."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from allyouneed.data.store import TokenStore

Side = Literal["source", "target"]
# (ids ending in the end token, side, epoch, number of the pair) → ids ending in the end token
Augment = Callable[[Sequence[int], Side, int, int], Sequence[int]]


@dataclass(frozen=True)
class Batch:
    """What a training step takes: int64 tensors, and how many label positions are not padding.

    `target_in_BT` is `labels_BT` moved one to the right behind the start token (section 3.1: the
    output embeddings are offset by one position).
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

    `augment` may write a sentence in other tokens (BPE dropout); where that makes it longer, the
    batch goes over the token budget by as much.
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


def padded(sentences: Sequence[Sequence[int] | NDArray[Any]], pad: int) -> Tensor:
    """Ids as the rows of one tensor, filled up on the right."""
    rows = np.full((len(sentences), max(map(len, sentences))), pad, dtype=np.int64)
    for row, ids in zip(rows, sentences, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(rows)
