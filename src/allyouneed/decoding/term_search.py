"""Beam search that uses given terms (lexically constrained decoding), over many sentences at once.

After dynamic beam allocation (Post and Vilar 2018; Hu et al. 2019): at each step a hypothesis is
extended by its most probable tokens and by those that its terms want, and it ends when it has used
all terms. Hypotheses that have used the same terms are a bank, and the banks share the beam.

A small beam is enough, because a hypothesis that lacks terms is compared with others by what these
terms have cost others, and because a term begins where the model looks at its source (after Hasler
et al. 2018).

A sentence without terms is searched as `beam_search` does it.

B sentences still running · N hypotheses of each · V vocabulary · k tokens looked at · F wanted
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
"""looks() → look_BNS: how much each hypothesis looked at each token of its source, just now."""
SPARE = 2  # a beam is at most twice as wide as asked for, and this, where there are many terms


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

    `looks` gives the attention of the last step to the source, where the model can tell; a term is
    then best placed where the model looks at its source. Where no hypothesis was found that uses
    all terms, those come that use most of them.

    Raises:
        ShapeError: a source that is not BS.
        UsageError: prefixes that do not fit, or a model in training mode.
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
    search.log_p_BN[:, 1:] = -math.inf  # all hypotheses start equal, so one is enough
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
    """A hypothesis with one more token; `parent` is its place in the last beam.

    `begun` is the total before the term that it is in or has just completed.
    """

    total: float
    log_p: float
    id: int
    parent: int
    progress: Progress
    begun: float

    @property
    def used(self) -> int:
        """How many terms it has used."""
        return self.progress.used.bit_count()


class TermBeam:
    """The beam of one sentence: what is alive in it, best first, and what has ended."""

    def __init__(self, trie: TermTrie, limit: int, options: BeamOptions, sees: bool) -> None:
        """`sees` says whether it is known where the model looks."""
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
        """Takes how much each hypothesis looks at each source token."""
        self.looks = [self.trie.looks(look_S) for look_S in look_NS]

    def step(
        self,
        tokens: Sequence[dict[int, float]],
        search: Search,
        row: int,
    ) -> None:
        """Goes on with the log-probabilities of the `tokens` of each hypothesis."""
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
        """What a hypothesis is compared by: its total, what speaks for the places of its terms, and
        what the terms will cost that it has not used. In the middle of a term that is in its place,
        the tokens of the term are left out: another hypothesis will have to pay for them too."""
        to_come = sum(
            cost
            for term, cost in enumerate(self.costs)
            if not one.progress.used >> term & 1 and cost > -math.inf
        )
        total = one.begun if one.progress.in_term and self.sees else one.total
        return total + one.progress.evidence + to_come

    def shared(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those of the candidates that form the next beam, best first.

        Candidates that have used the same terms are a bank; those in the middle of a term are one
        of their own. The banks take turns, that of the best first. Last come those that are
        overtaken: another has used the same terms and more, and is at least as good.

        Where nobody knows whether a term has its place here, each place in the middle of a term is
        a bank, and the bank that has come farthest is first.
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
        """Whether no hypothesis that is alive can overtake those that have ended.

        Those that lack terms count no more once one that lacks the same terms would have ended.
        """
        if not self.alive or length >= self.limit:
            return True
        if self.options.stop == "first":
            return len(self.found) >= self.options.beam
        hoping = [self.worth(one) for one in self.alive if one.progress.used not in self.ended]
        if not hoping:
            return bool(self.found)
        penalty, total = self.options.length_penalty, max(hoping)
        hope = total / penalty(length)
        if self.options.stop == "exact":
            hope = max(total / penalty(length + 1), total / penalty(self.limit))
        return self.scores[-1] >= hope

    def best(self) -> list[Hypothesis]:
        """The n best that have ended, best first; if none has used all terms, those that have used
        most of them."""
        ordered = sorted(self.found, key=lambda one: -one.score)
        if not ordered:
            incomplete = sorted(self.incomplete, key=lambda one: (-one[0], -one[1].score))
            ordered = [one for _, one in incomplete]
        return ordered[: self.options.n_best]

    def take_cut_off(self, search: Search, row: int) -> None:
        """Takes what is alive if nothing has ended."""
        if self.found or self.incomplete:
            return
        penalty = self.options.length_penalty(search.length)
        for column, one in enumerate(self.alive):
            ids = search.tokens_BNT[row, column].tolist()
            log_p = search.token_log_p_BNT[row, column].tolist()
            ended = hypothesis(ids, log_p, search.model.config.end)
            ended = replace(ended, score=self.worth(one) / penalty)
            self.incomplete.append((one.used, ended))

    def _end(self, last: Candidate, search: Search, row: int) -> None:
        """Takes a hypothesis that ends now."""
        penalty = self.options.length_penalty(search.length + 1)
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
    """How many hypotheses a sentence has: the beam, or enough for each term to be there, in
    progress and not there, up to about twice as many as the beam."""
    banks = 2 * len(trie.terms) if sees else sum(min(map(len, t.forms)) for t in trie.terms)
    return max(options.beam, min(banks + 1, 2 * options.beam + SPARE))


def _tokens(
    log_p_BNV: Tensor, beams: Sequence[TermBeam], count: int
) -> Iterator[list[dict[int, float]]]:
    """For each hypothesis of each sentence the tokens to look at with their log-probabilities: the
    `count` most probable ones and those that its terms want."""
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
    """Makes the hypotheses of the search those that are kept, and returns their parents, BN. Places
    that are left over are dead."""

    def column(name: str, filling: float) -> Tensor:
        rows = [[getattr(one, name) for one in some] for some in kept]
        filled = [[*row, *[filling] * (width - len(row))] for row in rows]
        return torch.tensor(filled, device=search.newest_BN.device)

    parents_BN = column("parent", 0)
    search.extend(column("id", search.model.config.pad), column("log_p", -math.inf), parents_BN)
    return parents_BN
