"""Answers to the exercises of lesson 9, and slips (NAME__SLIP) that their checks have to find."""

import math

import torch


def beam_step(log_p_N, log_p_NV, beam):
    vocabulary = log_p_NV.shape[1]
    log_p, places = (log_p_N[:, None] + log_p_NV).flatten().topk(beam)
    return places // vocabulary, places % vocabulary, log_p


def beam_step__one_child_each(log_p_N, log_p_NV, beam):
    log_p, ids = (log_p_N[:, None] + log_p_NV).max(dim=1)
    order = log_p.argsort(descending=True)[:beam]
    return order, ids[order], log_p[order]


def beam_step__of_the_first(log_p_N, log_p_NV, beam):
    log_p, ids = (log_p_N[0] + log_p_NV[0]).topk(beam)
    return torch.zeros_like(ids), ids, log_p


def beam_step__forgets_the_past(log_p_N, log_p_NV, beam):
    log_p, places = log_p_NV.flatten().topk(beam)
    return places // log_p_NV.shape[1], places % log_p_NV.shape[1], log_p


def beam_step__multiplies(log_p_N, log_p_NV, beam):
    log_p, places = (log_p_N[:, None] * log_p_NV).flatten().topk(beam)
    return places // log_p_NV.shape[1], places % log_p_NV.shape[1], log_p


def two_probabilities(token_log_p):
    total = math.fsum(token_log_p)
    return math.exp(total), math.exp(total / len(token_log_p))


def two_probabilities__mean_of_probabilities(token_log_p):
    mean = sum(math.exp(log_p) for log_p in token_log_p) / len(token_log_p)
    return math.exp(math.fsum(token_log_p)), mean


def two_probabilities__as_in_the_notebook(token_log_p):
    h = math.fsum(token_log_p) / len(token_log_p)
    return math.exp(h), math.exp(h)


def two_probabilities__logarithms(token_log_p):
    return math.fsum(token_log_p), math.fsum(token_log_p) / len(token_log_p)


def ranked_best(hypotheses, alpha):
    scores = [log_p / ((5 + length) / 6) ** alpha for log_p, length in hypotheses]
    return scores.index(max(scores))


def ranked_best__most_probable(hypotheses, alpha):
    return max(range(len(hypotheses)), key=lambda n: hypotheses[n][0])


def ranked_best__times(hypotheses, alpha):
    scores = [log_p * ((5 + length) / 6) ** alpha for log_p, length in hypotheses]
    return scores.index(max(scores))


def ranked_best__by_the_length(hypotheses, alpha):
    scores = [log_p / length**alpha for log_p, length in hypotheses]
    return scores.index(max(scores))
