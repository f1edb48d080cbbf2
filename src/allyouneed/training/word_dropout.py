"""Word dropout: training hides whole tokens of the input. B batch · T length"""

from collections.abc import Sequence

import torch
from torch import Tensor

from allyouneed.text.tokenizer import Tokenizer

SPECIAL = (Tokenizer.PAD, Tokenizer.START, Tokenizer.END, Tokenizer.UNKNOWN)


def word_dropout(
    ids_BT: Tensor,
    rate: float,
    hidden: int = Tokenizer.UNKNOWN,
    special: Sequence[int] = SPECIAL,
) -> Tensor:
    """The ids BT, each replaced by `hidden` with probability `rate`; `special` ids are kept.

    Sennrich et al. 2016 ("Edinburgh Neural Machine Translation Systems for WMT 16") drop words of
    both sides like this, following Gal & Ghahramani 2016, who set the words' vectors to zero. Our
    tokenizer never produces the unknown piece, so its vector is free to represent a hidden token.
    Models without a decoder use [MASK] instead.
    """
    if rate == 0.0:
        return ids_BT
    drawn_BT = torch.rand(ids_BT.shape, device=ids_BT.device) < rate
    special_BT = torch.isin(ids_BT, ids_BT.new_tensor(special))
    return ids_BT.masked_fill(drawn_BT & ~special_BT, hidden)
