"""Answers to the exercises of lesson 2, and slips (NAME__SLIP) that their checks have to find."""

import math

import torch


def variance_of_product(d_k, samples):
    q, k = torch.randn(2, samples, d_k)
    return (q * k).sum(dim=-1).var()


def variance_of_product__of_a_term(d_k, samples):
    q, k = torch.randn(2, samples, d_k)
    return (q * k).var()


def variance_of_product__deviation(d_k, samples):
    q, k = torch.randn(2, samples, d_k)
    return (q * k).sum(dim=-1).std()


def variance_of_product__looked_up(d_k, samples):
    return d_k


def softmax_slopes(p):
    return torch.diag(p) - torch.outer(p, p)


def softmax_slopes__diagonal_alone(p):
    return torch.diag(p * (1 - p))


def softmax_slopes__sign(p):
    return torch.outer(p, p) - torch.diag(p)


def softmax_slopes__of_logits(p):
    return torch.eye(len(p)) - p[:, None]


def divisor(d_model, heads, head_width=None):
    return math.sqrt(head_width or d_model // heads)


def divisor__of_the_model(d_model, heads, head_width=None):
    return math.sqrt(d_model)


def divisor__no_root(d_model, heads, head_width=None):
    return head_width or d_model // heads


def divisor__width_forgotten(d_model, heads, head_width=None):
    return math.sqrt(d_model // heads)
