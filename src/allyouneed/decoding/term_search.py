"""Beam search whose translations use given terms (lexically constrained decoding).

The search follows dynamic beam allocation (Post and Vilar 2018; Hu et al. 2019). At each step a
hypothesis is extended by its most probable tokens and by the tokens that continue or begin its
terms. It may end when it has used all terms. Hypotheses that have used the same terms form a bank,
and the banks share the beam.

Two changes make a small beam sufficient. A hypothesis that lacks terms is charged what these terms
have cost other hypotheses. And a term begins where the model attends to its source (after Hasler et
al. 2018).

A sentence without terms gets the result of `beam_search`.

B sentences still running · N hypotheses of each · V vocabulary · k most probable tokens · F tokens
of terms
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.prefixes import Prefixes
from allyouneed.decoding.protocol import Decodable
from allyouneed.decoding.search import Search, check_found, hypothesis, not_finite
from allyouneed.decoding.terms import Progress, TermTrie, WantedTerms

Looks = Callable[[], Tensor]
"""looks() → look_BNS: the attention of each hypothesis to each source token at the last step."""
SPARE = 2  # with many terms, a beam is at most twice as wide as requested, plus this


@torch.inference_mode()
def term_search(
    model: Decodable,
    source_BS: Tensor,
    options: BeamOptions,
    terms: WantedTerms,
    prefixes: Prefixes | None = None,
    looks: Looks | None = None,
) -> list[list[Hypothesis]]:
    """At most `n_best` hypotheses for each sentence, best first, that use the sentence's terms.

    `looks` gives the attention of the last step to the source, if the model provides it. A term is
    then best placed where the model attends to its source. If no hypothesis uses all terms, the
    hypotheses that use most of them are returned.

    Raises:
        ShapeError: the source is not BS.
        UsageError: the prefixes do not fit, or the model is in training mode.
    """
    tries = [TermTrie(one, terms.edges) for one in terms.sentences]
    widest = max(
        (width_for(trie, options, looks is not None) for trie in tries), default=options.beam
    )
    search = Search(model, source_BS, widest, options, prefixes)
    limits = search.limits_B.tolist()
    beams = [
        TermBeam(*given, options, looks is not None) for given in zip(tries, limits, strict=True)
    ]
    search.log_p_BN[:, 1:] = -math.inf  # all hypotheses start equal, so only one may continue
    running = beams
    while search.running:
        log_p_BNV = search.next_log_probabilities()
        if looks is not None:
            for beam, look_NS in zip(running, looks().tolist(), strict=True):
                beam.look(look_NS)
        kept = []
        for row, (beam, tokens) in enumerate(
            zip(running, _tokens(log_p_BNV, running, 2 * options.beam), strict=True)
        ):
            beam.step(tokens, search, row)
            kept.append(beam.alive)
        parents_BN = _extend(search, kept, widest)
        done = [one.done(search.length) for one in running]
        for row, beam in enumerate(running):
            if done[row]:
                beam.take_cut_off(search, row)
        done_B = torch.tensor(done, device=source_BS.device)
        search.keep(~done_B, parents_BN)
        running = [one for one, ends in zip(running, done, strict=True) if not ends]
    found = [one.best() for one in beams]
    check_found(found)
    return found


class Candidate(NamedTuple):
    """A hypothesis extended by one token; `parent` is its index in the last beam.

    `begun` is the total log-probability before the term that is in progress or just completed.
    """

    total: float
    log_p: float
    id: int
    parent: int
    progress: Progress
    begun: float

    @property
    def used(self) -> int:
        """The number of terms it has used."""
        return self.progress.used.bit_count()


class TermBeam:
    """The beam of one sentence: its running hypotheses, best first, and those that have ended."""

    def __init__(self, trie: TermTrie, limit: int, options: BeamOptions, sees: bool) -> None:
        """`sees` says whether the model's attention is known."""
        self.trie, self.limit, self.options, self.sees = trie, limit, options, sees
        self.width = width_for(trie, options, sees)
        self.alive = [Candidate(0.0, 0.0, -1, 0, trie.begin(), 0.0)]
        self.looks: Sequence[Sequence[float] | None] = [None] * self.width
        self.costs = [-math.inf] * len(trie.terms)  # of each term's tokens, where it came cheapest
        self.found: list[Hypothesis] = []  # those that have used all terms
        self.incomplete: list[tuple[int, Hypothesis]] = []  # others, with the number of terms used
        self.ended: set[int] = set()  # which terms they have used
        self.scores = [-math.inf] * options.beam  # of the best that were found

    def look(self, look_NS: Sequence[Sequence[float]]) -> None:
        """Stores the attention of each hypothesis to each source token."""
        self.looks = [self.trie.looks(look_S) for look_S in look_NS]

    def step(
        self,
        tokens: Sequence[dict[int, float]],
        search: Search,
        row: int,
    ) -> None:
        """Extends the hypotheses; `tokens` has log-probabilities of next tokens for each."""
        going: list[Candidate] = []
        ends: list[Candidate] = []
        for parent, one in enumerate(self.alive):
            for id, log_p in tokens[parent].items():
                total = one.total + log_p
                if id == search.model.config.end:
                    ends.append(Candidate(total, log_p, id, parent, one.progress, total))
                    continue
                progress = self.trie.after(one.progress, id, self.looks[parent])
                begun = one.begun if progress.depth > 1 else one.total
                going.append(Candidate(total, log_p, id, parent, progress, begun))
                if (term := progress.newest) >= 0 and self.sees:
                    self.costs[term] = max(self.costs[term], total - begun)
        if not all(math.isfinite(one.total) for one in (*going, *ends)) or not (going or ends):
            raise not_finite(int(search.sentences_B[row]))
        for end in ends:
            better = sum(
                self.worth(other) > self.worth(end)
                for other in (*going, *ends)
                if self.alive[other.parent].progress.used == end.progress.used
            )
            if better < self.options.beam:
                self._end(end, search, row)
        best = sorted([one.score for one in self.found], reverse=True)[: self.options.beam]
        self.scores = [*best, *[-math.inf] * (self.options.beam - len(best))]
        self.alive = self.shared(going)

    def worth(self, one: Candidate) -> float:
        """The number by which hypotheses are compared: the total log-probability, plus the evidence
        for the places of the used terms, plus the expected cost of the unused terms.

        In the middle of a term whose place fits, the term's tokens are left out of the total, since
        every other hypothesis will have to pay for them too.
        """
        to_come = sum(
            cost
            for term, cost in enumerate(self.costs)
            if not one.progress.used >> term & 1 and cost > -math.inf
        )
        total = one.begun if one.progress.in_term and self.sees else one.total
        return total + one.progress.evidence + to_come

    def shared(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that form the next beam, best first.

        Candidates that have used the same terms form a bank; candidates in the middle of a term
        form a bank of their own. The banks take turns, beginning with the bank of the best
        candidate. Overtaken candidates come last: those for which another candidate has used the
        same terms and more, and is at least as good.

        If the model's attention is unknown, each place in the middle of a term is a bank, and the
        bank with most progress comes first.
        """
        best: dict[int, float] = {}
        for one in candidates:
            if not one.progress.in_term:
                best[one.progress.used] = max(
                    best.get(one.progress.used, -math.inf), self.worth(one)
                )
        turns: list[tuple[bool, int, int, int, Candidate]] = []
        passed: dict[tuple[int, int], int] = {}
        for one in sorted(candidates, key=lambda one: -self.worth(one)):
            used = one.progress.used
            overtaken = any(
                used != other and used & other == used and worth >= self.worth(one)
                for other, worth in best.items()
            )
            place = one.progress.in_term if self.sees else one.progress.node
            turn = passed[used, place] = passed.get((used, place), -1) + 1
            far = (0, 0) if self.sees else (-one.used, -one.progress.depth)
            turns.append((overtaken, turn, *far, one))
        turns.sort(key=lambda turn: turn[:4])
        kept = [turn[4] for turn in turns[: self.width]]
        return sorted(kept, key=lambda one: -self.worth(one))

    def done(self, length: int) -> bool:
        """Whether no running hypothesis can overtake those that have ended.

        A running hypothesis that lacks terms is ignored if one that lacks the same terms has ended.
        """
        if not self.alive or length >= self.limit:
            return True
        if self.options.stop == "first":
            return len(self.found) >= self.options.beam
        hoping = [self.worth(one) for one in self.alive if one.progress.used not in self.ended]
        if not hoping:
            return bool(self.found)
        penalty, total = self.options.penalty, max(hoping)
        hope = total / penalty(length)
        if self.options.stop == "exact":
            hope = max(total / penalty(length + 1), total / penalty(self.limit))
        return self.scores[-1] >= hope

    def best(self) -> list[Hypothesis]:
        """The `n_best` best ended hypotheses, best first. If none has used all terms, those that
        have used most of them."""
        ordered = sorted(self.found, key=lambda one: -one.score)
        if not ordered:
            incomplete = sorted(self.incomplete, key=lambda one: (-one[0], -one[1].score))
            ordered = [one for _, one in incomplete]
        return ordered[: self.options.n_best]

    def take_cut_off(self, search: Search, row: int) -> None:
        """Adds the running hypotheses to the results if no hypothesis has ended."""
        if self.found or self.incomplete:
            return
        penalty = self.options.penalty(search.length)
        for column, one in enumerate(self.alive):
            ids = search.tokens_BNT[row, column].tolist()
            log_p = search.token_log_p_BNT[row, column].tolist()
            ended = hypothesis(ids, log_p, search.model.config.end)
            ended = replace(ended, score=self.worth(one) / penalty)
            self.incomplete.append((one.used, ended))

    def _end(self, last: Candidate, search: Search, row: int) -> None:
        """Adds a hypothesis that ends at this step to the results."""
        penalty = self.options.penalty(search.length + 1)
        complete = last.progress.used == self.trie.all_used
        score = self.worth(last) / penalty
        if complete and score <= self.scores[-1]:
            return
        if complete and self.options.stop == "first" and len(self.found) == self.options.beam:
            return
        ids = [*search.tokens_BNT[row, last.parent].tolist(), last.id]
        log_p = [*search.token_log_p_BNT[row, last.parent].tolist(), last.log_p]
        ended = replace(hypothesis(ids, log_p, last.id), score=score)
        if complete:
            self.found.append(ended)
        else:
            self.incomplete.append((last.used, ended))
            self.ended.add(last.progress.used)


def width_for(trie: TermTrie, options: BeamOptions, sees: bool) -> int:
    """The number of hypotheses of a sentence: `options.beam`, or enough for one bank per term used
    and one per term in progress, but at most about twice the beam."""
    banks = 2 * len(trie.terms) if sees else sum(min(map(len, t.forms)) for t in trie.terms)
    return max(options.beam, min(banks + 1, 2 * options.beam + SPARE))


def _tokens(
    log_p_BNV: Tensor, beams: Sequence[TermBeam], count: int
) -> Iterator[list[dict[int, float]]]:
    """For each sentence and hypothesis, candidate tokens with their log-probabilities: the `count`
    most probable ones and those that continue or begin its terms."""
    log_p_BNk, ids_BNk = log_p_BNV.topk(min(count, log_p_BNV.size(-1)))
    probable = zip(ids_BNk.tolist(), log_p_BNk.tolist(), strict=True)
    for row, (beam, (ids_Nk, log_p_Nk)) in enumerate(zip(beams, probable, strict=True)):
        tokens = []
        for column, one in enumerate(beam.alive):
            found = dict(zip(ids_Nk[column], log_p_Nk[column], strict=True))
            if wanted := [
                id for id in beam.trie.wanted(one.progress, beam.looks[column]) if id not in found
            ]:
                log_p_F = log_p_BNV[row, column, wanted].tolist()
                found |= zip(wanted, log_p_F, strict=True)
            tokens.append({id: log_p for id, log_p in found.items() if log_p > -math.inf})
        yield tokens


def _extend(search: Search, kept: Sequence[Sequence[Candidate]], width: int) -> Tensor:
    """Replaces the hypotheses of the search by `kept` and returns their parents, BN. Unused places
    get the log-probability minus infinity."""

    def column(name: str, filling: float) -> Tensor:
        rows = [[getattr(one, name) for one in some] for some in kept]
        filled = [[*row, *[filling] * (width - len(row))] for row in rows]
        return torch.tensor(filled, device=search.newest_BN.device)

    parents_BN = column("parent", 0)
    search.extend(column("id", search.model.config.pad), column("log_p", -math.inf), parents_BN)
    return parents_BN
