"""Checks of the exercises of lesson 3: each yields (right?, hint) pairs, easy ones first."""

import math

import torch

from allyouneed.core.positions import Rotary, sinusoidal_encoding
from lesson import same


def check_encoding(encoding):
    yield len(encoding(0, 4)) == 4, "d_model = 4 has four numbers"
    yield same(encoding(0, 4), [0, 1, 0, 1]), "position 0 is 0 1 0 1: sine and cosine take turns"
    yield (
        same(encoding(1, 4)[:2], [math.sin(1), math.cos(1)]),
        "position 1 begins with sin 1, cos 1",
    )
    third = float(encoding(1, 4)[2])
    yield (
        abs(third - 0.0001) > 1e-6,
        "10000^(2i/d_model): you step by two already, do not double it",
    )
    yield same(third, math.sin(0.01)), f"PE(1, 2) is sin(1/100) = 0.0100, not {third:.4f}"
    yield same(encoding(77, 16), sinusoidal_encoding(78, 16)[77], 1e-4), "PE(77) of 16 is off"


def check_shift_back(shift_back, *, shift_matrix):
    table = sinusoidal_encoding(30, 8)
    matrix = shift_back(3, 8)
    yield tuple(matrix.shape) == (8, 8), f"d_model = 8 takes an 8 by 8 matrix, not {matrix.shape}"
    there = table @ matrix.T
    forward = same(there[:-3], table[3:], 1e-4)
    yield not forward, "this one walks forward: turn by the opposite angle"
    yield same(there[3:], table[:-3], 1e-4), "it does not take PE(10) to PE(7)"
    both = shift_back(5, 8) @ shift_matrix(5, 8)
    yield same(both, torch.eye(8), 1e-4), "five forward and five back should be nowhere else"


def check_rotate(rotate):
    x = torch.randn(8, generator=torch.Generator().manual_seed(3))
    found = rotate(x, 5)
    yield tuple(found.shape) == (8,), f"8 numbers in, 8 out, not {tuple(found.shape)}"
    yield same(rotate(x, 0), x), "position 0 turns nothing"
    yield same(found.norm(), x.norm(), 1e-4), "a rotation keeps the length; this one does not"
    wanted = Rotary(8, 10)(x[None, None, None], 5)[0, 0, 0]
    yield same(found[:2], wanted[:2], 1e-4), "the first pair is (x_0, x_1), turned by 5 radians"
    yield same(found, wanted, 1e-4), "the first pair is right; others turn by 5 / 10000^(2i/8)"
