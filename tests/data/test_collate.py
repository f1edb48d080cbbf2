import random

import torch

from allyouneed.data.batches import BatchSampler
from allyouneed.data.collate import collate


def test_a_batch_by_hand(store_of):
    store = store_of([("a", "bcd"), ("ef", "g")])
    a, b, c, d, e, f, g = (4 + ord(letter) for letter in "abcdefg")
    batch = collate(store, [1, 0], pad=0, start=1)
    assert batch.source_BS.tolist() == [[e, f, 2], [a, 2, 0]]
    assert batch.target_in_BT.tolist() == [[1, g, 0, 0], [1, b, c, d]]
    assert batch.labels_BT.tolist() == [[g, 2, 0, 0], [b, c, d, 2]]
    assert batch.target_tokens == 6
    for tensor in (batch.source_BS, batch.target_in_BT, batch.labels_BT):
        assert tensor.dtype == torch.int64


def test_other_pad_and_start(store_of):
    batch = collate(store_of([("a", "b"), ("", "")]), [0, 1], pad=7, start=9)
    assert batch.source_BS.tolist() == [[4 + 97, 2], [2, 7]]
    assert batch.target_in_BT.tolist() == [[9, 4 + 98], [9, 7]]
    assert batch.labels_BT.tolist() == [[4 + 98, 2], [2, 7]]


def test_every_batch_of_an_epoch_comes_back(store_of, tokenizer):
    rng = random.Random(0)
    pairs = [("x" * rng.randint(1, 20), "y" * rng.randint(1, 20)) for _ in range(80)]
    store = store_of(pairs)
    read = []
    for indices in BatchSampler(store, 100, 0).epoch_batches(0):
        batch = collate(store, indices, pad=0, start=1)
        assert batch.target_tokens == int((batch.labels_BT != 0).sum())
        assert torch.equal(batch.target_in_BT != 0, batch.labels_BT != 0)
        sides = zip(batch.source_BS.tolist(), batch.labels_BT.tolist(), strict=True)
        read += [(tokenizer.decode(s), tokenizer.decode(t)) for s, t in sides]
    assert sorted(read) == sorted(pairs)


def test_a_batch_is_the_same_sentence_by_sentence(store_of):
    rng = random.Random(1)
    store = store_of([("x" * rng.randint(0, 20), "y" * rng.randint(0, 20)) for _ in range(40)])
    numbers = rng.choices(range(len(store)), k=30)
    fast = collate(store, numbers, pad=0, start=1)
    slow = collate(store, numbers, pad=0, start=1, augment=lambda ids, *where: ids)
    assert fast.target_tokens == slow.target_tokens
    for name in ("source_BS", "target_in_BT", "labels_BT"):
        assert torch.equal(getattr(fast, name), getattr(slow, name))


def test_augment_rewrites_each_sentence(store_of):
    store = store_of([("a", "b"), ("cc", "d")])
    asked = []

    def twice(ids, side, epoch, index):
        asked.append((list(ids), side, epoch, index))
        return [*ids[:-1], *ids] if side == "source" else ids

    batch = collate(store, [1, 0], pad=0, start=1, augment=twice, epoch=5)
    a, b, c, d = (4 + ord(letter) for letter in "abcd")
    assert asked == [
        ([c, c, 2], "source", 5, 1),
        ([d, 2], "target", 5, 1),
        ([a, 2], "source", 5, 0),
        ([b, 2], "target", 5, 0),
    ]
    assert batch.source_BS.tolist() == [[c, c, c, c, 2], [a, a, 2, 0, 0]]
    assert batch.labels_BT.tolist() == [[d, 2], [b, 2]]
