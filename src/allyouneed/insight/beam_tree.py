"""The tree of all hypotheses of a beam search: how each one grew, and where it was dropped."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from allyouneed.decoding.beam import Candidates
from allyouneed.decoding.options import BeamOptions
from allyouneed.text.protocol import AnyTokenizer

Fate = Literal["alive", "dropped", "finished", "best"]


@dataclass(frozen=True, slots=True)
class Node:
    """A hypothesis: its parent's tokens and one more.

    `number` is its index among the nodes, `parent` the parent's number (None for a first token),
    and `step` the position of its token, from 0. `log_probability` and `score` are those of the
    hypothesis so far.

    `fate` is "best" for the translation and its beginnings; "finished" for other hypotheses that
    ended; "dropped" if no extension of it stayed in the beam; "alive" if an extension stayed, or if
    it was in the beam when the search stopped.
    """

    number: int
    parent: int | None
    step: int
    id: int
    text: str
    log_probability: float
    score: float
    fate: Fate


@dataclass(frozen=True, slots=True)
class BeamTree:
    """The nodes in the order in which the search made them, the better ones of a step first."""

    nodes: tuple[Node, ...]

    def path(self, number: int) -> tuple[Node, ...]:
        """The nodes from the first token to this one: a whole hypothesis."""
        node = self.nodes[number]
        nodes = [node]
        while node.parent is not None:
            node = self.nodes[node.parent]
            nodes.append(node)
        return tuple(reversed(nodes))


class TreeWatch:
    """Draws the tree while `beam_search` runs: give it as `watch`, for one sentence."""

    def __init__(self, options: BeamOptions, tokenizer: AnyTokenizer, end: int) -> None:
        self._options, self._tokenizer, self._end = options, tokenizer, end
        self._nodes: list[Node] = []
        self._beam: list[int | None] = [None]
        self._step = 0

    def __call__(self, candidates: Candidates, kept_BN: Tensor) -> None:
        """Adds a step: the hypotheses that ended among the best, and the hypotheses that stay in
        the beam."""
        [log_p], [ids] = candidates.log_p_BC.tolist(), candidates.ids_BC.tolist()
        [parents], [kept] = candidates.parents_BC.tolist(), kept_BN.tolist()
        made: dict[int, int] = {}
        for rank, (value, id) in enumerate(zip(log_p, ids, strict=True)):
            ended = id == self._end and rank < self._options.beam
            if value > float("-inf") and (ended or rank in kept):
                made[rank] = len(self._nodes)
                self._add(self._beam[parents[rank]], id, value)
        self._beam = [made.get(rank) for rank in kept]
        self._step += 1

    def tree(self, best: Sequence[int]) -> BeamTree:
        """The finished tree. `best` are the ids of the hypothesis that the search returned."""
        went_on = {node.parent for node in self._nodes} | set(self._beam)
        children = {(node.parent, node.id): node.number for node in self._nodes}
        way: list[int | None] = [None]
        for id in best:
            way.append(children[way[-1], id])
        return BeamTree(tuple(self._with_fate(node, went_on, way) for node in self._nodes))

    def _add(self, parent: int | None, id: int, log_p: float) -> None:
        score = log_p / self._options.penalty(self._step + 1)
        text = self._tokenizer.piece(id)
        number = len(self._nodes)
        self._nodes.append(Node(number, parent, self._step, id, text, log_p, score, "alive"))

    def _with_fate(self, node: Node, went_on: set[int | None], best: Sequence[int | None]) -> Node:
        if node.number in best:
            return replace(node, fate="best")
        if node.id == self._end:
            return replace(node, fate="finished")
        return node if node.number in went_on else replace(node, fate="dropped")
