"""Estimates the time and the memory of a run from one update that is really computed.

P parameters · B batch · S source length · T target length
"""

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from allyouneed.device import memory_is_short
from allyouneed.errors import TrainingError
from allyouneed.model_folder.weights.shapes import FLOAT, count_positions, count_weights
from allyouneed.training.memory import process_memory
from allyouneed.training.optimizer import make_optimizer
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.tasks.task import Outlook, TaskBatch
from allyouneed.training.training_loss import TrainingLoss

WARM_UP_POSITIONS = 128
MEASURED_S = 2.0  # seconds; of a batch that takes longer, only a part is measured
GIB = 1 << 30
BYTES_OF_WEIGHT = 4 * FLOAT  # the weight, its gradient, and Adam's two moments


@dataclass(frozen=True, slots=True)
class Estimate:
    """The time and memory of one update. Bytes are those of the whole process, or of the GPU.

    `available_bytes` is the free memory of the machine now, None if the system does not tell it.
    """

    batch_seconds: float
    optimizer_seconds: float
    needed_bytes: int
    available_bytes: int | None

    def update_seconds(self, batches: float) -> float:
        """The mean time of an update over this number of batches, in seconds."""
        return batches * self.batch_seconds + self.optimizer_seconds


def estimate(recipe: CommonRecipe, outlook: Outlook, device: torch.device) -> Estimate:
    """Computes one update of the model on a batch like those of the epoch (pairs, source length,
    target length).

    If a full batch would take long, a batch with fewer pairs is measured, and time and memory are
    extrapolated linearly. The learning rate is 0, so the weights do not change.

    Raises:
        TrainingError: there is not enough memory for the update.
    """
    try:
        return _estimate(recipe, outlook, device)
    except (MemoryError, RuntimeError) as error:
        if not memory_is_short(error):
            raise
        raise TrainingError(
            f"{device} has not enough memory for training.batch_tokens = "
            f"{recipe.training.batch_tokens}; divide it, and multiply training.accumulate by the "
            "same number"
        ) from error


def check_model_fits(recipe: CommonRecipe, device: torch.device, workers: int = 1) -> None:
    """Checks by arithmetic that the weights of a recipe's new model, with their gradients and
    moments, fit into the free memory of `device`.

    A model to start from is not checked, because it exists. `workers` share a sharded model.

    Raises:
        TrainingError: they do not fit.
    """
    if recipe.training.init is not None:
        return
    config = recipe.model.config(recipe.vocabulary.size)
    own = count_weights(config) // (workers if recipe.training.sharded else 1)
    needed = BYTES_OF_WEIGHT * own + FLOAT * count_positions(config)
    _, available = _memory(device)
    if available is not None and needed > available:
        raise TrainingError(
            f"training the model's {count_weights(config):,} weights needs {needed / GIB:,.1f} GiB "
            f"of memory, and {device} has {available / GIB:,.1f} GiB free; lower "
            f"model.d_model ({config.d_model}), model.d_ff ({config.d_ff}), the layers "
            f"({config.encoder_layers} and {config.decoder_layers}) or model.max_positions "
            f"({config.max_positions})"
        )


def _estimate(recipe: CommonRecipe, outlook: Outlook, device: torch.device) -> Estimate:
    process, available = _memory(device)
    parameters = sum(weight.numel() for weight in outlook.model.parameters())
    process = max(0, process - FLOAT * parameters)  # BYTES_OF_WEIGHT counts the model already
    model, batches = outlook.model.to(device).train(), outlook.epoch.batches
    objective = outlook.objective(device)
    optimizer = make_optimizer(recipe.optimizer, model)
    rows, source, target = sorted(batches, key=lambda b: b[0] * (b[1] + b[2]))[len(batches) // 2]
    few = max(1, min(rows, WARM_UP_POSITIONS // max(source, target)))
    seconds, _ = _fastest(objective, outlook.made_up(few, source, target), tries=4)
    some = max(few, min(rows, int(few * MEASURED_S / max(seconds, 1e-9))))
    seconds, kept_bytes = _fastest(objective, outlook.made_up(some, source, target), tries=2)
    began = time.perf_counter()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    _wait(device)
    bytes_of_weight = BYTES_OF_WEIGHT + (FLOAT if recipe.training.average_decay else 0)
    largest = max(b[0] * (b[1] + b[2]) for b in batches) / (some * (source + target))
    return Estimate(
        batch_seconds=seconds * rows / some,
        optimizer_seconds=time.perf_counter() - began,
        needed_bytes=process + bytes_of_weight * parameters + int(kept_bytes * largest),
        available_bytes=available,
    )


def _fastest(objective: TrainingLoss, batch: TaskBatch, tries: int) -> tuple[float, int]:
    """The best (seconds, bytes) of several tries. The first tries warm up; other programs may slow
    down single tries."""
    return min(_forward_and_backward(objective, batch) for _ in range(tries))


def _forward_and_backward(objective: TrainingLoss, batch: TaskBatch) -> tuple[float, int]:
    """(seconds, bytes kept from the forward pass for the backward pass)."""
    weights = {weight.untyped_storage().data_ptr() for weight in objective.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    began = time.perf_counter()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = objective(batch) / batch.target_tokens
    kept_bytes = sum(kept.values())
    loss.backward()
    _wait(loss.device)
    return time.perf_counter() - began, kept_bytes


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _memory(device: torch.device) -> tuple[int, int | None]:
    """(bytes that this process uses, bytes that it could use in all or None if unknown)."""
    if device.type == "cuda":
        return 0, torch.cuda.mem_get_info(device)[0]
    return process_memory()
