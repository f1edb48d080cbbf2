"""The work to measure: shapes, and batches of sentence pairs with Multi30k's lengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from contest.floor import products
from contest.models import made_up_tokenizer
from numpy.typing import NDArray

from allyouneed.data.batches import BatchSampler, Indices
from allyouneed.data.collate import Batch, collate
from allyouneed.data.corpus import SIDES, Side
from allyouneed.data.root import data_root
from allyouneed.data.store import TokenStore
from allyouneed.training.preparation import Material, prepare
from allyouneed.training.recipe.toml_file import Recipe, load_recipe

DROPOUT = 0.1  # rate after embeddings and sub-layers, wherever speed is measured
CORPUS = Path("multi30k/train.en.gz")
MEAN_LENGTH, LONGEST = 14.0, 45  # of Multi30k's sentences in a vocabulary of 8,000


@dataclass(frozen=True)
class Shape:
    """A preset, and the number of tokens of a batch."""

    preset: str
    batch_tokens: int
    vocabulary: int = 8000
    overrides: tuple[str, ...] = ()

    def recipe(self, precision: str, dropout: float = DROPOUT) -> Recipe:
        """Multi30k's recipe with this shape."""
        return load_recipe(
            "multi30k",
            [
                f"vocabulary.size={self.vocabulary}",
                "vocabulary.dropout=0",  # the same words in the same pieces for all
                f'model.preset="{self.preset}"',
                'model.residual="post-norm"',  # Marian knows no other, and no positions but these
                'model.positions="sinusoidal"',
                f"model.dropout={dropout}",
                f"training.batch_tokens={self.batch_tokens}",
                f'training.precision="{precision}"',
                *self.overrides,
            ],
        )


SHAPES = {
    "tiny": Shape("tiny", 4096),
    "small": Shape("small", 4096),
    "base": Shape("base", 2048),
}
NARROW = ("model.d_model=32", "model.heads=2", "model.d_ff=64", "model.max_positions=64")
QUICK = {"quick": Shape("tiny", 256, 320, NARROW)}


class RandomPairs:
    """Stands for a `TokenStore`: sentences of random words, about as long as Multi30k's."""

    corpora = 1

    def __init__(self, vocabulary: int, pairs: int = 4000) -> None:
        draw = np.random.default_rng(0)
        drawn = draw.gamma(8.0, MEAN_LENGTH / 8.0, (2, pairs))
        self._lengths: NDArray[np.int32] = drawn.clip(4, LONGEST).astype(np.int32)
        self._ids = draw.integers(4, vocabulary, (2, pairs, LONGEST), dtype=np.uint16)
        self.corpus_bounds = np.array([0, pairs])

    def __len__(self) -> int:
        return self._lengths.shape[1]

    def lengths(self, first: int = 0, end: int | None = None) -> Any:
        """As in `TokenStore`."""
        source, target = self._lengths[:, first:end]
        return source, target

    def pair(self, index: int) -> Any:
        """As in `TokenStore`."""
        source, target = (
            [*ids[: length - 1], 2]
            for ids, length in zip(self._ids[:, index], self._lengths[:, index], strict=True)
        )
        return np.array(source), np.array(target)

    def padded(self, side: Side, numbers: Sequence[int], pad: int) -> NDArray[np.int64]:
        """As in `TokenStore`."""
        at = SIDES.index(side)
        last_B1 = self._lengths[at, numbers][:, None] - 1
        place_S = np.arange(last_B1.max() + 1)
        ids_BS = self._ids[at, numbers, : len(place_S)].astype(np.int64)
        ids_BS[place_S > last_B1] = pad
        ids_BS[place_S == last_B1] = 2
        return ids_BS

    def line_of(self, index: int) -> tuple[str, int]:
        """As in `TokenStore`."""
        return "random", index + 1


class Work:
    """The batches of a shape, the same in every process and for every engine."""

    def __init__(self, shape: Shape, folder: Path) -> None:
        """`folder` stores the prepared data."""
        self.shape = shape
        self.folder = folder
        self.material = self._material()
        self.config = self.material.config
        sampler = BatchSampler(self.material.train, shape.batch_tokens, seed=1)
        self.numbers = sampler.epoch_batches(0)
        self._batches: dict[tuple[int, str], Batch] = {}

    @property
    def made_up(self) -> bool:
        """Whether the words are random, because the corpus is missing."""
        return isinstance(self.material.train, RandomPairs)

    def pairs(self, number: int) -> Indices:
        """The pairs of a batch. After the last batch the numbers begin again with the first."""
        return self.numbers[number % len(self.numbers)]

    def batch(self, number: int, device: str = "cpu") -> Batch:
        """A batch as tensors on this device, made only once."""
        if (number, device) not in self._batches:
            pairs = self.pairs(number)
            config = self.config
            made = collate(self.material.train, pairs, config.pad, config.start)
            tensors = (made.source_BS, made.target_in_BT, made.labels_BT)
            there = [ids.to(device) for ids in tensors]
            self._batches[number, device] = Batch(*there, target_tokens=made.target_tokens)
        return self._batches[number, device]

    def operations(self, number: int) -> float:
        """The operations of an update's matrix products: those of the forward pass, and twice as
        many for the gradients. Padding is not counted."""
        source, target = self.material.train.lengths()
        pairs = self.pairs(number)
        forward = products(self.config, int(source[pairs].sum()), int(target[pairs].sum()))
        return 3.0 * forward

    def _material(self) -> Material:
        recipe = self.shape.recipe("float32")
        root = data_root()
        if self.shape not in QUICK.values() and root and (root / CORPUS).is_file():
            return prepare(recipe, self.folder, lambda note: None)
        many = max(4000, self.shape.batch_tokens)  # enough to fill several batches
        pairs = cast(TokenStore, RandomPairs(self.shape.vocabulary, many))
        return Material(
            tokenizer=made_up_tokenizer(self.shape.vocabulary),
            config=recipe.model.config(self.shape.vocabulary),
            train=pairs,
            valid=pairs,
            valid_pairs=[],
            weights=[1.0],
            init=None,
        )
