"""Streaming: yields the tokens of one sentence as soon as each is known, greedy or sampled.

B = 1 sentence · N = 1 hypothesis · S source length
"""

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from allyouneed.decoding.greedy import Choose, advance, most_probable
from allyouneed.decoding.options import BeamOptions, SamplingOptions, check_streamable
from allyouneed.decoding.protocol import Decodable
from allyouneed.decoding.sampling import drawing
from allyouneed.decoding.search import Search, not_finite


@torch.inference_mode()
def stream_ids(
    model: Decodable,
    source_BS: Tensor,
    options: BeamOptions | SamplingOptions,
    prefix: Sequence[int] = (),
    number: int = 0,
) -> Iterator[int]:
    """Yields the ids of the hypothesis that `beam_search` (with a beam of one) or `sample` finds.

    Each id is yielded as soon as it is known. `number` is the sentence's index for `sample`.

    Raises:
        UsageError: the options cannot be streamed, or the prefix does not fit.
        AllYouNeedError: the model's probabilities are not finite.
    """
    check_streamable(options)
    search = Search(model, source_BS, 1, options, [prefix])
    choose: Choose = most_probable
    if isinstance(options, SamplingOptions):
        choose = drawing(search, options, [number])
    while search.running:
        advance(search, choose)
        if not math.isfinite(float(search.log_p_BN)):
            raise not_finite(0)
        yield int(search.newest_BN)
        search.keep(~((search.newest_BN[:, 0] == model.config.end) | search.at_limit()))
