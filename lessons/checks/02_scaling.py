"""Checks of the exercises of lesson 2: each yields (right?, hint) pairs, easy ones first."""

import math

import torch

from lesson import same


def check_variance_of_product(variance_of_product):
    for d_k in (1, 16, 100):
        found = float(variance_of_product(d_k, 20_000))
        yield found > 0.5 * d_k, f"d_k = {d_k}: about {d_k}, not {found:.2f}; sum the terms"
        yield found < 1.5 * d_k, f"d_k = {d_k}: about {d_k}, not {found:.2f}"
    several = {float(variance_of_product(4, 50)) for _ in range(3)}
    yield len(several) == 3, "three small samples have three variances: measure, do not look it up"


def check_softmax_slopes(softmax_slopes):
    scores = torch.randn(5, generator=torch.Generator().manual_seed(2))
    found = softmax_slopes(scores.softmax(0))
    yield tuple(found.shape) == (5, 5), f"5 weights by 5 scores: (5, 5), not {tuple(found.shape)}"
    wanted = torch.autograd.functional.jacobian(lambda s: s.softmax(0), scores)
    yield bool((found.diagonal() > 0).all()), "a higher score, a higher weight: diagonal above 0"
    yield same(found.sum(dim=0), torch.zeros(5)), "weights always sum to 1: each column sums to 0"
    yield same(found, wanted), "autograd finds others; p_i on the diagonal, minus p_i p_j"


def check_divisor(divisor):
    yield same(divisor(512, 8), 8.0), "the paper's base model, 512 and 8 heads, divides by 8"
    yield same(divisor(1024, 16), 8.0), "the big model, 1024 and 16 heads, divides by 8, too"
    yield same(divisor(512, 1), math.sqrt(512)), "a single head is as wide as the model"
    yield same(divisor(512, 8, 16), 4.0), "heads of width 16 divide by 4, whatever d_model is"
