"""Checks of the exercises of lesson 1: each yields (right?, hint) pairs, easy ones first."""

import torch

from allyouneed.core.attention import attention
from lesson import same


def check_soft_look_up(soft_look_up):
    generator = torch.Generator().manual_seed(1)
    q, k = torch.randn(8, generator=generator), torch.randn(5, 8, generator=generator)
    v = torch.randn(5, 3, generator=generator)
    found = soft_look_up(q, k, v)
    yield tuple(found.shape) == (3,), f"the blend has the width of a value, (3,), not {found.shape}"
    one = soft_look_up(q, k, torch.ones(5, 3))
    yield (
        same(one, torch.ones(3)),
        "if all values are 1, so is their blend: do the weights sum to 1?",
    )
    unscaled = (k @ q).softmax(0) @ v
    yield not same(found, unscaled), "nearly: divide the scores by the square root of d_k = 8"
    wanted, _ = attention(q[None, None, None], k[None, None], v[None, None])
    yield same(found, wanted[0, 0, 0]), "another blend comes out: softmax of q · k / √8, then sum"


def check_may_look_at(may_look_at):
    found = may_look_at(torch.tensor([2, 0, 4]), 4)
    yield found.dtype == torch.bool, f"a mask is boolean; this is {found.dtype}"
    yield tuple(found.shape) == (3, 4), f"three lengths and four keys are (3, 4), not {found.shape}"
    yield found.sum(1).tolist() == [2, 0, 4], "a length of 2 shows two keys, one of 0 shows none"
    yield (
        found[0].tolist() == [True, True, False, False],
        "the first keys are seen: True = may look",
    )
    for wrong in (5, -1):
        try:
            may_look_at(torch.tensor([2, wrong]), 4)
        except ValueError:
            continue
        yield False, f"a length of {wrong} with 4 keys has to raise a ValueError"


def check_window_and_first(window_and_first):
    found = window_and_first(6, 1)
    yield tuple(found.shape) == (6, 6), f"6 queries and 6 keys are (6, 6), not {tuple(found.shape)}"
    yield found.dtype == torch.bool, f"a mask is boolean; this is {found.dtype}"
    yield bool(found[:, 0].all()), "every query (row) may look at the first key (column 0)"
    yield bool(found[0].all()), "the first query (row 0) may look at every key"
    yield (
        found[4].tolist() == [True, False, False, True, True, True],
        ("query 4 with a reach of 1 sees keys 3, 4, 5, and the first"),
    )
    yield (
        window_and_first(6, 2)[3].all(),
        "with a reach of 2, query 3 sees keys 1 to 5, and the first",
    )
