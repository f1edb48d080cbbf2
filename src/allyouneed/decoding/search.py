"""The state of a running search: its sentences, their hypotheses so far, the model's cache.

B sentences still running · N hypotheses of each · T tokens so far · V vocabulary · S source length
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.constraints import constraints_for
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import SearchOptions
from allyouneed.decoding.prefixes import Prefixes, check_room
from allyouneed.decoding.protocol import Decodable
from allyouneed.errors import AllYouNeedError, ShapeError, UsageError


class Search:
    """The state of a search over a batch. A sentence is removed when its search is done.

    `sentences_B` has the index in the batch of each remaining sentence. A step of a search calls
    `next_log_probabilities`, then `extend`, then `keep`.

    Raises:
        ShapeError: the source is not BS.
        UsageError: the model is in training mode, or the prefixes do not fit.
    """

    def __init__(
        self,
        model: Decodable,
        source_BS: Tensor,
        hypotheses: int,
        options: SearchOptions,
        prefixes: Prefixes | None,
    ) -> None:
        if source_BS.dim() != 2:
            raise ShapeError(f"the source must be BS, not of shape {tuple(source_BS.shape)}")
        if getattr(model, "training", False):
            raise UsageError("the model is in training mode: dropout is on; call model.eval()")
        self.model = model
        self.limits_B = limits(source_BS, options, model.config)
        self.constraints = constraints_for(options, model.config, source_BS, prefixes)
        check_room(prefixes or (), self.limits_B.tolist())
        shape, device = (source_BS.size(0), hypotheses), source_BS.device
        self.sentences_B = torch.arange(shape[0], device=device)
        self.newest_BN = torch.full(shape, model.config.start, device=device)
        self.tokens_BNT = torch.empty(*shape, 0, dtype=torch.long, device=device)
        self.token_log_p_BNT = torch.empty(*shape, 0, device=device)
        self.log_p_BN = torch.zeros(shape, device=device)
        if self.running:
            self.cache = model.start(model.encode(source_BS), hypotheses, int(self.limits_B.max()))

    @property
    def running(self) -> bool:
        """Whether any sentence is left."""
        return self.sentences_B.numel() > 0

    @property
    def length(self) -> int:
        """The number of tokens in each hypothesis so far."""
        return self.tokens_BNT.size(-1)

    def next_log_probabilities(self) -> Tensor:
        """log P of every next token, BNV float32; minus infinity for banned tokens."""
        logits_BNV = self.model.step(self.newest_BN, self.cache)
        log_p_BNV = logits_BNV.log_softmax(dim=-1, dtype=torch.float32)
        for constraint in self.constraints:
            constraint(log_p_BNV, self.tokens_BNT, self.sentences_B)
        return log_p_BNV

    def extend(self, ids_BN: Tensor, log_p_BN: Tensor, parents_BN: Tensor | None = None) -> None:
        """Hypothesis n becomes hypothesis `parents_BN[b, n]` with the token `ids_BN[b, n]` added.

        `log_p_BN` has the tokens' log-probabilities. Without `parents_BN` each hypothesis is its
        own parent.
        """
        if parents_BN is not None:
            columns_BNT = parents_BN[..., None].expand(-1, -1, self.length)
            self.tokens_BNT = self.tokens_BNT.gather(1, columns_BNT)
            self.token_log_p_BNT = self.token_log_p_BNT.gather(1, columns_BNT)
            self.log_p_BN = self.log_p_BN.gather(1, parents_BN)
        self.newest_BN = ids_BN
        self.tokens_BNT = torch.cat([self.tokens_BNT, ids_BN[..., None]], dim=-1)
        self.token_log_p_BNT = torch.cat([self.token_log_p_BNT, log_p_BN[..., None]], dim=-1)
        self.log_p_BN = self.log_p_BN + log_p_BN

    def keep(self, kept_B: Tensor, parents_BN: Tensor | None = None) -> None:
        """Removes the sentences where `kept_B` is False and re-orders the cache by `parents_BN`.

        The cache is not copied if all sentences stay and all hypotheses keep their order.
        """
        if parents_BN is not None:
            in_order_N = torch.arange(parents_BN.size(1), device=parents_BN.device)
            if torch.equal(parents_BN, in_order_N.expand_as(parents_BN)):
                parents_BN = None
        rows = None
        if not kept_B.all():
            rows = kept_B.nonzero().squeeze(1)
            self.sentences_B, self.limits_B = self.sentences_B[rows], self.limits_B[rows]
            self.newest_BN, self.log_p_BN = self.newest_BN[rows], self.log_p_BN[rows]
            self.tokens_BNT = self.tokens_BNT[rows]
            self.token_log_p_BNT = self.token_log_p_BNT[rows]
            parents_BN = None if parents_BN is None else parents_BN[rows]
        if self.running:
            self.cache.select(rows, parents_BN)

    def at_limit(self) -> Tensor:
        """For each sentence, B: its hypotheses have reached their length limit."""
        return self.limits_B <= self.length

    def spell(self, rows: Tensor, columns: Tensor) -> list[tuple[int, list[int], list[float]]]:
        """(sentence, ids, their log-probabilities) of hypothesis `columns[i]` in row `rows[i]`."""
        return list(
            zip(
                self.sentences_B[rows].tolist(),
                self.tokens_BNT[rows, columns].tolist(),
                self.token_log_p_BNT[rows, columns].tolist(),
                strict=True,
            )
        )


def limits(source_BS: Tensor, options: SearchOptions, config: TransformerConfig) -> Tensor:
    """The length limit of each sentence's hypotheses, in tokens, B."""
    counted_BS = (source_BS != config.pad) & (source_BS != config.end)
    rows = [options.limit(count, config) for count in counted_BS.sum(dim=1).tolist()]
    return torch.tensor(rows, dtype=torch.long, device=source_BS.device)


def hypothesis(
    ids: Sequence[int], log_p: Sequence[float], end: int, length_penalty: float = 1.0
) -> Hypothesis:
    """The `Hypothesis` of these ids and log-probabilities."""
    total = math.fsum(log_p)
    return Hypothesis(tuple(ids), tuple(log_p), total, total / length_penalty, ids[-1] == end)


def check_found(found: Sequence[Sequence[Hypothesis]]) -> None:
    """Raises AllYouNeedError for a sentence without a hypothesis of finite log-probability."""
    for number, hypotheses in enumerate(found):
        if not hypotheses or not all(math.isfinite(h.log_probability) for h in hypotheses):
            raise not_finite(number)


def not_finite(number: int) -> AllYouNeedError:
    """The error for a model that gives NaN for a sentence."""
    return AllYouNeedError(
        f"sentence {number}: the model's log-probabilities are not finite; "
        "check its weights for NaN"
    )
