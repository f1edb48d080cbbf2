"""Sampling: tokens drawn from the model's distribution, or from its most probable tokens.

B sentences · N samples of each · V vocabulary · k tokens drawn from · L longest length
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from allyouneed.decoding.chances import chances
from allyouneed.decoding.greedy import Choose, follow
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import SamplingOptions
from allyouneed.decoding.prefixes import Prefixes
from allyouneed.decoding.protocol import Decodable
from allyouneed.decoding.search import Search
from allyouneed.errors import UsageError


@torch.inference_mode()
def sample(
    model: Decodable,
    source_BS: Tensor,
    options: SamplingOptions | None = None,
    prefixes: Prefixes | None = None,
    indices: Sequence[int] | None = None,
) -> list[list[Hypothesis]]:
    """`samples` hypotheses for each sentence, in the order drawn.

    Log-probabilities are the model's at temperature 1. Sample n of a sentence depends on (seed,
    the sentence's index, n) only, not on the other sentences of the batch. `indices` are the
    sentences' indices; None means their places in the batch.

    Raises:
        ShapeError: the source is not BS.
        UsageError: prefixes or indices do not fit, or the model is in training mode.
    """
    options = options or SamplingOptions()
    search = Search(model, source_BS, options.samples, options, prefixes)
    indices = range(source_BS.size(0)) if indices is None else indices
    if len(indices) != source_BS.size(0):
        raise UsageError(f"{len(indices)} indices for {source_BS.size(0)} sentences")
    return follow(search, drawing(search, options, indices))


def drawing(search: Search, options: SamplingOptions, indices: Sequence[int]) -> Choose:
    """The function that draws the next tokens of `search`, whose sentences have these indices."""
    longest = int(search.limits_B.max()) if len(indices) else 0
    numbers = chances(options, indices, longest)
    shape = (len(indices), options.samples, longest)
    chances_BNL = torch.tensor(numbers, dtype=torch.float64).view(shape)
    chances_BNL = chances_BNL.to(search.newest_BN.device)

    def choose(log_p_BNV: Tensor) -> Tensor:
        return draw(log_p_BNV, chances_BNL[search.sentences_B, :, search.length], options)

    return choose


def draw(log_p_BNV: Tensor, chance_BN: Tensor, options: SamplingOptions) -> Tensor:
    """The token BN at which the cumulative probability exceeds `chance_BN`."""
    vocabulary = log_p_BNV.size(-1)
    log_p_BNk, ids_BNk = log_p_BNV.topk(min(options.top_k or vocabulary, vocabulary))
    # The largest log-probability is subtracted first: dividing by the smallest temperature must
    # not turn finite scores into infinities.
    lower_BNk = log_p_BNk.double() - log_p_BNk[..., :1].double()
    p_BNk = (lower_BNk / float(options.temperature)).softmax(dim=-1)
    before_BNk = p_BNk.cumsum(dim=-1) - p_BNk
    p_BNk = p_BNk.masked_fill(before_BNk >= options.top_p, 0.0)
    cumulative_BNk = p_BNk.cumsum(dim=-1)
    drawn_BN1 = chance_BN[..., None] * cumulative_BNk[..., -1:]
    rank_BN1 = torch.searchsorted(cumulative_BNk, drawn_BN1, right=True)
    # NaN gives a rank out of range; `follow` reports NaN.
    in_range_BN1 = rank_BN1.clamp(max=ids_BNk.size(-1) - 1)
    return ids_BNk.gather(-1, in_range_BN1).squeeze(-1)
