"""A moving average of the weights, to be translated with in their place."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.optim import Optimizer

AVERAGE = "average"


class MovingAverage:
    """Polyak averaging (Polyak & Juditsky 1992) with a decay: after update t,

        average += (1 - decay) / (1 - decay^t) · (weights - average)

    which is that of Kingma & Ba 2015, section 7.2, the bias of its start taken out: the first
    average is the first weights, and before 1 / (1 - decay) updates all count about alike. A decay
    of 0 averages nothing.

    The averages are kept in the optimizer's state, beside Adam's moments: checkpoints hold them,
    and workers that share the moments out share them too.
    """

    def __init__(self, optimizer: Optimizer, decay: float) -> None:
        self._optimizer = optimizer
        self._decay = decay

    @torch.no_grad()
    def update(self) -> None:
        """Takes the weights in; after each update of the optimizer."""
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
        """Inside, the weights are the average; afterwards they are themselves again, to the bit."""
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
