"""Checks of the exercises of lesson 5: each yields (right?, hint) pairs, easy ones first."""

import torch
from torch import nn

from lesson import same


def check_normalise(normalise):
    x = 3 + 2 * torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(4))
    found = normalise(x, 1e-5)
    yield tuple(found.shape) == (2, 5, 4), f"BTD in, BTD out: (2, 5, 4), not {tuple(found.shape)}"
    yield (
        same(found.mean(-1), torch.zeros(2, 5), 1e-4),
        "the mean of each token's vector should be 0",
    )
    size = float(found.square().mean())
    yield abs(size - 1) < 1e-3, f"the variance should be 1, not {size:.3f}: divide by d, not d - 1"
    small = x / 1000
    wanted = nn.functional.layer_norm(small, (4,), eps=1e-5)
    yield (
        same(normalise(small, 1e-5), wanted, 1e-4),
        "for small x it differs: √(variance + epsilon)",
    )


def check_pre_norm(pre_norm):
    generator = torch.Generator().manual_seed(5)
    x, weight = torch.randn(2, 3, 8, generator=generator), torch.randn(8, 8, generator=generator)

    def sublayer(y):
        return y @ weight

    def norm(y):
        return nn.functional.layer_norm(y, (8,))

    found = pre_norm(x, sublayer, norm)
    yield (
        same(pre_norm(x, torch.zeros_like, norm), x),
        "a sub-layer that says nothing changes nothing",
    )
    yield not same(found, norm(x + sublayer(x))), "this is post-norm: normalise what goes in"
    yield not same(found, x + sublayer(x)), "the sub-layer should see norm(x)"
    yield same(found, x + sublayer(norm(x))), "x, not norm(x), is what the result is added to"


def check_rms_normalise(rms_normalise):
    x = 3 + 2 * torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(6))
    found = rms_normalise(x, 1e-5)
    yield tuple(found.shape) == (2, 5, 4), f"BTD in, BTD out: (2, 5, 4), not {tuple(found.shape)}"
    yield bool((found.mean(-1).abs() > 0.1).any()), "leave the mean alone: do not subtract it"
    size = float(found.square().mean())
    yield abs(size - 1) < 1e-3, f"the mean square should become 1, not {size:.3f}"
    small = x / 1000
    wanted = nn.functional.rms_norm(small, (4,), eps=1e-5)
    yield same(rms_normalise(small, 1e-5), wanted, 1e-4), "epsilon belongs under the root"
