"""Answers to the exercises of lesson 6, and slips (NAME__SLIP) that their checks have to find."""

import torch


def is_set_to_set(function, x_ND):
    order = torch.arange(len(x_ND)).roll(1)
    shuffled_first, shuffled_last = function(x_ND[order]), function(x_ND)[order]
    return torch.allclose(shuffled_first, shuffled_last, atol=1e-5)


def is_set_to_set__with_itself(function, x_ND):
    return torch.equal(function(x_ND), function(x_ND))


def is_set_to_set__output_not_shuffled(function, x_ND):
    order = torch.arange(len(x_ND)).roll(1)
    return torch.allclose(function(x_ND[order]), function(x_ND), atol=1e-5)


def is_set_to_set__the_sum_alone(function, x_ND):
    order = torch.arange(len(x_ND)).roll(1)
    return torch.allclose(function(x_ND[order]).sum(0), function(x_ND).sum(0), atol=1e-4)


def is_set_to_set__turned_round(function, x_ND):
    return torch.allclose(function(x_ND.flip(0)), function(x_ND).flip(0), atol=1e-5)


def read_memory(x_D, keys_FD, biases_F, values_FD, bias_D):
    return (keys_FD @ x_D + biases_F).clamp(min=0) @ values_FD + bias_D


def read_memory__no_relu(x_D, keys_FD, biases_F, values_FD, bias_D):
    return (keys_FD @ x_D + biases_F) @ values_FD + bias_D


def read_memory__softmax(x_D, keys_FD, biases_F, values_FD, bias_D):
    return (keys_FD @ x_D + biases_F).softmax(0) @ values_FD + bias_D


def read_memory__bias_behind_the_relu(x_D, keys_FD, biases_F, values_FD, bias_D):
    return ((keys_FD @ x_D).clamp(min=0) + biases_F) @ values_FD + bias_D


def read_memory__last_bias_forgotten(x_D, keys_FD, biases_F, values_FD, bias_D):
    return (keys_FD @ x_D + biases_F).clamp(min=0) @ values_FD


def speaks_for(value_D, output_VD, count):
    return (output_VD @ value_D).topk(count).indices.tolist()


def speaks_for__by_size(value_D, output_VD, count):
    return (output_VD @ value_D).abs().topk(count, largest=False).indices.tolist()


def speaks_for__worst_first(value_D, output_VD, count):
    return (output_VD @ value_D).topk(count).indices.tolist()[::-1]


def speaks_for__by_direction_alone(value_D, output_VD, count):
    return (output_VD / output_VD.norm(dim=1, keepdim=True) @ value_D).topk(count).indices.tolist()
