"""Where a run stands."""

import math
from dataclasses import dataclass
from typing import Any


@dataclass
class State:
    """What a checkpoint holds beside weights and the optimiser.

    `data` and `valid` are the keys of the token stores of training and validation, which follow
    from all that their pairs follow from; `config` is the model's;
    `position` counts updates within the epoch; `threads` (of the CPU) and `workers` are numbers on
    which the last bit of a loss depends; `launcher` names the `torchrun` that started each worker;
    `best_loss` is the cost (`Measured.cost`) of the best model so far, of step `best_step`;
    `stopped`: a signal is why this was written, it is no checkpoint that the recipe asks for.
    """

    data: str
    valid: str
    config: dict[str, Any]
    threads: int
    workers: int = 1
    launcher: str = ""
    step: int = 0
    epoch: int = 0
    position: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best_loss: float = math.inf
    best_step: int = 0
    validations_since_best: int = 0
    validated_step: int = 0
    stopped: bool = False
