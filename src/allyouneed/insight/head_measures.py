"""Measures of where a head looks: means over the rows of its attention weights.

B batch · H heads · T queries · S keys · V vocabulary · P pairs of a query and a key
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig

MEASURES: Mapping[str, str] = {
    "entropy": "entropy of a row's weights in nats: 0 for one token, log(length) for all equally",
    "distance": "mean distance between row and column, in tokens",
    "previous": "weight of the column just before the row's own, where there is one",
    "self": "weight of the row's own column, where there is one",
    "next": "weight of the column just after the row's own, where there is one",
    "start": "weight of the start token, where there is one",
    "end": "weight of the end token, where there is one",
    "rare": "weight of the rarest token that the row may look at (Voita et al. 2019)",
}
"""The measures, each a mean over all rows. Row t of cross-attention is the step that produced
target token t. The rows and columns of the decoder's self-attention both begin with the start
token."""

OFFSETS = {"previous": -1, "self": 0, "next": 1}


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of attention weights: the tokens BS, a mask of real tokens (not padding), and
    each token's `rarity`."""

    ids_BS: Tensor
    real_BS: Tensor
    rarity_BS: Tensor


@dataclass(slots=True)
class HeadSums:
    """Sums over rows for the heads of one attention module, added batch by batch, and their means.

    `causal` says that a row has no weight on later columns, as in the decoder's self-attention. A
    row of zeros, which a switched-off head has, is not counted.
    """

    config: TransformerConfig
    causal: bool
    _sums_H: dict[str, Tensor] = field(default_factory=dict)
    _rows_H: dict[str, Tensor] = field(default_factory=dict)

    def add(self, weights_BHTS: Tensor, rows_BT: Tensor, columns: Columns) -> None:
        """Counts those rows of `weights_BHTS` that `rows_BT` (boolean) names."""
        weights_BHTS = weights_BHTS.detach().double()
        rows_BHT = rows_BT[:, None] & (weights_BHTS > 0).any(dim=-1)
        self._add("entropy", torch.special.entr(weights_BHTS).sum(-1), rows_BHT)
        row_T1 = torch.arange(weights_BHTS.size(2), device=weights_BHTS.device)[:, None]
        ahead_TS = torch.arange(weights_BHTS.size(3), device=weights_BHTS.device) - row_T1
        self._add("distance", (weights_BHTS * ahead_TS.abs()).sum(-1), rows_BHT)
        for name, offset in OFFSETS.items():
            t_P, s_P = (ahead_TS == offset).nonzero(as_tuple=True)
            if not (self.causal and offset > 0):
                there_BHP = rows_BHT[:, :, t_P] & columns.real_BS[:, None, s_P]
                self._add(name, weights_BHTS[:, :, t_P, s_P], there_BHP)
        for name, id in (("start", self.config.start), ("end", self.config.end)):
            special_BS = (columns.ids_BS == id) & columns.real_BS
            weight_BHT = (weights_BHTS * special_BS[:, None, None]).sum(-1)
            self._add(name, weight_BHT, rows_BHT & special_BS.any(dim=1)[:, None, None])
        rarity_BS = columns.rarity_BS.masked_fill(~columns.real_BS, -1)
        self._add_rare(weights_BHTS, rows_BHT, rarity_BS)

    def means(self) -> dict[str, list[float]]:
        """A value for each head, by the measure's name; NaN for a head without rows. Measures
        without any row are left out, such as the weight of the end token in the decoder's
        self-attention."""
        return {
            name: (self._sums_H[name] / rows_H).tolist()
            for name, rows_H in self._rows_H.items()
            if rows_H.any()
        }

    def _add_rare(self, weights_BHTS: Tensor, rows_BHT: Tensor, rarity_BS: Tensor) -> None:
        if self.causal:  # the rarest of the columns up to the row's own
            rarest_BT, column_BT = rarity_BS.cummax(dim=1)
        else:
            each_BT = rows_BHT[:, 0]
            rarest_BT, column_BT = (x_B[:, None].expand_as(each_BT) for x_B in rarity_BS.max(dim=1))
        column_BHT1 = column_BT[:, None, :, None].expand(*weights_BHTS.shape[:3], 1)
        weight_BHT = weights_BHTS.gather(3, column_BHT1)[..., 0]
        self._add("rare", weight_BHT, rows_BHT & (rarest_BT >= 0)[:, None])

    def _add(self, name: str, values_BHT: Tensor, counted_BHT: Tensor) -> None:
        for found, added_BHT in (
            (self._sums_H, values_BHT * counted_BHT),
            (self._rows_H, counted_BHT),
        ):
            found[name] = found.get(name, torch.zeros(())) + added_BHT.sum(dim=(0, 2)).cpu()


def rarity(config: TransformerConfig, counts: Mapping[int, int]) -> Tensor:
    """The rarity V of each id: its rank by `counts`; the rarest id has the highest rank.

    Of ids with equal counts the higher id is the rarer, because byte-pair encoding learns frequent
    pieces first. Special ids, which are not words, have -1.
    """
    vocabulary = max(config.vocabulary, config.source_vocabulary or 0)
    order = sorted(range(vocabulary), key=lambda id: (-counts.get(id, 0), id))
    ranks_V = torch.empty(vocabulary, dtype=torch.int64)
    ranks_V[order] = torch.arange(vocabulary)
    ranks_V[[config.pad, config.start, config.end]] = -1
    return ranks_V


def sentence_measures(
    weights_HTS: Tensor, column_ids: Sequence[int], config: TransformerConfig, *, causal: bool
) -> dict[str, list[float]]:
    """The measures of one sentence's attention, a value for each head.

    `column_ids` are the ids of the S keys; in the decoder's self-attention they begin with the
    start token. Without a corpus to count in, the highest id counts as the rarest.
    """
    ids_1S = torch.tensor([list(column_ids)])
    real_1S = torch.ones_like(ids_1S, dtype=torch.bool)
    sums = HeadSums(config, causal)
    rows_1T = torch.ones(1, weights_HTS.size(1), dtype=torch.bool)
    columns = Columns(ids_1S, real_1S, rarity(config, {})[ids_1S])
    sums.add(weights_HTS[None].cpu(), rows_1T, columns)
    return sums.means()
