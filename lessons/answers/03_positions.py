"""Answers to the exercises of lesson 3, and slips (NAME__SLIP) that their checks have to find."""

import math

import torch


def encoding(pos, d_model):
    numbers = []
    for i in range(0, d_model, 2):
        angle = pos / 10000 ** (i / d_model)
        numbers += [math.sin(angle), math.cos(angle)]
    return numbers


def encoding__sine_twice(pos, d_model):
    return [math.sin(pos / 10000 ** (i / d_model)) for i in range(d_model)]


def encoding__a_thousand(pos, d_model):
    numbers = []
    for i in range(0, d_model, 2):
        angle = pos / 1000 ** (i / d_model)
        numbers += [math.sin(angle), math.cos(angle)]
    return numbers


def encoding__doubled(pos, d_model):
    numbers = []
    for i in range(0, d_model, 2):
        angle = pos / 10000 ** (2 * i / d_model)
        numbers += [math.sin(angle), math.cos(angle)]
    return numbers


def encoding__in_halves(pos, d_model):
    angles = [pos / 10000 ** (i / d_model) for i in range(0, d_model, 2)]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


def _forward(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        turn = k / 10000 ** (i / d_model)
        cos, sin = math.cos(turn), math.sin(turn)
        blocks.append(torch.tensor([[cos, sin], [-sin, cos]]))
    return torch.block_diag(*blocks)


def shift_back(k, d_model):
    return _forward(-k, d_model)


def shift_back__forward(k, d_model):
    return _forward(k, d_model)


def shift_back__negated(k, d_model):
    return -_forward(k, d_model)


def shift_back__a_subtraction(k, d_model):
    return torch.eye(d_model) - k * torch.eye(d_model)


def rotate(x_K, position):
    angle = position / 10000 ** (torch.arange(0, len(x_K), 2) / len(x_K))
    even, odd = x_K[0::2], x_K[1::2]
    turned = (even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos())
    return torch.stack(turned, dim=-1).flatten()


def rotate__other_way(x_K, position):
    return rotate(x_K, -position)


def rotate__one_angle(x_K, position):
    even, odd = x_K[0::2], x_K[1::2]
    cos, sin = math.cos(position), math.sin(position)
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten()


def rotate__halves(x_K, position):
    angle = position / 10000 ** (torch.arange(0, len(x_K), 2) / len(x_K))
    low, high = x_K.chunk(2)
    return torch.cat(
        (low * angle.cos() - high * angle.sin(), low * angle.sin() + high * angle.cos())
    )


def rotate__added(x_K, position):
    return x_K + position
