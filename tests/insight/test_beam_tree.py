"""The tree holds every hypothesis that the search has held, and says what became of each."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.length_penalty import NoPenalty
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.scoring import score_targets
from allyouneed.insight.beam_tree import BeamTree, TreeWatch
from allyouneed.text.tokenizer import Tokenizer

GARDEN_PATH = {
    (): {3: 0.6, 4: 0.4},
    (3,): {3: 0.6, 4: 0.25, 2: 0.15},
    (4,): {2: 0.95, 3: 0.05},
    (3, 3): {2: 0.4, 3: 0.32, 4: 0.28},
}


class Table:
    """Speaks the decoding protocol: one sentence, with probabilities written out."""

    config = TransformerConfig(vocabulary=6)

    def encode(self, source_BS: Tensor) -> None:
        return None

    def start(self, memory: None, hypotheses: int, max_length: int) -> Any:
        cache = SimpleNamespace(told=[()] * hypotheses)

        def select(sentences_B: Tensor | None, hypotheses_BN: Tensor | None) -> None:
            if hypotheses_BN is not None:
                cache.told = [cache.told[n] for n in hypotheses_BN[0].tolist()]

        cache.select = select
        return cache

    def step(self, ids_BN: Tensor, cache: Any) -> Tensor:
        cache.told = [(*old, id) for old, id in zip(cache.told, ids_BN[0].tolist(), strict=True)]
        logits = torch.full((1, len(cache.told), 6), -30.0)
        for row, told in zip(logits[0], cache.told, strict=True):
            for id, p in GARDEN_PATH.get(told[1:], GARDEN_PATH[()]).items():
                row[id] = math.log(p)
        return logits


def test_a_tree_by_hand(small_tokenizer: Tokenizer) -> None:
    options = BeamOptions(beam=2, length_penalty=NoPenalty())
    watch = TreeWatch(options, small_tokenizer, 2)
    [[best]] = beam_search(Table(), torch.tensor([[5, 2]]), options, None, watch)
    assert best.ids == (4, 2)
    nodes = watch.tree(best.ids).nodes
    told = [(n.parent, n.id, n.step, round(math.exp(n.score), 3), n.fate) for n in nodes]
    assert told == [
        (None, 3, 0, 0.6, "alive"),
        (None, 4, 0, 0.4, "best"),
        (1, 2, 1, 0.38, "best"),
        (0, 3, 1, 0.36, "alive"),
        (0, 4, 1, 0.15, "dropped"),
        (3, 2, 2, 0.144, "finished"),
        (3, 3, 2, 0.115, "alive"),
        (3, 4, 2, 0.101, "alive"),
    ]
    assert [node.number for node in nodes] == list(range(len(nodes)))


def children(tree: BeamTree) -> dict[int | None, list[int]]:
    found: dict[int | None, list[int]] = {}
    for node in tree.nodes:
        found.setdefault(node.parent, []).append(node.number)
    return found


@pytest.mark.parametrize("beam", [1, 3, 5])
@pytest.mark.parametrize("source", [[9, 30, 31, 200, 2], [40, 2], [7, 7, 8, 2]])
def test_every_hypothesis_is_there_and_true(
    beam: int, source: list[int], make: Callable[..., Transformer], small_tokenizer: Tokenizer
) -> None:
    model, source_BS = make(), torch.tensor([source])
    options = BeamOptions(beam=beam, n_best=beam, max_length=9)
    watch = TreeWatch(options, small_tokenizer, model.config.end)
    [found] = beam_search(model, source_BS, options, None, watch)
    assert [found] == beam_search(model, source_BS, options), "watching changes nothing"
    tree = watch.tree(found[0].ids)
    below, last = children(tree), max(node.step for node in tree.nodes)
    paths = {tuple(one.id for one in tree.path(node.number)): node for node in tree.nodes}
    assert len(paths) == len(tree.nodes)
    for ids, node in paths.items():
        [true] = score_targets(model, source_BS, torch.tensor([ids]))
        assert node.log_probability == pytest.approx(sum(true), abs=1e-3)
        assert node.score == pytest.approx(node.log_probability / options.penalty(len(ids)))
        assert (node.fate == "dropped") <= (node.number not in below and node.id != 2)
        if node.fate == "alive":
            assert node.number in below or node.step == last
    for hypothesis in found:
        assert paths[hypothesis.ids].score == pytest.approx(hypothesis.score, abs=1e-4)
    best = [node for node in tree.nodes if node.fate == "best"]
    assert tuple(node.id for node in best) == found[0].ids
    for step in range(last + 1):
        assert sum(node.step == step and node.id != 2 for node in tree.nodes) <= beam
