"""Checks of the exercises of lesson 4: each yields (right?, hint) pairs, easy ones first."""

import torch

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.insight.figures import row_min_max
from lesson import same


def check_split(split):
    x = torch.arange(2 * 5 * 12.0).view(2, 5, 12)
    found = split(x, 3)
    yield tuple(found.shape) == (2, 3, 5, 4), f"BHTK is (2, 3, 5, 4) here, not {tuple(found.shape)}"
    yield same(found[0, 0, 0], x[0, 0, :4]), "head 0 has the first K numbers of each token"
    yield same(found[0, 0, 1], x[0, 1, :4]), "head 0 of token 1 has numbers of another token"
    yield same(found[1, 2, 4], x[1, 4, 8:]), "the last head has the last K numbers"


def check_count(count, *, weights_in):
    def wanted(d_model, heads, head_width, bias):
        return weights_in(MultiHeadAttention(d_model, heads, head_width=head_width, bias=bias))

    yield count(8, 2, 4, False) == 4 * 64, "8 wide, 2 heads of 4, no bias: four matrices of 8 by 8"
    yield count(8, 2, 4, True) == 4 * 64 + 4 * 8, "with bias, four times eight more"
    yield (
        count(8, 2, 3, False) == wanted(8, 2, 3, False),
        "2 heads of 3 are 6 wide: 8 by 6 matrices",
    )
    found, right = count(8, 2, 3, True), wanted(8, 2, 3, True)
    yield found == right, f"8 wide, 2 heads of 3, bias: {right}, not {found}; W_O puts out d_model"


def check_stretch(stretch):
    weights = torch.tensor([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1], [1 / 3, 1 / 3, 1 / 3]])
    kept = weights.clone()
    found = stretch(weights)
    yield torch.equal(weights, kept), "the argument has changed: make a new tensor (lesson 1)"
    yield same(found[0], [0, 1 / 3, 1]), "0.2 0.3 0.5 becomes 0 1/3 1: each row for itself"
    yield bool(found.isfinite().all()), "a row of equal weights became NaN: 0 / 0"
    yield same(found[2], [0, 0, 0]), "a row of equal weights should be zeros"
    yield same(found, row_min_max(weights)), "0.7 0.2 0.1 becomes 1 1/6 0"
