"""The worker processes of a run: how they share the work and exchange results.

`torchrun` starts the workers; without it there is one. The recipe alone fixes the batches of an
update, and the workers share them. The number of workers therefore changes the time of a run, but
not its losses, except for rounding and the draws of dropout.
"""

import gc
import os
import socket
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.rendezvous import rendezvous
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from allyouneed.core.transformer import Transformer
from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.model_folder.weights.model import AnyModel, WeightsLeftUnset, untied_weights
from allyouneed.training.training_loss import TrainingLoss

T = TypeVar("T")

# The other workers wait while the first one reads and tokenises a large corpus, which can take
# hours. torchrun notices a worker that has died; this limit is not needed for that.
PATIENCE = timedelta(hours=12)


class Workers:
    """The workers of a run, and the operations between them. This base class is a run of one
    process; its operations return the process' own values."""

    rank = 0
    world = 1
    can_try_again = True  # whether a worker can repeat a batch without the other workers
    group: dist.ProcessGroup | None = None

    @property
    def first(self) -> bool:
        """Whether this is the worker that writes logs, models and reports."""
        return self.rank == 0

    def mine(self, items: Sequence[T]) -> Sequence[T]:
        """This worker's share: every `world`-th item."""
        return items[self.rank :: self.world]

    def together(self, own: Sequence[T]) -> list[T]:
        """The shares of all workers, joined in the order of the items that `mine` was given."""
        return list(own)

    def sum(self, numbers: Sequence[float]) -> list[float]:
        """The sum of each number over the workers, in float64. NaN if one of them is NaN."""
        return list(numbers)

    def most(self, *numbers: float) -> list[float]:
        """The maximum of each number over the workers."""
        return list(numbers)

    def from_first(self, work: Callable[[], T]) -> T:
        """The result of work(), which only the first worker calls. All workers raise its errors."""
        return work()

    def after_first(self, work: Callable[[], T]) -> T:
        """The result of work(), which the first worker calls before the others. They then find the
        files that it wrote."""
        return work()

    def join(self, objective: TrainingLoss) -> nn.Module:
        """The objective, with its weights synchronised between the workers from now on."""
        return objective

    def apart(self) -> AbstractContextManager[None]:
        """In the `with` block, forward and backward passes do not communicate with the other
        workers, if the kind of workers allows that."""
        return nullcontext()

    def add_up(self) -> None:
        """Replaces every gradient by its mean over the workers, if it is not that already."""

    def whole(self, tensor: Tensor) -> Tensor:
        """The whole tensor, in each worker, if every worker holds only a part of it."""
        return tensor

    def complete(self, model: AnyModel) -> AnyModel:
        """The model with whole weights in each worker, for validation and saving."""
        return model


ALONE = Workers()


class Team(Workers):
    """One of several processes, joined by `torch.distributed`."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.device = device
        # for small numbers and texts in the CPU's memory
        self.group = dist.new_group(backend="gloo", timeout=PATIENCE)

    def together(self, own: Sequence[T]) -> list[T]:
        shares: list[list[T]] = [[]] * self.world
        dist.all_gather_object(shares, list(own), group=self.group)
        longest = max(map(len, shares))
        return [share[n] for n in range(longest) for share in shares if n < len(share)]

    def sum(self, numbers: Sequence[float]) -> list[float]:
        return self._reduced(numbers, dist.ReduceOp.SUM)

    def most(self, *numbers: float) -> list[float]:
        return self._reduced(numbers, dist.ReduceOp.MAX)

    def from_first(self, work: Callable[[], T]) -> T:
        found: list[Any] = [None, None]
        if self.first:
            try:
                found[0] = work()
            except AllYouNeedError as error:
                found[1] = error
        dist.broadcast_object_list(found, group=self.group)
        if found[1] is not None:
            raise found[1]
        return found[0]  # type: ignore[no-any-return]

    def after_first(self, work: Callable[[], T]) -> T:
        done: list[T] = []
        self.from_first(lambda: done.append(work()))
        return done[0] if self.first else work()

    def leave(self) -> None:
        """Ends the group and its threads. A group that frees a tensor only while the interpreter
        shuts down aborts the process."""
        gc.collect()  # frees reference cycles that hold the group
        self.group = None
        dist.destroy_process_group()

    def _reduced(self, numbers: Sequence[float], how: dist.ReduceOp.RedOpType) -> list[float]:
        values = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(values, how, group=self.group)
        return values.tolist()


class Replicas(Team):
    """Workers that hold all weights each (DistributedDataParallel, Li et al. 2020).

    Backward passes of batches do not communicate. A worker can therefore repeat a batch that does
    not fit into memory in parts. Afterwards the backward pass of an empty batch adds up the
    gradients of all workers.
    """

    _objective: DistributedDataParallel

    def join(self, objective: TrainingLoss) -> nn.Module:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            # newer versions of torch rename this option, but older ones lack the new name
            self._objective = DistributedDataParallel(objective, broadcast_buffers=False)
        return self._objective

    def apart(self) -> AbstractContextManager[None]:
        return self._objective.no_sync()

    def add_up(self) -> None:
        self._objective(None).backward()

    def leave(self) -> None:
        del self._objective
        super().leave()


class Shards(Team):
    """Workers that hold a part of weights, gradients and moments each (FSDP2, Zhao et al. 2023).

    A layer's weights are gathered while it computes. All workers must pass through every batch
    together, so a single worker cannot repeat a batch.
    """

    can_try_again = False

    def join(self, objective: TrainingLoss) -> nn.Module:
        mesh = init_device_mesh(self.device.type, (self.world,))
        model = objective.model
        assert isinstance(model, Transformer)  # other recipes reject training.sharded
        for layer in [*model.encoder.layers, *model.decoder.layers]:
            fully_shard(layer, mesh=mesh)
        fully_shard(objective, mesh=mesh)
        return objective

    def whole(self, tensor: Tensor) -> Tensor:
        return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor

    def complete(self, model: AnyModel) -> AnyModel:
        assert isinstance(model, Transformer)
        with WeightsLeftUnset():
            copy = Transformer(model.config).to(self.device)
        for name, weight in untied_weights(copy).items():
            weight.copy_(self.whole(model.state_dict()[name]))
        return copy.train(model.training)


@contextmanager
def gathered(device: torch.device, sharded: bool) -> Iterator[Workers]:
    """The workers of this run, as started by `torchrun`. They communicate by gloo between CPUs and
    by nccl between GPUs. If the caller has made a process group, that one is used."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield ALONE
        return
    made = not dist.is_initialized()
    if made:
        if device.type == "cuda":
            torch.cuda.set_device(device)
        store, rank, world = next(rendezvous("env://", timeout=PATIENCE))
        dist.init_process_group(
            "nccl" if device.type == "cuda" else "gloo",
            store=of_this_start(store, rank, world),
            rank=rank,
            world_size=world,
            timeout=PATIENCE,
        )
    team = (Shards if sharded else Replicas)(device)
    yield team
    # not after an error: this would wait for the other workers, and one of them may have ended
    if made:
        team.leave()


def of_this_start(store: Any, rank: int, world: int) -> Any:
    """The store with a prefix that all workers of this start share and no earlier start has used.

    `torchrun` may restart workers with the store of workers that died, which still holds their
    addresses. It counts restarts separately on each host, so the count cannot be the prefix.
    Instead each worker writes a random word to the store, and the first worker answers it with the
    number of this start.
    """
    if rank > 0:
        word = uuid.uuid4().hex
        store.set(f"allyouneed/{rank}", word)
        start = store.get(f"allyouneed/{word}").decode()
        store.set(f"allyouneed/{start}/{rank}", "")
        return dist.PrefixStore(f"allyouneed/{start}", store)  # type: ignore[attr-defined]
    start = str(store.add("allyouneed/starts", 1))
    missing = set(range(1, world))
    while missing:
        for other in missing:
            if store.check([f"allyouneed/{other}"]):
                word = store.get(f"allyouneed/{other}").decode()
                store.set(f"allyouneed/{word}", start)
        missing = {other for other in missing if not store.check([f"allyouneed/{start}/{other}"])}
        time.sleep(0.01)
    return dist.PrefixStore(f"allyouneed/{start}", store)  # type: ignore[attr-defined]


def own_device(device: torch.device) -> torch.device:
    """This worker's GPU among those of its machine. Devices other than "cuda" are returned as they
    are.

    Raises:
        UsageError: the machine has more workers than GPUs, or one GPU is named for several workers.
    """
    local = os.environ.get("LOCAL_RANK")
    if device.type != "cuda" or local is None:
        return device
    if device.index is not None and int(os.environ["LOCAL_WORLD_SIZE"]) > 1:
        raise UsageError(
            f"device={str(device)!r} names one GPU for {os.environ['LOCAL_WORLD_SIZE']} workers; "
            "use --device cuda, so that each worker gets its own GPU"
        )
    if device.index is None and int(local) >= torch.cuda.device_count():
        raise UsageError(
            f"this machine has {torch.cuda.device_count()} GPUs, and worker {local} gets none; "
            f"start torchrun with --nproc-per-node {torch.cuda.device_count()}"
        )
    return torch.device("cuda", int(local) if device.index is None else device.index)


def launcher() -> str:
    """A name for the `torchrun` process that started this worker (and restarts workers that die);
    "" if there is none."""
    if "TORCHELASTIC_RESTART_COUNT" not in os.environ:
        return ""
    return f"{socket.gethostname()}:{os.getppid()}:{_start_of(os.getppid())}"


def _start_of(process: int) -> str:
    """The time when a process began, in ticks since the machine's start. Process numbers alone are
    reused; in a container they are the same at every start. "" if the system does not tell."""
    try:
        behind_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
    except OSError:
        return ""
    return behind_name.split()[19]
