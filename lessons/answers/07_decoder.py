"""Answers to the exercises of lesson 7, and slips (NAME__SLIP) that their checks have to find."""

import torch


def shifted_right(target_BT):
    return torch.cat([torch.ones_like(target_BT[:, :1]), target_BT[:, :-1]], dim=1)


def shifted_right__rolled(target_BT):
    return target_BT.roll(1, dims=1)


def shifted_right__too_long(target_BT):
    return torch.cat([torch.ones_like(target_BT[:, :1]), target_BT], dim=1)


def shifted_right__shifted_left(target_BT):
    return torch.cat([torch.ones_like(target_BT[:, :1]), target_BT[:, 1:]], dim=1)


def shifted_right__in_place(target_BT):
    target_BT[:, 1:] = target_BT[:, :-1].clone()
    target_BT[:, 0] = 1
    return target_BT


def target_mask(target_BT, pad):
    length = target_BT.size(1)
    before = torch.ones(length, length, dtype=torch.bool).tril()
    return (target_BT != pad)[:, None, None, :] & before


def target_mask__queries_hidden(target_BT, pad):
    length = target_BT.size(1)
    before = torch.ones(length, length, dtype=torch.bool).tril()
    return (target_BT != pad)[:, None, :, None] & before


def target_mask__the_future_open(target_BT, pad):
    return (target_BT != pad)[:, None, None, :].repeat(1, 1, target_BT.size(1), 1)


def target_mask__not_itself(target_BT, pad):
    length = target_BT.size(1)
    before = torch.ones(length, length, dtype=torch.bool).tril(-1)
    return (target_BT != pad)[:, None, None, :] & before


def target_mask__padding_open(target_BT, pad):
    length = target_BT.size(1)
    before = torch.ones(length, length, dtype=torch.bool).tril()
    return before.repeat(len(target_BT), 1, 1, 1)


def write(model, source_1S, most):
    cache = model.start(model.encode(source_1S), hypotheses=1, max_length=most)
    ids = [1]
    while len(ids) <= most and ids[-1] != 2:
        logits_11V = model.step(torch.tensor([[ids[-1]]]), cache)
        ids.append(int(logits_11V.argmax()))
    return ids[1:]


def write__begins_with_the_end(model, source_1S, most):
    cache = model.start(model.encode(source_1S), hypotheses=1, max_length=most)
    ids = [int(model.step(torch.tensor([[2]]), cache).argmax())]
    while len(ids) < most and ids[-1] != 2:
        ids.append(int(model.step(torch.tensor([[ids[-1]]]), cache).argmax()))
    return ids


def write__goes_on(model, source_1S, most):
    cache = model.start(model.encode(source_1S), hypotheses=1, max_length=most)
    ids = [1]
    while len(ids) <= most:
        ids.append(int(model.step(torch.tensor([[ids[-1]]]), cache).argmax()))
    return ids[1:]


def write__start_every_time(model, source_1S, most):
    cache = model.start(model.encode(source_1S), hypotheses=1, max_length=most)
    ids = []
    while len(ids) < most and 2 not in ids:
        ids.append(int(model.step(torch.tensor([[1]]), cache).argmax()))
    return ids


def write__without_the_end(model, source_1S, most):
    return [id for id in write(model, source_1S, most) if id != 2]
