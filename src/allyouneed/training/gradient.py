"""The gradient of one update over all its batches and workers; every target token has the same
weight."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from allyouneed.data.batches import Indices
from allyouneed.data.store import TokenStore
from allyouneed.device import memory_is_short
from allyouneed.errors import TrainingError
from allyouneed.training.chance import number_from
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.tasks.task import Task, TaskBatch
from allyouneed.training.training_loss import TrainingLoss
from allyouneed.training.workers import Workers


@dataclass(frozen=True, slots=True)
class Cost:
    """The loss of an update's batches: nats summed over target tokens, and their number."""

    losses: Sequence[float]
    tokens: int

    @property
    def loss(self) -> float:
        """Nats per target token."""
        return sum(self.losses) / self.tokens


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Pairs that go forward and backward together. They belong to batch `number` of the update."""

    number: int
    pairs: Indices
    batch: TaskBatch


class Gradient:
    """Computes the gradients of the objective's weights, one update at a time.

    The model's random choices are seeded by (seed, step, rank), the task's by (seed, epoch, number
    of the pair). `note` receives a line about batches that a worker had to split.
    """

    def __init__(
        self,
        recipe: CommonRecipe,
        task: Task[Any],
        objective: TrainingLoss,
        workers: Workers,
        note: Callable[[str], None],
    ) -> None:
        self._recipe = recipe
        self._task = task
        self._workers = workers
        self._note = note
        self._objective: nn.Module = workers.join(objective)
        self._weights = list(objective.parameters())

    def of(self, group: Sequence[Indices], step: int, epoch: int) -> Cost:
        """Computes the gradients of an update over these batches. Returns their loss.

        A batch that does not fit into memory is split, and the update is begun again, so that it
        counts every pair exactly once.

        Raises:
            TrainingError: a single pair does not fit into memory.
        """
        pieces = [
            self._piece(number, pairs, epoch)
            for number, pairs in shared_out(group, self._workers.rank, self._workers.world)
        ]
        (tokens,) = self._workers.sum([sum(piece.batch.target_tokens for piece in pieces)])
        losses, splits = torch.zeros(len(group), dtype=torch.float64), 0
        while (too_large := self._backward(pieces, tokens, step, losses)) is not None:
            for weight in self._weights:
                weight.grad = None
            at = pieces.index(too_large)
            pieces[at : at + 1] = self._halves(too_large, step, epoch)
            splits += 1
        self._workers.add_up()
        *whole, all_splits = self._workers.sum([*losses.tolist(), splits])
        if all_splits:
            self._note(
                f"step {step}: there was not enough memory for {int(all_splits)} of the batches or "
                "parts of batches, so they were split in two. A lower training.batch_tokens with a "
                "higher training.accumulate saves the time of the second try"
            )
        return Cost(whole, int(tokens))

    def _backward(
        self, pieces: Sequence[_Piece], tokens: float, step: int, losses: Tensor
    ) -> _Piece | None:
        """Adds up the pieces' gradients, and their losses by batch. Returns the piece that did not
        fit into memory, or None."""
        torch.manual_seed(number_from(self._recipe.seed, "dropout", step, self._workers.rank))
        found: list[Tensor] = []
        for piece in pieces:
            try:
                with self._workers.apart():
                    loss = self._objective(piece.batch)
                    # the workers' gradients are averaged afterwards, so `world` cancels
                    (loss * self._workers.world / tokens).backward()
                found.append(loss.detach())
            except (MemoryError, RuntimeError) as error:
                if not memory_is_short(error):
                    raise
                return piece
        losses.zero_()
        for piece, loss in zip(pieces, found, strict=True):
            losses[piece.number] += float(loss)
        return None

    def _halves(self, piece: _Piece, step: int, epoch: int) -> list[_Piece]:
        if not self._workers.can_try_again:
            raise TrainingError(
                f"there is not enough memory for a batch of {len(piece.pairs)} pairs at step "
                f"{step}, and with training.sharded a batch cannot be split; resume with "
                "training.sharded=false, or start a new run with training.batch_tokens divided and "
                "training.accumulate multiplied by the same number"
            )
        if len(piece.pairs) < 2:
            number = int(piece.pairs[0])
            name, line = self._task.train.line_of(number)
            source, target = map(len, self._task.train.pair(number))
            raise TrainingError(
                f"{name}:{line}: this example of {source} and {target} tokens alone does not fit "
                "into memory; start a new run without such long examples (for pairs, lower "
                "data.filters.max_tokens), or with a smaller model"
            )
        return [self._piece(piece.number, piece.pairs[half::2], epoch) for half in (0, 1)]

    def _piece(self, number: int, pairs: Indices, epoch: int) -> _Piece:
        return _Piece(number, pairs, self._task.batch(pairs, epoch))


def shared_out(group: Sequence[Indices], rank: int, world: int) -> list[tuple[int, Indices]]:
    """A worker's share of the batches of an update: (number of the batch, its pairs).

    Workers get whole batches as long as there is one for each worker. Of each remaining batch, a
    worker gets every `world`-th pair. All workers therefore have the same number of batches (some
    may be empty) and about the same amount of work.
    """
    whole = len(group) // world * world
    return [
        (number, pairs if number < whole else pairs[rank::world])
        for number, pairs in enumerate(group)
        if number >= whole or number % world == rank
    ]


def lines_of(store: TokenStore, pairs: Indices) -> str:
    """The origin of the pairs, as "corpus:line, line; corpus:line"."""
    lines: dict[str, list[int]] = {}
    for name, line in sorted(store.line_of(int(pair)) for pair in pairs):
        lines.setdefault(name, []).append(line)
    return "; ".join(f"{name}:{', '.join(map(str, found))}" for name, found in lines.items())
