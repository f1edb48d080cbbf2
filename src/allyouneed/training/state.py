"""The progress of a run, and its form in a checkpoint."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from allyouneed.errors import TrainingError

VERSION = 1  # of the record; the oldest records have no version


@dataclass
class State:
    """The content of a checkpoint apart from weights and the optimizer's moments.

    `data` and `valid` are the keys of the token stores for training and validation; a key is a
    digest of everything that the store's pairs depend on. `config` is the model's configuration.
    `position` counts updates within the epoch. The last bit of a loss depends on the numbers of
    `threads` (of the CPU) and `workers`. `launcher` names the `torchrun` that started each worker.
    `best_loss` is the cost (`Measured.cost`) of the best model so far, and `best_step` its step.
    `stopped` says that the checkpoint was written because of a signal.
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
        """The state as values that JSON can store, by name, with the record's version."""
        return {"version": VERSION, **asdict(self)}

    def updated(self, record: Mapping[str, Any], origin: str) -> "State":
        """This state, updated with the values of a record of this or an older version. Values that
        an older record lacks stay unchanged. `origin` names the record in errors.

        Raises:
            TrainingError: the record has a newer version, or unknown values.
        """
        values = dict(record)
        version = values.pop("version", 0)
        if not isinstance(version, int) or version > VERSION:
            raise TrainingError(
                f"{origin} has version {version}, but this allyouneed reads versions up to "
                f"{VERSION}; use the allyouneed that wrote it"
            )
        if unknown := sorted(values.keys() - {field.name for field in fields(self)}):
            raise TrainingError(
                f"{origin} holds {', '.join(unknown)}, which version {version} does not have; use "
                "the allyouneed that wrote it, or start a new run in another folder"
            )
        return replace(self, **values)
