"""Checks of the exercises of lesson 9: each yields (right?, hint) pairs, easy ones first."""

import math

import torch

from lesson import same


def check_beam_step(beam_step, *, table_VV):
    so_far = torch.tensor([0.55, 0.45]).log()
    following = table_VV[[3, 4]].log()
    parents, ids, log_p = beam_step(so_far, following, 2)
    yield len(parents) == len(ids) == len(log_p) == 2, "a beam of 2 gives two of each"
    yield ids.tolist() != [5, 6], "those are the best two of the first hypothesis alone"
    yield parents.tolist() == [1, 0], "the best child is of hypothesis 1 (der), the next of 0 (ein)"
    yield ids.tolist() == [5, 5], "both go on with word 5, Hund"
    yield same(log_p.exp(), [0.405, 0.22]), "add the hypothesis' own log-probability"
    one_parent = beam_step(torch.tensor([0.0, -9.0]), torch.tensor([[-1.0, -2.0], [-1.0, -2.0]]), 2)
    yield one_parent[0].tolist() == [0, 0], "both of the best two may have the same parent"


def check_two_probabilities(two_probabilities, *, place):
    sentence, token = two_probabilities([math.log(0.5), math.log(0.125)])
    yield same(sentence, 0.0625), "half times an eighth is a sixteenth"
    yield same(token, 0.25), "H is the mean of the logarithms; exp(H) is 0.25 here, not 0.3125"
    log_p = list(place.token_log_probabilities)
    yield same(two_probabilities(log_p), [math.exp(place.log_probability), place.probability]), ""


def check_ranked_best(ranked_best):
    three = [(-4.0, 2), (-5.0, 9), (-8.4, 25)]
    yield ranked_best(three, 0.0) == 0, "with alpha 0 the most probable wins, the first"
    yield (
        ranked_best(three, 0.6) == 1,
        "with 0.6: -4 / 1.10 = -3.65, -5 / 1.66 = -3.01, -8.4 / 2.63",
    )
    yield ranked_best(three, 1.0) == 2, "with 1.0: -4 / 1.17, -5 / 2.33 and -8.4 / 5 = -1.68"
