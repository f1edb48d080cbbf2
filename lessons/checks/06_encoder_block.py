"""Checks of the exercises of lesson 6: each yields (right?, hint) pairs, easy ones first."""

import torch
from torch import nn

from allyouneed.core.feed_forward import FeedForward
from lesson import same


def check_is_set_to_set(is_set_to_set):
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(2))
    yield is_set_to_set(lambda x: 2 * x, x) is True, "doubling each vector is set-to-set: give True"
    yield (
        is_set_to_set(lambda x: x + x.mean(0), x) is True,
        "adding the mean of all vectors is set-to-set: shuffle the output too before you compare",
    )
    yield (
        is_set_to_set(lambda x: x * torch.arange(1.0, 7.0)[:, None], x) is False,
        "a function that multiplies vector n by n + 1 passed; can your test fail?",
    )
    yield (
        is_set_to_set(lambda x: x.flip(0), x) is False,
        "turning the order round passed: each output belongs to one input",
    )
    yield (
        is_set_to_set(lambda x: x.cumsum(0), x) is False,
        "a running sum (each sees those before it) passed",
    )


@torch.no_grad()
def check_read_memory(read_memory):
    network = FeedForward(6, 20, nn.ReLU())
    for bias in (network.W_1.bias, network.W_2.bias):
        nn.init.normal_(bias, generator=torch.Generator().manual_seed(3))
    x = torch.randn(6, generator=torch.Generator().manual_seed(4))
    parts = network.W_1.weight, network.W_1.bias, network.W_2.weight.T, network.W_2.bias
    found = read_memory(x, *parts)
    yield (
        tuple(found.shape) == (6,),
        f"the answer has the width of a value, (6,), not {found.shape}",
    )
    empty = read_memory(torch.zeros(6), torch.zeros(3, 6), -torch.ones(3), torch.ones(3, 6), x)
    yield same(empty, x), "when no key matches (all k·x + b below 0), only the last bias is left"
    yield same(found, network(x)), "close: are both biases in it, each in its place?"


@torch.no_grad()
def check_speaks_for(speaks_for, *, translator, found):
    output, column = translator.model.output.weight, 717
    value = translator.model.decoder.layers[1].feed_forward.W_2.weight[:, column]
    got = speaks_for(value, output, 5)
    yield isinstance(got, list) and len(got) == 5, "a list of 5 numbers is wanted"
    best = int((output @ value).argmax())
    yield got[0] == best, "the first is the row with the largest product with the value"
    pieces = [translator.tokenizer.piece(number) for number in got]
    wanted = [piece for piece, _ in found[column].promotes[:5]]
    yield pieces == wanted, f"unit {column} speaks for {wanted}, not {pieces}"
