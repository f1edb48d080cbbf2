"""Edits of attention weights: weights that replace those that a head has computed.

B rows · H heads · T queries · S keys
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from allyouneed.core.attention import Site
from allyouneed.errors import ShapeError, UsageError

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Blocked:
    """Cells (t, s): query position t cannot look at key position s. The other weights of the row
    are those of a softmax without these cells. A row with every cell blocked is zero."""

    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Forced:
    """Cells (t, s) that share the whole weight of their row t equally. A row whose cells are all
    padding is zero."""

    cells: Sequence[Cell]


Edit = Literal["uniform", "diagonal"] | Tensor | Blocked | Forced
"""A change of a head's weights. "uniform" gives every visible key the same weight. "diagonal" makes
query position t look only at key position t, or at the last key where the source is shorter. A
tensor TS (or HTS, for all heads of a module) gives the weights; queries beyond its T keep their
own, and hidden keys stay at zero. The others are `Blocked` and `Forced` cells."""


def check_edit(name: str, edit: Edit, heads: int) -> None:
    """Raises UsageError for an edit that no run of this module, or head of it, can use."""
    if isinstance(edit, Tensor):
        if edit.dim() != 2 and not (edit.dim() == 3 and edit.size(0) == heads):
            raise UsageError(
                f"{name}: weights have the axes TS (or HTS with H={heads}), "
                f"not the shape {tuple(edit.shape)}"
            )
        if not edit.isfinite().all():
            raise UsageError(f"{name}: weights must be finite; these hold NaN or infinity")
    elif isinstance(edit, Blocked | Forced):
        for t, s in edit.cells:
            if t < 0 or s < 0:
                raise UsageError(f"{name}: cell ({t}, {s}) does not exist; positions count from 0")
            if looks_back(name) and s > t:
                raise UsageError(
                    f"{name}: cell ({t}, {s}) lies in the future; a decoder's query t looks at "
                    f"keys 0 … t, so at most ({t}, {t})"
                )
    elif edit not in ("uniform", "diagonal"):
        raise UsageError(
            f"{name}: {edit!r} is not an edit; use 'uniform', 'diagonal', a tensor TS, "
            "Blocked(cells) or Forced(cells)"
        )


def edited(weights_BHTS: Tensor, site: Site, edit: Edit) -> Tensor:
    """The weights after the edit, BHTS.

    Raises:
        ShapeError: a cell or matrix that does not fit the number of keys in this run.
    """
    if isinstance(edit, Tensor):
        return _given(weights_BHTS, site, edit)
    if isinstance(edit, Blocked):
        cells_TS = _mask(edit.cells, weights_BHTS, site)
        left_BHTS = weights_BHTS.masked_fill(cells_TS, 0.0)
        return _rows(cells_TS, _shares(left_BHTS), weights_BHTS)
    seen_BHTS = _seen(weights_BHTS, site)
    if isinstance(edit, Forced):
        cells_TS = _mask(edit.cells, weights_BHTS, site)
        return _rows(cells_TS, _shares((cells_TS & seen_BHTS).to(weights_BHTS)), weights_BHTS)
    if edit == "uniform":
        return _shares(seen_BHTS.to(weights_BHTS))
    return (seen_BHTS & _diagonal(seen_BHTS, site)).to(weights_BHTS)


def looks_back(name: str) -> bool:
    """Whether this name is one of the decoder's self-attention, which has more keys with each
    step."""
    return name.startswith("decoder") and "self_attention" in name


def _given(weights_BHTS: Tensor, site: Site, given: Tensor) -> Tensor:
    queries, keys = weights_BHTS.shape[-2:]
    if given.size(-1) != keys and not looks_back(site.module):
        raise ShapeError(
            f"{site.module}: the given weights have {given.size(-1)} keys, but this run has "
            f"{keys}; edit one sentence at a time"
        )
    rows = given[..., site.step : site.step + queries, :keys].to(weights_BHTS)
    rows = torch.nn.functional.pad(rows, (0, keys - rows.size(-1)))
    count = rows.size(-2)
    seen_BHTS = _seen(weights_BHTS, site)[..., :count, :]
    return torch.cat([rows * seen_BHTS, weights_BHTS[..., count:, :]], dim=-2)


def _seen(weights_BHTS: Tensor, site: Site) -> Tensor:
    """Whether a query may look at a key, BHTS."""
    seen = weights_BHTS.new_ones((), dtype=torch.bool) if site.may_look is None else site.may_look
    return seen.expand_as(weights_BHTS)


def _mask(cells: Sequence[Cell], weights_BHTS: Tensor, site: Site) -> Tensor:
    """The mask TS of these cells among the queries of this run."""
    queries, keys = weights_BHTS.shape[-2:]
    mask = torch.zeros(queries, keys, dtype=torch.bool)
    for t, s in cells:
        if s >= keys and not looks_back(site.module):
            raise ShapeError(
                f"{site.module}: cell ({t}, {s}) is outside the run's keys 0 … {keys - 1}"
            )
        if site.step <= t < site.step + queries:
            mask[t - site.step, s] = True
    return mask.to(weights_BHTS.device)


def _diagonal(seen_BHTS: Tensor, site: Site) -> Tensor:
    queries, keys = seen_BHTS.shape[-2:]
    query_T1 = torch.arange(queries, device=seen_BHTS.device)[:, None] + site.step
    if not site.module.endswith("cross_attention"):
        return query_T1 == torch.arange(keys, device=seen_BHTS.device)
    rank_BHTS = seen_BHTS.cumsum(dim=-1) - 1  # positions count real keys only
    return rank_BHTS == query_T1.minimum(rank_BHTS[..., -1:])


def _shares(amounts_BHTS: Tensor) -> Tensor:
    """Divides each row by its sum; a row of zeros stays zero."""
    sums_BHT1 = amounts_BHTS.sum(dim=-1, keepdim=True)
    return amounts_BHTS / sums_BHT1.where(sums_BHT1 > 0, 1.0)


def _rows(cells_TS: Tensor, changed_BHTS: Tensor, weights_BHTS: Tensor) -> Tensor:
    """The changed weights in rows that have a cell, and the old weights in all other rows."""
    return changed_BHTS.where(cells_TS.any(dim=-1, keepdim=True), weights_BHTS)
