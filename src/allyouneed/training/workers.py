"""The processes that share a run: what falls to each of them, and what they agree on.

`torchrun` starts them; without it there is one. The recipe alone says what an update is made of
and the workers share it out, so their number changes the time that a run takes and, but for
rounding and the draws of dropout, nothing else.
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

# The others wait while the first worker reads and tokenises a large corpus. A worker that died is
# noticed by torchrun, not by this clock.
PATIENCE = timedelta(hours=12)


class Workers:
    """The only process of a run: everything falls to it, and it agrees with itself."""

    rank = 0
    world = 1
    can_try_again = True  # a batch, without the others noticing
    group: dist.ProcessGroup | None = None

    @property
    def first(self) -> bool:
        """Whether this is the worker that writes logs, models and reports."""
        return self.rank == 0

    def mine(self, items: Sequence[T]) -> Sequence[T]:
        """This worker's share: every `world`-th item."""
        return items[self.rank :: self.world]

    def together(self, own: Sequence[T]) -> list[T]:
        """The shares of all workers, in the order of the items that `mine` was given."""
        return list(own)

    def sum(self, numbers: Sequence[float]) -> list[float]:
        """The sum over the workers of each number, in float64; NaN where one of them is."""
        return list(numbers)

    def most(self, *numbers: float) -> list[float]:
        """The largest of each number over the workers."""
        return list(numbers)

    def from_first(self, work: Callable[[], T]) -> T:
        """What `work` gives in the first worker, which alone does it; all raise its errors."""
        return work()

    def after_first(self, work: Callable[[], T]) -> T:
        """What `work` gives, done by the first worker before the others: they find on the disk what
        it has left there."""
        return work()

    def join(self, objective: TrainingLoss) -> nn.Module:
        """The objective, its weights shared with the other workers from now on."""
        return objective

    def apart(self) -> AbstractContextManager[None]:
        """Inside, a batch goes forward and backward without the others, where that can be."""
        return nullcontext()

    def add_up(self) -> None:
        """Makes every gradient the mean over the workers, where that is not done yet."""

    def whole(self, tensor: Tensor) -> Tensor:
        """A tensor of which each worker may hold a part, as a whole one in each."""
        return tensor

    def complete(self, model: AnyModel) -> AnyModel:
        """The model with whole weights in each worker, as validation and saving need it."""
        return model


ALONE = Workers()


class Team(Workers):
    """One of several processes, joined by `torch.distributed`."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.device = device
        # small numbers and texts, which lie in the CPU's memory
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
        """Ends the group and its threads. One that lived on, and let go of a tensor only while the
        interpreter shuts down, would abort the process."""
        gc.collect()  # what still refers to the group, in circles
        self.group = None
        dist.destroy_process_group()

    def _reduced(self, numbers: Sequence[float], how: dist.ReduceOp.RedOpType) -> list[float]:
        values = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(values, how, group=self.group)
        return values.tolist()


class Replicas(Team):
    """Each worker holds all weights (DistributedDataParallel, Li et al. 2020).

    Batches go backward without a word to the others, so one that does not fit into memory can be
    tried again in parts. The gradients are added up after them, in the backward of no batch.
    """

    _objective: DistributedDataParallel

    def join(self, objective: TrainingLoss) -> nn.Module:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            # the name of this option is being changed; the new one is not in every torch
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
    """Each worker holds a part of the weights, gradients and moments (FSDP2, Zhao et al. 2023).

    A layer's weights are brought together while it computes. The workers go through every batch in
    step, so that one of them cannot try a batch again by itself.
    """

    can_try_again = False

    def join(self, objective: TrainingLoss) -> nn.Module:
        mesh = init_device_mesh(self.device.type, (self.world,))
        model = objective.model
        assert isinstance(model, Transformer)  # recipes of others cannot ask for it
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
    """The workers of this run, as `torchrun` has started them: gloo between CPUs, nccl between
    GPUs. A process group that the caller has made is used as it is."""
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
    # not after an error: another worker may be gone, and this would wait for it
    if made:
        team.leave()


def of_this_start(store: Any, rank: int, world: int) -> Any:
    """The store, under a prefix that all workers of this start agree on.

    `torchrun` may start workers anew on the store of those that died, where the addresses of the
    dead still stand. It counts restarts by host, not for all; so the first worker gives each
    other one the number of this start, as an answer to a word that only that one knows.
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
    """The GPU of this worker among those of its machine; other devices stay as they are.

    Raises UsageError where a machine has more workers than GPUs, or one GPU is named for all.
    """
    local = os.environ.get("LOCAL_RANK")
    if device.type != "cuda" or local is None:
        return device
    if device.index is not None and int(os.environ["LOCAL_WORLD_SIZE"]) > 1:
        raise UsageError(
            f"device={str(device)!r} is one GPU for {os.environ['LOCAL_WORLD_SIZE']} workers; "
            "say --device cuda, and each takes one of its own"
        )
    if device.index is None and int(local) >= torch.cuda.device_count():
        raise UsageError(
            f"worker {local} of this machine has no GPU: there are {torch.cuda.device_count()}; "
            f"start torchrun with --nproc-per-node {torch.cuda.device_count()}"
        )
    return torch.device("cuda", int(local) if device.index is None else device.index)


def launcher() -> str:
    """Names the `torchrun` of this host, which has started this worker and starts it again when one
    dies; "" without one."""
    if "TORCHELASTIC_RESTART_COUNT" not in os.environ:
        return ""
    return f"{socket.gethostname()}:{os.getppid()}:{_start_of(os.getppid())}"


def _start_of(process: int) -> str:
    """When a process began, in ticks since the machine did: numbers of processes come back, in a
    container the same at every start. "" where the system does not say."""
    try:
        behind_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
    except OSError:
        return ""
    return behind_name.split()[19]
