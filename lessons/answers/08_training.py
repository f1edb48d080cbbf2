"""Answers to the exercises of lesson 8, and slips (NAME__SLIP) that their checks have to find."""

import math

import torch


def smoothed_targets(labels_P, vocabulary, smoothing):
    one_hot_PV = torch.eye(vocabulary)[labels_P]
    return (1 - smoothing) * one_hot_PV + smoothing / vocabulary


def smoothed_targets__others_only(labels_P, vocabulary, smoothing):
    one_hot_PV = torch.eye(vocabulary)[labels_P]
    return (1 - smoothing) * one_hot_PV + (1 - one_hot_PV) * smoothing / (vocabulary - 1)


def smoothed_targets__more_than_one(labels_P, vocabulary, smoothing):
    return torch.eye(vocabulary)[labels_P] + smoothing / vocabulary


def smoothed_targets__epsilon_each(labels_P, vocabulary, smoothing):
    one_hot_PV = torch.eye(vocabulary)[labels_P]
    return (1 - smoothing) * one_hot_PV + smoothing


def learning_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def learning_rate__no_width(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5)


def learning_rate__larger_of_the_two(step, d_model, warmup):
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


def learning_rate__no_warmup(step, d_model, warmup):
    return (d_model * step) ** -0.5


def learning_rate__stays_up(step, d_model, warmup):
    return (d_model * warmup) ** -0.5 * min(1.0, step / warmup)


def least_loss(vocabulary, smoothing):
    right, wrong = 1 - smoothing + smoothing / vocabulary, smoothing / vocabulary
    entropy = -right * math.log(right)
    return entropy - (vocabulary - 1) * wrong * math.log(wrong) if smoothing else entropy


def least_loss__of_the_right_token(vocabulary, smoothing):
    right = 1 - smoothing + smoothing / vocabulary
    return -math.log(right)


def least_loss__zero(vocabulary, smoothing):
    return 0.0


def least_loss__others_only(vocabulary, smoothing):
    if not smoothing:
        return 0.0
    wrong = smoothing / (vocabulary - 1)
    return -(1 - smoothing) * math.log(1 - smoothing) - smoothing * math.log(wrong)
