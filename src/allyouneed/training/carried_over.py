"""Starts a model with a new vocabulary from the weights of a trained one (Zoph et al. 2016; Kocmi
and Bojar 2018): its layers are kept, and its pieces' vectors become those of the new pieces."""

from collections.abc import Mapping

import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.model_folder.weights.model import untied_weights
from allyouneed.text.tokenizer import Tokenizer


def carried_over(
    weights: Mapping[str, Tensor], old: Tokenizer, new: Tokenizer, model: Transformer
) -> dict[str, Tensor]:
    """The `weights` of a model with the vocabulary `old`, made to fit `model`, whose vocabulary is
    `new`.

    A piece that both vocabularies have keeps its vector. Another piece gets the mean of the vectors
    of the two pieces that it was merged from. Language marks keep the values of `model`.
    """
    rows = _rows(old, new)
    fitting = dict(weights)
    for name, own in untied_weights(model).items():
        if len(own) == len(new) and name in weights and len(weights[name]) == len(old):
            fitting[name] = _with_rows(own, weights[name], rows, new.halves())
    return fitting


def _rows(old: Tokenizer, new: Tokenizer) -> dict[int, int]:
    """The id in `old` of each piece of `new` that both vocabularies have, by its id in `new`."""
    ids = {old.spelling(id): id for id in range(len(old.specials), len(old))}
    rows = {id: id for id in range(len(type(old).specials))}
    for id in range(len(new.specials), len(new)):
        if (spelling := new.spelling(id)) in ids:
            rows[id] = ids[spelling]
    return rows


def _with_rows(
    own: Tensor, given: Tensor, rows: Mapping[int, int], halves: Mapping[int, tuple[int, int]]
) -> Tensor:
    """The tensor `own` with the vectors of `given` in its rows. Merged pieces have larger ids than
    the pieces that they were merged from, so the vectors of both halves are there in time."""
    filled = own.detach().clone()
    for id in range(len(filled)):
        if id in rows:
            filled[id] = given[rows[id]].to(filled.dtype)
        elif id in halves:
            filled[id] = torch.stack([filled[half] for half in halves[id]]).mean(0)
    return filled
