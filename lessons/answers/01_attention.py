"""Answers to the exercises of lesson 1, and slips (NAME__SLIP) that their checks have to find."""

import math

import torch


def soft_look_up(query_K, keys_SK, values_SV):
    weights_S = (keys_SK @ query_K / math.sqrt(len(query_K))).softmax(dim=0)
    return weights_S @ values_SV


def soft_look_up__unscaled(query_K, keys_SK, values_SV):
    return (keys_SK @ query_K).softmax(dim=0) @ values_SV


def soft_look_up__no_softmax(query_K, keys_SK, values_SV):
    return keys_SK @ query_K / math.sqrt(len(query_K)) @ values_SV


def soft_look_up__hard(query_K, keys_SK, values_SV):
    return values_SV[(keys_SK @ query_K).argmax()]


def may_look_at(lengths_B, size):
    if lengths_B.min() < 0 or lengths_B.max() > size:
        raise ValueError(f"lengths must lie in 0 … {size}")
    return torch.arange(size) < lengths_B[:, None]


def may_look_at__one_too_many(lengths_B, size):
    return torch.arange(size) <= lengths_B[:, None]


def may_look_at__upside_down(lengths_B, size):
    return torch.arange(size) >= lengths_B[:, None]


def may_look_at__anything_goes(lengths_B, size):
    return torch.arange(size) < lengths_B[:, None]


def may_look_at__numbers(lengths_B, size):
    return (torch.arange(size) < lengths_B[:, None]).float()


def window_and_first(size, reach):
    place = torch.arange(size)
    mask = (place[:, None] - place).abs() <= reach
    mask[0], mask[:, 0] = True, True
    return mask


def window_and_first__window_alone(size, reach):
    place = torch.arange(size)
    return (place[:, None] - place).abs() <= reach


def window_and_first__one_way(size, reach):
    mask = window_and_first__window_alone(size, reach)
    mask[0] = True
    return mask


def window_and_first__narrow(size, reach):
    place = torch.arange(size)
    mask = (place[:, None] - place).abs() < reach
    mask[0], mask[:, 0] = True, True
    return mask
