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
"""watch(candidates, kept_BN) is called after each step.

`candidates` are all candidates of the step; `kept_BN` are the ranks of the candidates that form the
next beam. A candidate's parent is an index into the beam before the step."""


@torch.inference_mode()
def beam_search(
    model: Decodable,
    source_BS: Tensor,
    options: BeamOptions | None = None,
    prefixes: Prefixes | None = None,
    watch: Watch | None = None,
) -> list[list[Hypothesis]]:
    """At most `n_best` hypotheses for each sentence, best first.

    Hypotheses that were cut off at the length limit (`finished=False`) are returned only for a
    sentence without a finished hypothesis. `watch` is called after each step.

    Raises:
        ShapeError: the source is not BS.
        UsageError: the prefixes do not fit, or the model is in training mode.
    """
    options = options or BeamOptions()
    search = Search(model, source_BS, options.beam, options, prefixes)
    search.log_p_BN[:, 1:] = float("-inf")  # all hypotheses start equal, so only one may continue
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
    """The `count` best of all N·V extensions. Of equal ones, the earlier hypothesis comes first."""
    per_hypothesis = min(count, log_p_BNV.size(-1))  # more of one hypothesis cannot be among them
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
    """The hypotheses that have ended so far, with their scores log P / lp(Y)."""

    def __init__(self, search: Search, options: BeamOptions) -> None:
        self.search, self.options = search, options
        sentences, device = search.sentences_B.numel(), search.sentences_B.device
        self.found: list[list[Hypothesis]] = [[] for _ in range(sentences)]
        # The scores of the best N finished hypotheses, best first, for every sentence of the batch.
        self.best_scores = torch.full((sentences, options.beam), float("-inf"), device=device)
        penalties = [options.penalty(limit) for limit in search.limits_B.tolist()]
        self.penalties_at_limit = torch.tensor(penalties, device=device)

    def add_finished(self, candidates: Candidates, ends_BC: Tensor) -> None:
        """Adds the candidates that end at this step, if they are among the best N candidates and
        better than the worst of the best N finished hypotheses."""
        search, beam, penalty = self.search, self.options.beam, self.options.penalty
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
        """For each sentence, B: no running hypothesis can enter the best N finished ones any more.

        With the rule "first": the sentence has N finished hypotheses.
        """
        search, penalty = self.search, self.options.penalty
        if self.options.stop == "first":
            return self.best_scores[search.sentences_B, -1] > float("-inf")
        log_p_B = search.log_p_BN[:, 0]  # of the best running hypothesis
        if self.options.stop == "common":
            attainable_B = log_p_B / penalty(search.length)
        else:
            at_limit_B = log_p_B / self.penalties_at_limit[search.sentences_B]
            attainable_B = torch.maximum(log_p_B / penalty(search.length + 1), at_limit_B)
        return self.best_scores[search.sentences_B, -1] >= attainable_B

    def add_cut_off(self, done_B: Tensor) -> None:
        """Adds the running hypotheses of those done sentences that have no finished hypothesis."""
        rows = [row for row in done_B.nonzero().flatten().tolist() if self._none_finished(row)]
        if not rows:
            return
        end, lp = self.search.model.config.end, self.options.penalty(self.search.length)
        running_BN = self.search.log_p_BN > float("-inf")
        cut_off_BN = torch.zeros_like(running_BN)
        cut_off_BN[rows] = running_BN[rows]
        for sentence, ids, log_p in self.search.spell(*cut_off_BN.nonzero(as_tuple=True)):
            self.found[sentence].append(hypothesis(ids, log_p, end, lp))

    def best(self) -> list[list[Hypothesis]]:
        """The `n_best` best hypotheses of each sentence, best first."""
        check_found(self.found)
        n = self.options.n_best
        return [sorted(found, key=lambda h: -h.score)[:n] for found in self.found]

    def _none_finished(self, row: int) -> bool:
        return not self.found[int(self.search.sentences_B[row])]
