"""Answers to the exercises of lesson 10, and slips (NAME__SLIP) that their checks have to find."""

import torch


def error_rate(found, sure, possible):
    return 1 - (len(found & sure) + len(found & possible)) / (len(found) + len(sure))


def error_rate__only_sure_ones(found, sure, possible):
    return 1 - 2 * len(found & sure) / (len(found) + len(sure))


def error_rate__how_many_are_right(found, sure, possible):
    return len(found & sure) / len(found)


def error_rate__precision(found, sure, possible):
    return 1 - len(found & possible) / len(found)


def without_head(weights_BHTS, head):
    kept = torch.ones(weights_BHTS.size(1), 1, 1)
    kept[head] = 0
    return weights_BHTS * kept


def without_head__in_place(weights_BHTS, head):
    weights_BHTS[:, head] = 0
    return weights_BHTS


def without_head__of_a_row(weights_BHTS, head):
    changed = weights_BHTS.clone()
    changed[head % len(changed)] = 0
    return changed


def without_head__shared_out(weights_BHTS, head):
    changed = weights_BHTS.clone()
    changed[:, head] = 0
    return changed / changed.sum(dim=1, keepdim=True)


def without_head__even(weights_BHTS, head):
    changed = weights_BHTS.clone()
    changed[:, head] = 1 / changed.size(-1)
    return changed


def through_the_lens(stream_TD, output_VD):
    probabilities, ids = (stream_TD @ output_VD.T).softmax(dim=-1).max(dim=-1)
    return ids, probabilities


def through_the_lens__logits(stream_TD, output_VD):
    logits, ids = (stream_TD @ output_VD.T).max(dim=-1)
    return ids, logits


def through_the_lens__over_positions(stream_TD, output_VD):
    probabilities, ids = (stream_TD @ output_VD.T).softmax(dim=0).max(dim=-1)
    return ids, probabilities


def through_the_lens__nearest_direction(stream_TD, output_VD):
    directions_VD = output_VD / output_VD.norm(dim=-1, keepdim=True)
    probabilities, ids = (stream_TD @ directions_VD.T).softmax(dim=-1).max(dim=-1)
    return ids, probabilities
