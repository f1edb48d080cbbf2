"""Greedy search: the most probable token at each step.

B sentences · N hypotheses · V vocabulary
"""

from collections.abc import Callable

import torch
from torch import Tensor

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import SearchOptions
from allyouneed.decoding.prefixes import Prefixes
from allyouneed.decoding.protocol import Decodable
from allyouneed.decoding.search import Search, check_found, hypothesis


@torch.inference_mode()
def greedy_search(
    model: Decodable,
    source_BS: Tensor,
    options: SearchOptions | None = None,
    prefixes: Prefixes | None = None,
) -> list[list[Hypothesis]]:
    """One hypothesis for each sentence, in a list of its own as in the other searches.

    Raises:
        ShapeError: the source is not BS.
        UsageError: the prefixes do not fit, or the model is in training mode.
    """
    search = Search(model, source_BS, 1, options or SearchOptions(), prefixes)
    return follow(search, most_probable)


def most_probable(log_p_BNV: Tensor) -> Tensor:
    """The most probable token of each hypothesis, BN."""
    return log_p_BNV.argmax(dim=-1)


Choose = Callable[[Tensor], Tensor]
"""choose(log_p_BNV) → ids_BN: picks the next token."""


def advance(search: Search, choose: Choose) -> None:
    """Extends each hypothesis by the token that `choose` gives."""
    log_p_BNV = search.next_log_probabilities()
    ids_BN = choose(log_p_BNV)
    search.extend(ids_BN, log_p_BNV.gather(-1, ids_BN[..., None]).squeeze(-1))


def follow(search: Search, choose: Choose) -> list[list[Hypothesis]]:
    """All hypotheses of each sentence, in order, extended until each ends or reaches its limit."""
    end = search.model.config.end
    found: list[list[Hypothesis]] = [[] for _ in search.sentences_B]
    while search.running:
        advance(search, choose)
        ended_BN = (search.tokens_BNT == end).any(dim=-1)
        done_B = ended_BN.all(dim=1) | search.at_limit()
        rows, columns = done_B[:, None].expand_as(ended_BN).nonzero(as_tuple=True)
        for sentence, ids, log_p in search.spell(rows, columns):
            length = ids.index(end) + 1 if end in ids else len(ids)
            found[sentence].append(hypothesis(ids[:length], log_p[:length], end))
        search.keep(~done_B)
    check_found(found)
    return found
