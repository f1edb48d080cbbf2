"""Answers to the exercises of lesson 5, and slips (NAME__SLIP) that their checks have to find."""

import torch


def normalise(x_BTD, epsilon):
    centred = x_BTD - x_BTD.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + epsilon).sqrt()


def normalise__unbiased(x_BTD, epsilon):
    centred = x_BTD - x_BTD.mean(dim=-1, keepdim=True)
    return centred / (x_BTD.var(dim=-1, keepdim=True) + epsilon).sqrt()


def normalise__epsilon_outside(x_BTD, epsilon):
    centred = x_BTD - x_BTD.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True).sqrt() + epsilon)


def normalise__over_the_batch(x_BTD, epsilon):
    centred = x_BTD - x_BTD.mean(dim=(0, 1))
    return centred / (centred.square().mean(dim=(0, 1)) + epsilon).sqrt()


def pre_norm(x_BTD, sublayer, norm):
    return x_BTD + sublayer(norm(x_BTD))


def pre_norm__post(x_BTD, sublayer, norm):
    return norm(x_BTD + sublayer(x_BTD))


def pre_norm__no_norm(x_BTD, sublayer, norm):
    return x_BTD + sublayer(x_BTD)


def pre_norm__no_residual(x_BTD, sublayer, norm):
    return sublayer(norm(x_BTD))


def pre_norm__norm_of_both(x_BTD, sublayer, norm):
    return norm(x_BTD) + sublayer(norm(x_BTD))


def rms_normalise(x_BTD, epsilon):
    return x_BTD / (x_BTD.square().mean(dim=-1, keepdim=True) + epsilon).sqrt()


def rms_normalise__centred(x_BTD, epsilon):
    return rms_normalise(x_BTD - x_BTD.mean(dim=-1, keepdim=True), epsilon)


def rms_normalise__length(x_BTD, epsilon):
    return x_BTD / torch.sqrt(x_BTD.square().sum(dim=-1, keepdim=True) + epsilon)


def rms_normalise__epsilon_outside(x_BTD, epsilon):
    return x_BTD / (x_BTD.square().mean(dim=-1, keepdim=True).sqrt() + epsilon)
