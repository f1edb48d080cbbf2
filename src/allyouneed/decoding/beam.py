"""Beam search (section 6.1), over many sentences at once.

B sentences still running · N hypotheses of each (the beam) · C = 2N candidates · V vocabulary
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.prefixes import Prefixes
from allyouneed.decoding.protocol import Decodable
from allyouneed.decoding.search import Search, check_found, hypothesis

Watch = Callable[["Candidates", Tensor], None]
"""watch(candidates, kept_BN) is called after each step. `candidates` are all candidates of this
step, `kept_BN` the ranks of those that form the next beam. Parents are places in the last beam."""


@torch.inference_mode()
def beam_search(
    model: Decodable,
    source_BS: Tensor,
    options: BeamOptions | None = None,
    prefixes: Prefixes | None = None,
    watch: Watch | None = None,
) -> list[list[Hypothesis]]:
    """At most `n_best` hypotheses for each sentence, best first.

    Hypotheses that were cut off at the longest length are returned (`finished=False`) only for a
    sentence of which none was finished. `watch`, if given, is shown each step.

    Raises:
        ShapeError: a source that is not BS.
        UsageError: prefixes that do not fit, or a model in training mode.
    """
    options = options or BeamOptions()
    search = Search(model, source_BS, options.beam, options, prefixes)
    search.log_p_BN[:, 1:] = float("-inf")  # all hypotheses start equal, so one is enough
    results = Results(search, options)
    while search.running:
        log_p_BNV = search.next_log_probabilities()
        candidates = best_candidates(search.log_p_BN, log_p_BNV, 2 * options.beam)
        ends_BC = candidates.ids_BC == model.config.end
        results.add_finished(candidates, ends_BC)
        kept_BN = first_false(ends_BC, options.beam)
        if watch is not None:
            watch(candidates, kept_BN)
        alive = candidates.take(kept_BN)
        search.extend(alive.ids_BC, alive.token_log_p_BC, alive.parents_BC)
        done_B = results.cannot_be_overtaken() | search.at_limit()
        results.add_cut_off(done_B)
        search.keep(~done_B, alive.parents_BC)
    return results.best()


@dataclass(frozen=True, slots=True)
class Candidates:
    """Hypotheses extended by one token, best first: log-probabilities, new tokens and parents."""

    log_p_BC: Tensor
    token_log_p_BC: Tensor
    ids_BC: Tensor
    parents_BC: Tensor

    def take(self, ranks_BN: Tensor) -> "Candidates":
        """Keeps the candidates with the given ranks."""
        return Candidates(
            self.log_p_BC.gather(1, ranks_BN),
            self.token_log_p_BC.gather(1, ranks_BN),
            self.ids_BC.gather(1, ranks_BN),
            self.parents_BC.gather(1, ranks_BN),
        )


def best_candidates(log_p_BN: Tensor, log_p_BNV: Tensor, count: int) -> Candidates:
    """The `count` best of all N·V extensions. Among equals, the earlier hypothesis comes first."""
    per_hypothesis = min(count, log_p_BNV.size(-1))  # no hypothesis can have more among the best
    token_log_p_BNk, ids_BNk = log_p_BNV.topk(per_hypothesis)
    extended_BX = (log_p_BN[..., None] + token_log_p_BNk).flatten(1)
    ranked_BX, order_BX = extended_BX.sort(dim=1, descending=True, stable=True)
    order_BC = order_BX[:, :count]
    return Candidates(
        ranked_BX[:, :count],
        token_log_p_BNk.flatten(1).gather(1, order_BC),
        ids_BNk.flatten(1).gather(1, order_BC),
        order_BC // per_hypothesis,
    )


def first_false(flags_BC: Tensor, count: int) -> Tensor:
    """The ranks of the first `count` candidates that are not flagged."""
    return flags_BC.byte().sort(dim=1, stable=True).indices[:, :count]


class Results:
    """Hypotheses that have ended, kept aside with their scores log P / lp(Y)."""

    def __init__(self, search: Search, options: BeamOptions) -> None:
        self.search, self.options = search, options
        sentences, device = search.sentences_B.numel(), search.sentences_B.device
        self.found: list[list[Hypothesis]] = [[] for _ in range(sentences)]
        # The scores of the best N finished hypotheses, best first, for every sentence of the batch.
        self.best_scores = torch.full((sentences, options.beam), float("-inf"), device=device)
        penalties = [options.length_penalty(limit) for limit in search.limits_B.tolist()]
        self.penalties_at_limit = torch.tensor(penalties, device=device)

    def add_finished(self, candidates: Candidates, ends_BC: Tensor) -> None:
        """Takes those that end now, are among the best N candidates and enter the best N."""
        search, beam, penalty = self.search, self.options.beam, self.options.length_penalty
        lp = penalty(search.length + 1)
        scores_BN = (candidates.log_p_BC / lp).masked_fill(~ends_BC, float("-inf"))[:, :beam]
        best_BN = self.best_scores[search.sentences_B]
        rows, ranks = (scores_BN > best_BN[:, -1:]).nonzero(as_tuple=True)
        if not rows.numel():
            return
        end, last = self.search.model.config.end, candidates.token_log_p_BC[rows, ranks].tolist()
        before = search.spell(rows, candidates.parents_BC[rows, ranks])
        for (sentence, ids, log_p), end_log_p in zip(before, last, strict=True):
            if self.options.stop == "first" and len(self.found[sentence]) == beam:
                continue
            finished = hypothesis([*ids, end], [*log_p, end_log_p], end, lp)
            self.found[sentence].append(finished)
        both = torch.cat([best_BN, scores_BN], dim=1)
        self.best_scores[search.sentences_B] = both.topk(beam, dim=1).values

    def cannot_be_overtaken(self) -> Tensor:
        """Whether a sentence has N finished hypotheses that are as good as any alive can get, B;
        by the rule "first", whether it has N."""
        search, penalty = self.search, self.options.length_penalty
        if self.options.stop == "first":
            return self.best_scores[search.sentences_B, -1] > float("-inf")
        alive_B = search.log_p_BN[:, 0]  # the best one
        if self.options.stop == "common":
            hope_B = alive_B / penalty(search.length)
        else:
            farthest_B = alive_B / self.penalties_at_limit[search.sentences_B]
            hope_B = torch.maximum(alive_B / penalty(search.length + 1), farthest_B)
        return self.best_scores[search.sentences_B, -1] >= hope_B

    def add_cut_off(self, done_B: Tensor) -> None:
        """Takes the alive hypotheses of sentences that are done and have no finished one."""
        rows = [row for row in done_B.nonzero().flatten().tolist() if self._has_none(row)]
        if not rows:
            return
        end, lp = self.search.model.config.end, self.options.length_penalty(self.search.length)
        alive_BN = self.search.log_p_BN > float("-inf")
        wanted_BN = torch.zeros_like(alive_BN)
        wanted_BN[rows] = alive_BN[rows]
        for sentence, ids, log_p in self.search.spell(*wanted_BN.nonzero(as_tuple=True)):
            self.found[sentence].append(hypothesis(ids, log_p, end, lp))

    def best(self) -> list[list[Hypothesis]]:
        """The n best of each sentence, best first."""
        check_found(self.found)
        n = self.options.n_best
        return [sorted(found, key=lambda h: -h.score)[:n] for found in self.found]

    def _has_none(self, row: int) -> bool:
        return not self.found[int(self.search.sentences_B[row])]
