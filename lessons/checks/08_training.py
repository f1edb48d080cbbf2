"""Checks of the exercises of lesson 8: each yields (right?, hint) pairs, easy ones first."""

import math

import torch

from allyouneed.training.schedule import noam
from lesson import same


def check_smoothed_targets(smoothed_targets):
    labels = torch.tensor([3, 0, 3])
    found = smoothed_targets(labels, 8, 0.1)
    yield tuple(found.shape) == (3, 8), f"3 labels and 8 words are (3, 8), not {tuple(found.shape)}"
    yield same(found.sum(1), torch.ones(3)), "each row has to sum to 1: it is a distribution"
    yield same(found[0, 1], 0.1 / 8), "a wrong token gets epsilon / V = 0.0125"
    yield same(found[0, 3], 0.9 + 0.1 / 8), "the right token gets 1 - epsilon and its share"
    yield same(smoothed_targets(labels, 8, 0.0), torch.eye(8)[labels]), "with 0 it is one-hot"


def check_learning_rate(learning_rate):
    peak = learning_rate(4000, 512, 4000)
    yield (
        same(peak, 1 / math.sqrt(512 * 4000)),
        "at step 4000 of a warm-up of 4000 it is at its peak",
    )
    half = learning_rate(2000, 512, 4000)
    yield same(half, peak / 2, within=1e-9), "half-way up it is half the peak: the rise is a line"
    later = learning_rate(16000, 512, 4000)
    yield same(later, peak / 2, within=1e-9), "four times as far as the peak it has fallen to half"
    narrow = learning_rate(100, 256, 4000) / learning_rate(100, 512, 4000)
    yield same(narrow, math.sqrt(2)), "half the width is a rate √2 times as high"
    found = [learning_rate(step, 256, 50) for step in (1, 50, 1000)]
    yield same(found, [noam(s, 256, 1.0, 50) for s in (1, 50, 1000)], 1e-9), "not equation 3 yet"


def check_least_loss(least_loss, *, floor):
    yield same(least_loss(19, 0.1), 0.5872, 1e-4), "for 19 tokens and 0.1 it is 0.587 nats"
    yield same(least_loss(37000, 0.1), floor(37000, 0.1)), "for the paper's 37,000 it is 1.377 nats"
    yield same(least_loss(1000, 0.0), 0.0), "without smoothing a perfect model's loss is 0"
