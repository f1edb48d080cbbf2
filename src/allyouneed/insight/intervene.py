"""Changes of a running model: heads switched off, other attention weights, other activations.

B rows · H heads · T queries or positions · S keys · D d_model · K head width
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any, Never

import torch
from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention, Probe, Site
from allyouneed.errors import ShapeError, UsageError
from allyouneed.insight.clock import Clock, add_probe
from allyouneed.insight.edits import Blocked, Forced, check_edit, edited
from allyouneed.insight.edits import Edit as Edit  # an alias has no docstring for `__all__`
from allyouneed.insight.names import (
    CoreModel,
    LookedInto,
    attentions,
    check_name,
    core_model,
    ends_of_stacks,
    heads,
    split_head,
    sublayers,
)

__all__ = ["Blocked", "Forced", "intervene", "Patch"]


@dataclass(frozen=True, slots=True)
class Patch:
    """A value from another run that replaces this run's value at some positions.

    `value` is TD, or BTD with a row for each row of the run (for a head TK or BTK). `positions`
    count from 0.
    """

    value: Tensor
    positions: Sequence[int]


@contextmanager
def intervene(
    looked_into: LookedInto,
    *,
    switch_off: Sequence[str] = (),
    edit: Mapping[str, Edit | Sequence[Edit]] | None = None,
    scale: Mapping[str, float] | None = None,
    patch: Mapping[str, Tensor | Patch] | None = None,
    **unknown: Never,
) -> Iterator[None]:
    """Changes the model inside the `with` block, where it translates, scores and trains as usual.

        with intervene(translator, switch_off=["decoder.layers.1.cross_attention[3]"]):
            translator("A man rides a bike.")

    A name is a head (`decoder.layers.1.cross_attention[3]`), an attention, which means all its
    heads, a feed-forward network, which means all its hidden units, or a layer, which means all
    of these in it.

    `switch_off` removes a part, as if the head's slice of W_O, or all of W_2, were zero; biases
    stay (Voita et al. 2019; Michel et al. 2019). `scale` multiplies a part's output without its
    biases. `edit` replaces attention weights, see `Edit`; the edits of a list are applied one after
    the other. `patch` replaces values by those of another run (Vig et al. 2020). The name of a
    sub-layer means its output BTD (`tape.outputs`), the name of a head its result BTK before W_O.
    `<sub-layer>_residual` means the stream after the sub-layer (`tape.residuals`); the names of
    embeddings and final norms mean the stream too. Positions without a value in the patch are not
    changed. Each part is first edited, then scaled, then patched.

    A change has the same effect in whole passes and in steps with a cache. A translator runs on
    the core engine inside the block, so compare with that engine's result. After the block the
    model is unchanged.

    Raises:
        UsageError: a keyword or a name does not exist (the message lists those that do), or an edit
            or patch cannot be used. All are checked before anything is changed.
        ShapeError: while running, a matrix, cell or patch does not fit the run.
    """
    _refuse(unknown)
    model = core_model(looked_into)
    names = [switch_off] if isinstance(switch_off, str) else switch_off
    scales = [*(scale or {}).items(), *((name, 0.0) for name in names)]
    edits = [(name, one) for name, some in (edit or {}).items() for one in _listed(some)]
    patches = {name: _patch(name, value) for name, value in (patch or {}).items()}
    for name, _ in scales:
        check_name(name, _scalable(model), "to scale or switch off")
    for name, change in edits:
        check_name(name, [*heads(model), *attentions(model)], "to edit")
        module, head = split_head(name)
        check_edit(name, change, 1 if head is not None else attentions(model)[module].heads)
    for name in patches:
        check_name(name, _patchable(model), "to patch")
    with ExitStack() as stack:
        for name, change in edits:
            _probe(model, name, _edit_of(change), stack)
        if patches:
            clock = Clock()
            clock.follow(model, stack)
            for name, value in patches.items():
                _set_patch(model, name, value, clock, stack)
        for name, factor in scales:
            _set_scale(model, name, factor, stack)
        yield


def _refuse(unknown: Collection[str]) -> None:
    """Raises UsageError if there are unknown keywords; the message lists the known ones."""
    if unknown:
        parameters = signature(intervene).parameters.values()
        known = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
        raise UsageError(
            f"{', '.join(unknown)}: no keyword of intervene; the keywords are {', '.join(known)}"
        )


def _listed(edits: Edit | Sequence[Edit]) -> Sequence[Edit]:
    return edits if isinstance(edits, list | tuple) else [edits]  # type: ignore[list-item]


def _patch(name: str, value: Tensor | Patch) -> Patch:
    """The patch, its value BTD or BTK with B = 1 for all rows."""
    tensor = value.value if isinstance(value, Patch) else value
    if tensor.dim() not in (2, 3):
        raise UsageError(f"{name}: a patch must be TD or BTD, not of shape {tuple(tensor.shape)}")
    tensor = tensor if tensor.dim() == 3 else tensor[None]
    positions = value.positions if isinstance(value, Patch) else range(tensor.size(1))
    for position in positions:
        if not 0 <= position < tensor.size(1):
            raise UsageError(
                f"{name}: position {position} is outside the patch, which has values for "
                f"0 … {tensor.size(1) - 1}"
            )
    return Patch(tensor, positions)


def _layers(model: CoreModel) -> dict[str, list[str]]:
    """Each layer's name, and those of its sub-layers."""
    layers: dict[str, list[str]] = {}
    for name in sublayers(model):
        layers.setdefault(name.rpartition(".")[0], []).append(name)
    return layers


def _scalable(model: CoreModel) -> list[str]:
    return [*heads(model), *sublayers(model), *_layers(model)]


def _patchable(model: CoreModel) -> list[str]:
    streams = [f"{name}_residual" for name in sublayers(model)]
    return [*heads(model), *sublayers(model), *streams, *ends_of_stacks(model)]


def _edit_of(edit: Edit) -> Probe:
    return lambda weights_BHTS, site: edited(weights_BHTS, site, edit)


def _probe(model: CoreModel, name: str, change: Probe, stack: ExitStack) -> None:
    """Sets a probe on one head, or on all heads of a module."""
    module, head = split_head(name)

    def one_head(weights_BHTS: Tensor, site: Site) -> Tensor:
        assert head is not None
        before, own, after = weights_BHTS.tensor_split((head, head + 1), dim=1)
        return torch.cat([before, change(own, site), after], dim=1)

    add_probe(attentions(model)[module], change if head is None else one_head, stack)


def _set_scale(model: CoreModel, name: str, factor: float, stack: ExitStack) -> None:
    for part in _layers(model).get(name, [name]):
        module = model.get_submodule(split_head(part)[0])
        if isinstance(module, MultiHeadAttention):
            _probe(model, part, lambda weights_BHTS, _: weights_BHTS * factor, stack)
        else:
            _before(module.get_submodule("W_2"), lambda units_BTF: units_BTF * factor, stack)


def _set_patch(model: CoreModel, name: str, patch: Patch, clock: Clock, stack: ExitStack) -> None:
    in_decoder = name.startswith("decoder")
    module, head = split_head(name)

    def put(x_BTD: Tensor) -> Tensor:
        return _patched(name, x_BTD, patch, clock.now.step if in_decoder else 0)

    if head is None:
        is_sublayer = name in sublayers(model)
        place = model.get_submodule(f"{name}_residual.dropout" if is_sublayer else name)
        hook = place.register_forward_hook(lambda _, __, x_BTD: put(x_BTD))
        stack.callback(hook.remove)
        return
    attention = attentions(model)[module]

    def one_head(concat_BTW: Tensor) -> Tensor:
        results_BTHK = concat_BTW.view(*concat_BTW.shape[:2], attention.heads, -1)
        before, own, after = results_BTHK.tensor_split((head, head + 1), dim=2)
        return torch.cat([before, put(own.squeeze(2))[:, :, None], after], dim=2).flatten(2)

    # Without a probe, a search lays hypotheses along the T axis; a probe makes T mean positions.
    add_probe(attention, lambda weights_BHTS, _: weights_BHTS, stack)
    _before(attention.W_O, one_head, stack)


def _patched(name: str, x_BTD: Tensor, patch: Patch, step: int) -> Tensor:
    rows, _, width = patch.value.shape
    if width != x_BTD.size(-1) or rows not in (1, x_BTD.size(0)):
        raise ShapeError(
            f"{name}: a patch of {rows} rows of width {width} does not fit this run's "
            f"{x_BTD.size(0)} rows of width {x_BTD.size(-1)}; give one row, or one for each"
        )
    here = [p for p in patch.positions if step <= p < step + x_BTD.size(1)]
    x_BTD = x_BTD.clone()
    x_BTD[:, [p - step for p in here]] = patch.value[:, here].to(x_BTD)
    return x_BTD


def _before(module: nn.Module, change: Callable[[Tensor], Tensor], stack: ExitStack) -> None:
    """Applies a function to the input of a module."""

    def hook(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Tensor]:
        return (change(inputs[0]),)

    stack.callback(module.register_forward_pre_hook(hook).remove)
