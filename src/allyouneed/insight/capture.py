"""Records what a model computes: attention weights, and on request other tensors.

B rows · H heads · T queries · S keys · D d_model · K head width · F d_ff
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention, Site
from allyouneed.core.simple_recurrent_unit import SimpleRecurrentUnit
from allyouneed.errors import UsageError
from allyouneed.insight.clock import Clock, Pass, add_probe
from allyouneed.insight.names import (
    CoreModel,
    LookedInto,
    attentions,
    check_name,
    core_model,
    ends_of_stacks,
    feed_forwards,
    recurrences,
    split_head,
    sublayers,
)


class Recording:
    """The recorded tensors of one kind, by the name of the module.

    `recording[name]` is the newest run, `recording.runs(name)` returns all runs. A run is one pass
    over whole sentences, or all steps of one search joined along T; shorter S axes of attention are
    then padded with zeros. In a search, row r at step t belongs to the hypothesis that was in row r
    at that step, and hypotheses change rows. Rows of sentences that were already done are zeros.
    """

    def __init__(self, kind: str, time_axis: int) -> None:
        self._kind, self._time = kind, time_axis
        self._runs: dict[str, list[list[tuple[Pass, Tensor]]]] = {}

    def __getitem__(self, name: str) -> Tensor:
        """The newest run. An attention's name with an index gives that head, without the H axis.

        Raises:
            UsageError: the name was not recorded; the message lists the recorded names.
        """
        return self._joined(name, -1)

    def runs(self, name: str) -> list[Tensor]:
        """All runs, oldest first; raises UsageError as `[]` does."""
        return [self._joined(name, run) for run in range(len(self._found(split_head(name)[0])))]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, name: str, when: Pass, tensor: Tensor) -> None:
        """Adds a tensor. A step that follows the last step belongs to the same run; any other
        tensor begins a new run."""
        runs = self._runs.setdefault(name, [])
        if not runs or when.step == 0 or runs[-1][-1][0].step + 1 != when.step:
            runs.append([])
        runs[-1].append((when, tensor))

    def _found(self, name: str) -> list[list[tuple[Pass, Tensor]]]:
        check_name(name, self._runs, f"among the {self._kind} on this tape")
        return self._runs[name]

    def _joined(self, name: str, number: int) -> Tensor:
        module, head = split_head(name)
        run = _joined(self._found(module)[number], self._time)
        if head is None:
            return run
        if self._time != 2 or head >= run.size(1):
            raise UsageError(f"{name}: the {self._kind} of {module} have no head {head}")
        return run[:, head]


class Tape:
    """The result of `capture`. `tape[name]` and `tape.attention[name]` are attention weights BHTS.
    The other recordings are empty unless they were asked for.

    `residuals`: the residual stream BTD after each sub-layer (after its norm in a post-norm model),
    after the embeddings, and after the stacks' final norms (`decoder.norm`).
    `outputs`: the tensor BTD that each sub-layer adds to the stream, after dropout.
    `queries`, `keys`, `values`: BHTK; with rotary positions, queries and keys are rotated.
    `activations`: the hidden units BTF of each feed-forward network, the input of W_2.
    `gates`: f_t, BTD: the share of its past that each component of a recurrence keeps.
    """

    def __init__(self) -> None:
        self.attention = Recording("attention weights", 2)
        self.residuals = Recording("residuals", 1)
        self.outputs = Recording("outputs", 1)
        self.queries = Recording("queries", 2)
        self.keys = Recording("keys", 2)
        self.values = Recording("values", 2)
        self.activations = Recording("activations", 1)
        self.gates = Recording("gates", 1)

    def __getitem__(self, name: str) -> Tensor:
        """The newest run of this attention, or of one head: see `Recording`."""
        return self.attention[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.attention)

    def __len__(self) -> int:
        return len(self.attention)


@contextmanager
def capture(
    looked_into: LookedInto,
    *,
    residuals: bool = False,
    queries_keys: bool = False,
    values: bool = False,
    activations: bool = False,
    gates: bool = False,
    names: Sequence[str] | None = None,
) -> Iterator[Tape]:
    """Records the model's computations in the `with` block: attention weights, and on request other
    tensors.

        with capture(model, residuals=True) as tape:
            model(source_BS, target_BT)
        tape["decoder.layers.0.cross_attention"]            # BHTS, before dropout
        tape["decoder.layers.0.cross_attention[5]"]         # BTS, one head of it
        tape.residuals["decoder.layers.0.feed_forward"]     # BTD

    `names` are the modules to record (None: all). Training, scoring, searches and predictions are
    all recorded; a translator runs on the core engine meanwhile. Tensors are kept as they are, on
    their device and, if gradients are enabled, with their graph. After the block the model is
    unchanged. `Tape` describes the recordings and their names.

    Raises:
        UsageError: a name does not exist; the message lists the names.
    """
    model, tape = core_model(looked_into), Tape()
    wanted = _wanted(model, names)
    with ExitStack() as stack:
        clock = Clock()
        recorder = _Recorder(tape, clock, stack)
        if residuals or queries_keys or values or activations or gates:
            clock.follow(model, stack)
            clock.tell_sentences(model, stack)
        for name, attention in attentions(model).items():
            if name in wanted:
                recorder.attention(name, attention)
                if queries_keys:
                    recorder.queries_keys(name, attention)
                if values:
                    recorder.values(name, attention)
        if activations:
            for name, feed_forward in feed_forwards(model).items():
                if name in wanted:
                    recorder.activations(name, feed_forward)
        if gates:
            for name, recurrence in recurrences(model).items():
                if name in wanted:
                    recorder.gates(name, recurrence)
        if residuals:
            for name in wanted:
                recorder.residuals(name, model)
        yield tape


def _wanted(model: CoreModel, names: Sequence[str] | None) -> set[str]:
    known = [*sublayers(model), *ends_of_stacks(model)]
    chosen = known if names is None else [names] if isinstance(names, str) else names
    for name in chosen:
        check_name(name, known, "to record")
    return set(chosen)


class _Recorder:
    """Sets the probes and hooks that write onto a tape."""

    def __init__(self, tape: Tape, clock: Clock, stack: ExitStack) -> None:
        self.tape, self.clock, self.stack = tape, clock, stack

    def attention(self, name: str, attention: MultiHeadAttention) -> None:
        def probe(weights_BHTS: Tensor, site: Site) -> Tensor:
            self.tape.attention.add(name, Pass(site.step, site.sentences), weights_BHTS)
            return weights_BHTS

        add_probe(attention, probe, self.stack)

    def queries_keys(self, name: str, attention: MultiHeadAttention) -> None:
        rotary = attention.positions
        if rotary is None:
            self._heads(attention.W_Q, self.tape.queries, name, attention.heads)
            self._heads(attention.W_K, self.tape.keys, name, attention.heads)
            return
        turned = self.tape.queries  # the recording for the next tensor that is rotated

        def about_to_turn(recording: Recording) -> Callable[..., None]:
            def hook(*_: Any) -> None:
                nonlocal turned
                turned = recording

            return hook

        def hook(_: nn.Module, __: Any, rotated_BHTK: Tensor) -> None:
            turned.add(name, self._when(name), rotated_BHTK)

        self._hook(attention.W_Q, about_to_turn(self.tape.queries))
        self._hook(attention.W_K, about_to_turn(self.tape.keys))
        self._hook(rotary, hook)

    def values(self, name: str, attention: MultiHeadAttention) -> None:
        self._heads(attention.W_V, self.tape.values, name, attention.heads)

    def activations(self, name: str, feed_forward: nn.Module) -> None:
        def hook(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            self.tape.activations.add(name, self._when(name), inputs[0])

        handle = feed_forward.get_submodule("W_2").register_forward_pre_hook(hook)
        self.stack.callback(handle.remove)

    def gates(self, name: str, recurrence: SimpleRecurrentUnit) -> None:
        self._whole(recurrence.gate, self.tape.gates, name)

    def residuals(self, name: str, model: CoreModel) -> None:
        """Records the stream after a sub-layer and the sub-layer's output, or an end of a stack."""
        if name in ends_of_stacks(model):
            self._whole(model.get_submodule(name), self.tape.residuals, name)
            return
        self._whole(model.get_submodule(f"{name}_residual"), self.tape.residuals, name)
        self._whole(model.get_submodule(f"{name}_residual.dropout"), self.tape.outputs, name)

    def _whole(self, module: nn.Module, recording: Recording, name: str) -> None:
        def hook(_: nn.Module, __: Any, x_BTD: Tensor) -> None:
            recording.add(name, self._when(name), x_BTD)

        self._hook(module, hook)

    def _heads(self, projection: nn.Module, recording: Recording, name: str, heads: int) -> None:
        # The memory is projected once, before the first step, and never step by step.
        of_memory = name.endswith("cross_attention") and recording is not self.tape.queries

        def hook(_: nn.Module, __: Any, x_BTW: Tensor) -> None:
            when = Pass() if of_memory else self._when(name)
            recording.add(name, when, x_BTW.view(*x_BTW.shape[:2], heads, -1).transpose(1, 2))

        self._hook(projection, hook)

    def _hook(self, module: nn.Module, hook: Callable[..., None]) -> None:
        self.stack.callback(module.register_forward_hook(hook).remove)

    def _when(self, name: str) -> Pass:
        return self.clock.now if name.startswith("decoder") else Pass()


def _joined(run: Sequence[tuple[Pass, Tensor]], time: int) -> Tensor:
    """The steps of a run as one tensor. A single step is returned as the recorded tensor itself."""
    if len(run) == 1:
        return run[0][1]
    (first, like), (_, last) = run[0], run[-1]
    wide = last.size(-1)  # the newest step has the most keys
    joined = like.new_zeros(*like.shape[:time], len(run), *like.shape[time + 1 : -1], wide)
    for number, (when, tensor) in enumerate(run):
        rows = _places(first.sentences, when.sentences, tensor)
        joined.select(time, number)[rows, ..., : tensor.size(-1)] = tensor.select(time, 0)
    return joined


def _places(first: Tensor | None, now: Tensor | None, tensor: Tensor) -> Tensor:
    """The rows of the first step that the rows of this step belong to. Sentences leave the batch
    when they are done."""
    if first is None or now is None:
        return torch.arange(tensor.size(0), device=tensor.device)
    places: dict[int, list[int]] = {}
    for row, sentence in reversed(list(enumerate(first.tolist()))):
        places.setdefault(sentence, []).append(row)
    rows = [places[sentence].pop() for sentence in now.tolist()]
    return torch.tensor(rows, device=tensor.device)
