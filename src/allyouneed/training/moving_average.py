"""A moving average of the weights, which validation and the final model use in their place."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.optim import Optimizer

AVERAGE = "average"


class MovingAverage:
    """Polyak averaging (Polyak & Juditsky 1992) with a decay: after update t,

        average += (1 - decay) / (1 - decay^t) · (weights - average)

    This is the average of Kingma & Ba 2015, section 7.2, corrected for the bias of its start. The
    first average equals the first weights, and during the first 1 / (1 - decay) updates all weights
    count about equally. A decay of 0 averages nothing.

    The averages are part of the optimizer's state, like Adam's moments. Checkpoints therefore
    contain them, and sharded workers hold a part of them each.
    """

    def __init__(self, optimizer: Optimizer, decay: float) -> None:
        self._optimizer = optimizer
        self._decay = decay

    @torch.no_grad()
    def update(self) -> None:
        """Adds the present weights to the average; called after each update of the optimizer."""
        if not self._decay:
            return
        states = self._optimizer.state
        updates = float(next(iter(states.values()))["step"])
        share = (1 - self._decay) / (1 - self._decay**updates)
        for weight, state in states.items():
            if AVERAGE not in state:
                state[AVERAGE] = weight.detach().clone()
            state[AVERAGE].lerp_(weight, share)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """In the `with` block the model has the averaged weights. Afterwards it has exactly its own
        weights again."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for weight, state in self._optimizer.state.items():
            if AVERAGE in state:
                held = weight.detach().clone()
                weight.copy_(state[AVERAGE])
                state[AVERAGE].copy_(held)
