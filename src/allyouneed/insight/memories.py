"""Feed-forward networks as key-value memories (Geva et al. 2021): finds for each hidden unit the
prefixes that activate it most (its key) and the tokens that it promotes (its value).

B batch · T length · F d_ff · K kept · V vocabulary
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import at_least
from allyouneed.errors import UsageError
from allyouneed.insight.capture import capture
from allyouneed.insight.names import check_name, feed_forwards
from allyouneed.insight.pairs import Pairs
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.translator import Translator

PAIRS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class Excitement:
    """A prefix that activates a unit. `activation` is the unit's value at the last token of
    `prefix`, which is a beginning of the source in the encoder, and of the target in the decoder.
    `source` is the whole source sentence, `number` the number of the pair, from 1."""

    activation: float
    prefix: str
    source: str
    number: int


@dataclass(frozen=True, slots=True)
class HiddenUnitMemory:
    """One hidden unit: its place in the model; the prefixes of different sentences that activate it
    most, the largest activation first; and the tokens that its value vector promotes, with their
    logits."""

    feed_forward: str
    unit: int
    excited_by: tuple[Excitement, ...]
    promotes: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """All fields, with values that JSON can hold."""
        return {
            "feed_forward": self.feed_forward,
            "unit": self.unit,
            "excited_by": [
                {
                    "activation": one.activation,
                    "prefix": one.prefix,
                    "source": one.source,
                    "number": one.number,
                }
                for one in self.excited_by
            ],
            "promotes": [{"token": token, "logit": logit} for token, logit in self.promotes],
        }


class Memories:
    """Every hidden unit of one feed-forward network, measured over a corpus. `memories[7]` is unit
    7, and `len(memories)` is the number of units."""

    def __init__(self, translator: Translator, feed_forward: str, excited: "_MostExcited") -> None:
        self._translator, self._name, self._excited = translator, feed_forward, excited

    def __len__(self) -> int:
        return int(self._excited.activations_FK.size(0))

    def __getitem__(self, unit: int) -> HiddenUnitMemory:
        """The memory of a unit; raises IndexError if the unit does not exist."""
        if not 0 <= unit < len(self):
            raise IndexError(f"unit {unit}: {self._name} has units 0 … {len(self) - 1}")
        model, tokenizer = self._translator.model, self._translator.tokenizer
        promoted = promoted_tokens(model, tokenizer, self._name, unit, self._excited.keep)
        return HiddenUnitMemory(
            self._name, unit, tuple(self._excited.of(unit, tokenizer)), promoted
        )

    def __iter__(self) -> Iterator[HiddenUnitMemory]:
        return (self[unit] for unit in range(len(self)))


@torch.no_grad()
def memories(
    translator: Translator,
    pairs: Iterable[tuple[str, str]],
    feed_forward: str,
    *,
    keep: int = 10,
) -> Memories:
    """Reads a corpus and finds, for every hidden unit of one feed-forward network, the `keep`
    sentences that activate it most, each with the prefix at its largest activation.

    `feed_forward` is the network's name, such as `decoder.layers.1.feed_forward`. `pairs` are
    (source, target), preferably the training data. They are read once, as a stream; memory holds
    some hundred of them at a time, and the kept ones.

    Raises:
        UsageError: the name is not a feed-forward network, there are no pairs, or `keep` is below
        1. DataError: a pair does not fit into the model's positions; the message names its number.
    """
    at_least("keep", keep, 1)
    model = translator.model
    check_name(feed_forward, feed_forwards(model), "among the feed-forward networks")
    excited = _MostExcited(keep, in_decoder=feed_forward.startswith("decoder"))
    remaining, first_number = iter(pairs), 1
    while chunk := list(islice(remaining, PAIRS_AT_ONCE)):
        sources, targets = zip(*chunk, strict=True)
        here = Pairs.of(translator, sources, targets, first_number)
        for chosen in here.batches():
            with capture(model, activations=True, names=[feed_forward]) as tape:
                here.force(model, chosen)
            excited.add(tape.activations[feed_forward], here, chosen, first_number)
        first_number += len(chunk)
    if first_number == 1:
        raise UsageError("there are no pairs to read")
    return Memories(translator, feed_forward, excited)


@torch.no_grad()
def promoted_tokens(
    model: Transformer, tokenizer: AnyTokenizer, feed_forward: str, unit: int, count: int
) -> tuple[tuple[str, float], ...]:
    """The tokens whose logits the unit's value vector (its column of W_2) raises most through the
    output projection, each with the rise for an activation of 1. Norms in between are ignored."""
    W_2 = model.get_submodule(feed_forward).get_submodule("W_2")
    value_D = W_2.get_parameter("weight")[:, unit]
    logits_V = model.output.weight @ value_D
    lifts, ids = logits_V.topk(min(count, logits_V.numel()))
    return tuple(
        (tokenizer.target.piece(id), lift)
        for id, lift in zip(ids.tolist(), lifts.tolist(), strict=True)
    )


class _MostExcited:
    """For each unit the sentences with its largest activations so far, each with the position of
    the largest activation."""

    def __init__(self, keep: int, in_decoder: bool) -> None:
        self.keep, self.in_decoder = keep, in_decoder
        self.activations_FK = torch.empty(0, 0)
        self._numbers_FK = torch.empty(0, 0, dtype=torch.int64)
        self._positions_FK = torch.empty(0, 0, dtype=torch.int64)
        self._kept: dict[int, tuple[Sequence[int], Sequence[int]]] = {}  # sentence number → ids

    def add(
        self, activations_BTF: Tensor, pairs: Pairs, chosen: Sequence[int], first_number: int
    ) -> None:
        """Counts a batch; pair n of `pairs` has the number `first_number` + n."""
        side = pairs.targets if self.in_decoder else pairs.sources
        lengths_B = torch.tensor([len(side[n]) for n in chosen])
        padding_BT = torch.arange(activations_BTF.size(1)) >= lengths_B[:, None]
        real_BTF = activations_BTF.cpu().masked_fill(padding_BT[..., None], -torch.inf)
        best_BF, position_BF = real_BTF.max(dim=1)
        numbers_BF = torch.tensor([first_number + n for n in chosen])[:, None].expand_as(best_BF)
        if not len(self.activations_FK):
            self.activations_FK = best_BF.new_empty(best_BF.size(1), 0)
            self._numbers_FK = numbers_BF.new_empty(best_BF.size(1), 0)
            self._positions_FK = self._numbers_FK
        all_FX = torch.cat([self.activations_FK, best_BF.T], dim=1)
        self.activations_FK, best_FK = all_FX.topk(min(self.keep, all_FX.size(1)), dim=1)
        self._numbers_FK = torch.cat([self._numbers_FK, numbers_BF.T], dim=1).gather(1, best_FK)
        self._positions_FK = torch.cat([self._positions_FK, position_BF.T], dim=1).gather(
            1, best_FK
        )
        here = {first_number + n: (pairs.sources[n], pairs.targets[n]) for n in chosen}
        wanted = set(self._numbers_FK.flatten().tolist())
        self._kept = {n: here[n] if n in here else self._kept[n] for n in wanted}

    def of(self, unit: int, tokenizer: AnyTokenizer) -> Iterator[Excitement]:
        """The prefixes that activate one unit most, the largest activation first."""
        columns = (self.activations_FK, self._numbers_FK, self._positions_FK)
        for activation, number, position in zip(*(c[unit].tolist() for c in columns), strict=True):
            source, target = self._kept[number]
            # At position t the decoder has read the start token and t target tokens.
            prefix = target[:position] if self.in_decoder else source[: position + 1]
            texts = tokenizer.target.decode(prefix), tokenizer.decode(source)
            yield Excitement(activation, *texts, number)
