"""Word dropout: whole tokens of the input are hidden while training. B batch · T length"""

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
    """The ids, each replaced by `hidden` with probability `rate`; the `special` ones stay.

    Sennrich et al. 2016 ("Edinburgh Neural Machine Translation Systems for WMT 16") drop words of
    both sides so, after Gal & Ghahramani 2016, who set their vectors to zero. No text that was
    tokenised here has the unknown piece: its vector is free to stand for what is hidden. A model
    without a decoder has a mask for that.
    """
    if rate == 0.0:
        return ids_BT
    drawn_BT = torch.rand(ids_BT.shape, device=ids_BT.device) < rate
    special_BT = torch.isin(ids_BT, ids_BT.new_tensor(special))
    return ids_BT.masked_fill(drawn_BT & ~special_BT, hidden)
