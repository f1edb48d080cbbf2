"""Checks of the exercises of lesson 10: each yields (right?, hint) pairs, easy ones first."""

import torch

from lesson import same


def check_error_rate(error_rate):
    sure, possible = {(0, 0), (1, 2)}, {(0, 0), (1, 2), (1, 1)}
    yield same(error_rate(sure, sure, possible), 0.0), "exactly the sure links: no error"
    yield same(error_rate({(5, 5)}, sure, possible), 1.0), "nothing in common: 1"
    more = {(0, 0), (1, 2), (1, 1)}
    yield same(error_rate(more, sure, possible), 0.0), "a link that is only possible costs nothing"
    yield same(error_rate({(0, 0)}, sure, possible), 1 / 3), "a sure link that is missing costs"
    half = {(0, 0), (2, 2)}
    yield same(error_rate(half, sure, possible), 0.5), "one of two right: 1 - (1 + 1) / (2 + 2)"


def check_without_head(without_head, *, translator, sentence, model, changed):
    weights = torch.rand(2, 4, 5, 6).softmax(dim=-1)
    before = weights.clone()
    found = without_head(weights, 2)
    yield found.shape == weights.shape, f"the shape stays {tuple(weights.shape)}: {found.shape}"
    yield bool(found[:, 2].eq(0).all()), "head 2 (the second axis) is not zero"
    others = [0, 1, 3]
    yield same(found[:, others], before[:, others]), "the other heads keep their weights"
    yield same(weights, before), "the weights given were written into; make new ones"
    attention = model.decoder.layers[1].cross_attention

    def probe(weights_BHTS, site):
        return without_head(weights_BHTS, 2)

    attention.probes.append(probe)
    said = translator(sentence, beam=1).text
    attention.probes.remove(probe)
    yield said == changed["decoder.layers.1.cross_attention[2]"], f"the model said {said!r}"


@torch.no_grad()
def check_through_the_lens(through_the_lens, *, tape, model, places):
    stream = tape.residuals["decoder.layers.1.cross_attention"][0]
    found = through_the_lens(stream, model.output.weight)
    yield len(found) == 2 and len(found[0]) == len(stream), "two tensors of one number a position"
    log_p = places[5].log_p_BTV[0]
    yield same(found[0], log_p.argmax(dim=-1)), "the likeliest token has the largest logit"
    yield same(found[1], log_p.max(dim=-1).values.exp()), "softmax over the vocabulary, axis 1"
