"""Answers to the exercises of lesson 4, and slips (NAME__SLIP) that their checks have to find."""

import torch


def split(x_BTD, heads):
    batch, length, _ = x_BTD.shape
    return x_BTD.view(batch, length, heads, -1).transpose(1, 2)


def split__no_transpose(x_BTD, heads):
    batch, length, _ = x_BTD.shape
    return x_BTD.view(batch, heads, length, -1)


def split__interleaved(x_BTD, heads):
    batch, length, _ = x_BTD.shape
    return x_BTD.view(batch, length, -1, heads).permute(0, 3, 1, 2)


def split__forgotten(x_BTD, heads):
    batch, length, _ = x_BTD.shape
    return x_BTD.view(batch, length, heads, -1)


def count(d_model, heads, head_width, bias):
    width = heads * head_width
    return 4 * d_model * width + (3 * width + d_model if bias else 0)


def count__times_heads(d_model, heads, head_width, bias):
    return 4 * heads * d_model * d_model + (4 * d_model if bias else 0)


def count__no_output(d_model, heads, head_width, bias):
    width = heads * head_width
    return 3 * d_model * width + (3 * width if bias else 0)


def count__bias_of_width(d_model, heads, head_width, bias):
    width = heads * head_width
    return 4 * d_model * width + (4 * width if bias else 0)


def stretch(weights_TS):
    low = weights_TS.amin(dim=-1, keepdim=True)
    range_T1 = weights_TS.amax(dim=-1, keepdim=True) - low
    return torch.where(range_T1 > 0, (weights_TS - low) / range_T1, 0.0)


def stretch__whole_matrix(weights_TS):
    return (weights_TS - weights_TS.min()) / (weights_TS.max() - weights_TS.min())


def stretch__nan(weights_TS):
    low = weights_TS.amin(dim=-1, keepdim=True)
    return (weights_TS - low) / (weights_TS.amax(dim=-1, keepdim=True) - low)


def stretch__in_place(weights_TS):
    stretched = stretch(weights_TS)
    weights_TS.copy_(stretched)
    return weights_TS
