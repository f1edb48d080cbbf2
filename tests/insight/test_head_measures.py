"""Measures of weights made by hand, with padding that must not count."""

import math

import pytest
import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.insight.head_measures import (
    MEASURES,
    Columns,
    HeadSums,
    rarity,
    sentence_measures,
)

CONFIG = TransformerConfig(vocabulary=12, d_model=4, heads=1)
COUNTS = {5: 9, 6: 1, 7: 3}


def columns(rows: list[list[int]]) -> Columns:
    ids_BS = torch.tensor(rows)
    return Columns(ids_BS, ids_BS != 0, rarity(CONFIG, COUNTS)[ids_BS])


def means(weights_TS: Tensor, ids: list[int], *, causal: bool = False) -> dict[str, float]:
    sums = HeadSums(CONFIG, causal)
    rows_1T = torch.ones(1, weights_TS.size(0), dtype=torch.bool)
    sums.add(weights_TS[None, None], rows_1T, columns([ids]))
    return {name: values[0] for name, values in sums.means().items()}


@pytest.mark.parametrize(("name", "offset"), [("previous", -1), ("self", 0), ("next", 1)])
def test_a_positional_head_has_all_its_weight_there(name: str, offset: int) -> None:
    weights_TS = torch.eye(5).roll(offset, dims=1)
    found = means(weights_TS, [5, 6, 7, 5, 2])
    assert [found[other] for other in ("previous", "self", "next")] == [
        float(other == name) for other in ("previous", "self", "next")
    ]
    assert found["entropy"] == 0.0


def test_uniform_weights() -> None:
    found = means(torch.full((3, 4), 0.25), [5, 6, 7, 2])
    assert found["entropy"] == pytest.approx(math.log(4))
    assert found["distance"] == pytest.approx((6 + 4 + 4) / 12)
    for name in ("previous", "self", "next", "end", "rare"):
        assert found[name] == pytest.approx(0.25)
    assert "start" not in found


def test_special_tokens() -> None:
    found = means(torch.tensor([[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]]), [1, 5, 2])
    assert found["start"] == pytest.approx(0.3)
    assert found["end"] == pytest.approx(0.55)


def test_rare_is_the_least_frequent_word_that_a_row_may_see() -> None:
    weights_TS = torch.tensor(
        [[1.0, 0, 0, 0], [0.9, 0.1, 0, 0], [0.1, 0.2, 0.7, 0], [0, 0.3, 0.3, 0.4]]
    )
    ids = [1, 7, 6, 5]  # 6 was counted once, 7 three times, 5 nine times
    whole, causal = means(weights_TS, ids), means(weights_TS, ids, causal=True)
    assert whole["rare"] == pytest.approx((0 + 0 + 0.7 + 0.3) / 4)
    assert causal["rare"] == pytest.approx((0.1 + 0.7 + 0.3) / 3)  # row 0 sees no word


def test_equally_rare_pieces_go_by_their_number() -> None:
    order = rarity(CONFIG, COUNTS).argsort()
    assert order[:3].tolist() == [0, 1, 2]
    assert order[3:].tolist() == [5, 7, 6, 3, 4, 8, 9, 10, 11]
    assert (rarity(CONFIG, COUNTS)[:3] == -1).all()


def test_padding_does_not_count_and_batches_add_up() -> None:
    weights = [torch.rand(2, n, n).softmax(-1) for n in (4, 2, 3)]
    ids = [[5, 6, 7, 2], [7, 2], [5, 5, 2]]
    together = HeadSums(CONFIG, causal=False)
    for chosen in ([0, 1], [2]):
        longest = max(len(ids[n]) for n in chosen)
        padded_BHTS = torch.zeros(len(chosen), 2, longest, longest)
        for row, n in enumerate(chosen):
            size = len(ids[n])
            padded_BHTS[row, :, :size, :size] = weights[n]
            padded_BHTS[row, :, size:] = 0.3  # what a padded query says
        rows = [ids[n] + [0] * (longest - len(ids[n])) for n in chosen]
        here = columns(rows)
        together.add(padded_BHTS, here.real_BS, here)
    one_by_one = HeadSums(CONFIG, causal=False)
    for weights_HTS, row in zip(weights, ids, strict=True):
        one_by_one.add(weights_HTS[None], torch.ones(1, len(row), dtype=torch.bool), columns([row]))
    for name, values in one_by_one.means().items():
        assert together.means()[name] == pytest.approx(values), name


def test_what_never_occurs_has_no_value() -> None:
    assert means(torch.ones(1, 1), [2]).keys() == {"entropy", "distance", "self", "end"}
    lower_TS = torch.ones(3, 3).tril()
    assert "next" not in means(lower_TS, [1, 5, 6], causal=True)
    assert "next" in means(lower_TS, [1, 5, 6])


def test_one_sentence_by_itself() -> None:
    weights_HTS = torch.rand(2, 3, 4).softmax(-1)
    found = sentence_measures(weights_HTS, [5, 9, 6, 2], CONFIG, causal=False)
    assert found.keys() == MEASURES.keys() - {"start"}
    assert found["rare"] == pytest.approx(weights_HTS[:, :, 1].mean(-1).tolist())
    assert found["self"] == pytest.approx(weights_HTS.diagonal(dim1=1, dim2=2).mean(-1).tolist())


def test_a_head_that_looks_at_nothing_has_no_measures() -> None:
    """A head that is switched off is not one that looks at a single token."""
    ids = [5, 6, 7, 2]
    weights_HTS = torch.stack([torch.zeros(3, 4), torch.full((3, 4), 0.25)])
    found = sentence_measures(weights_HTS, ids, CONFIG, causal=False)
    alone = sentence_measures(weights_HTS[1:], ids, CONFIG, causal=False)
    for name, values in found.items():
        assert math.isnan(values[0])
        assert values[1] == alone[name][0]
    assert sentence_measures(weights_HTS[:1], ids, CONFIG, causal=False) == {}
