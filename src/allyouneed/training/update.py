"""One update: the gradient of some batches, clipped, and the optimizer's step with it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from allyouneed.data.batches import Indices
from allyouneed.training.gradient import Cost
from allyouneed.training.schedule import learning_rate
from allyouneed.training.trainee import Trainee


@dataclass(frozen=True, slots=True)
class Update:
    """The cost of an update's batches, and the norm of their gradient before clipping."""

    cost: Cost
    norm: float

    @property
    def finite(self) -> bool:
        """Whether the update was made. Otherwise it was skipped, to keep the weights finite."""
        return math.isfinite(self.cost.loss) and math.isfinite(self.norm)


def update(trainee: Trainee, group: Sequence[Indices]) -> Update:
    """Moves the weights by one optimizer step over the batches of the group, unless the loss or
    the gradient is not finite."""
    state, optimizer = trainee.state, trainee.optimizer
    cost = trainee.gradient.of(group, state.step, state.epoch)
    made = Update(cost, _clip(trainee))
    if made.finite:
        rate = learning_rate(trainee.recipe.schedule, state.step, trainee.model.config.d_model)
        for parameters in optimizer.param_groups:
            parameters["lr"] = rate
        optimizer.step()
        trainee.average.update()
    optimizer.zero_grad(set_to_none=True)
    return made


def _clip(trainee: Trainee) -> float:
    """Clips the gradient to the recipe's largest norm. Returns its norm before clipping."""
    weights = [weight for weight in trainee.model.parameters() if weight.grad is not None]
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    norm = trainee.workers.whole(torch.nn.utils.get_total_norm(gradients))
    largest = trainee.recipe.optimizer.clip_norm or math.inf
    torch.nn.utils.clip_grads_with_norm_(weights, largest, norm)
    return float(norm)
