"""Small maps of attention for the grids: at most 32 × 32, whatever the length.

L layers · H heads · T queries · S keys
"""

from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

MOST = 32


def small(weights_LHTS: Tensor) -> Tensor:
    """The maps, with blocks averaged on axes longer than 32, so that every weight is included."""
    queries, keys = weights_LHTS.shape[-2:]
    size = (min(queries, MOST), min(keys, MOST))
    return weights_LHTS if size == (queries, keys) else adaptive_avg_pool2d(weights_LHTS, size)
