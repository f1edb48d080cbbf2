"""Where a run stands, and how a checkpoint keeps it."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from allyouneed.errors import TrainingError

VERSION = 1  # of the record; a record without one was written before there were versions


@dataclass
class State:
    """What a checkpoint holds beside weights and the optimiser's moments.

    `data` and `valid` are the keys of the token stores of training and validation; a key follows
    from all that the store's pairs follow from. `config` is the model's configuration. `position`
    counts updates within the epoch. `threads` (of the CPU) and `workers` are numbers on which the
    last bit of a loss depends. `launcher` names the `torchrun` that started each worker.
    `best_loss` is the cost (`Measured.cost`) of the best model so far, which is that of
    `best_step`. `stopped` says that a signal is why the checkpoint was written, not the recipe.
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

    def record(self) -> dict[str, Any]:
        """The state by name, as JSON can hold it, with the record's version."""
        return {"version": VERSION, **asdict(self)}

    def updated(self, record: Mapping[str, Any], origin: str) -> "State":
        """This state with the values of a record of this version or an older one; what an older
        record lacks stays as it is here. `origin` is how an error names the record.

        Raises:
            TrainingError: a record of a newer version, or with values that this one does not know.
        """
        values = dict(record)
        version = values.pop("version", 0)
        if not isinstance(version, int) or version > VERSION:
            raise TrainingError(
                f"{origin} has version {version}, and this allyouneed reads up to {VERSION}; go on "
                "with the version that wrote it"
            )
        if unknown := sorted(values.keys() - {field.name for field in fields(self)}):
            raise TrainingError(
                f"{origin} holds {', '.join(unknown)}, which version {version} does not have; go "
                "on with the version that wrote it, or start anew in another folder"
            )
        return replace(self, **values)
