"""Copies weights with other names into a model of ours."""

from collections.abc import Callable, Collection, Mapping

import torch
from torch import Tensor

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, ShapeError

LEAST_ROOM = 1 << 26  # numbers: a table of this size is allowed for every file
MOST = 8  # complaints that an error lists


def adopt(
    model: Transformer,
    theirs: Mapping[str, Tensor],
    name_of: Callable[[str], str],
    ignored: Collection[str],
    kind: str,
) -> None:
    """Copies `theirs` into the model. `name_of` returns their name for a weight of ours. `ignored`
    weights may be present and are not used. `kind` names such a model in errors.

    Raises:
        ConfigError: a weight is missing, or the model has no place for a weight.
        ShapeError: a weight has another shape than in the model.
    """
    ours, tied = model.state_dict(), model.tied_weights()
    names = {name: name_of(tied.get(name, name)) for name in ours}
    known = {name_of(name) for name in ours} | set(ignored)
    unknown = [
        f"{name!r} is no weight of {kind} with this config"
        for name in sorted(theirs.keys() - known)
    ]
    missing = [
        f"{name!r} is missing; {kind} with this config has it"
        for name in sorted(set(names.values()) - theirs.keys())
    ]
    if unknown or missing:
        raise ConfigError(listed(unknown + missing))
    misshapen = {
        f"{theirs_here!r} has the shape {tuple(theirs[theirs_here].shape)}; "
        f"with this config it is {tuple(ours[name].shape)}": None
        for name, theirs_here in names.items()
        if theirs[theirs_here].shape != ours[name].shape
    }
    if misshapen:
        raise ShapeError(listed(list(misshapen)))
    with torch.no_grad():
        for name, weight in ours.items():
            weight.copy_(theirs[names[name]])


def check_sizes(config: TransformerConfig, theirs: Mapping[str, Tensor]) -> None:
    """Checks, before a model is built, that a config asks for no larger sizes than the weights
    have.

    Raises:
        ConfigError: it does; the message names the size and the numbers in the weights.
    """
    numbers = sum(weight.numel() for weight in theirs.values())
    for name in ("encoder_layers", "decoder_layers"):
        if getattr(config, name) > len(theirs):
            raise ConfigError(
                f"{name}={getattr(config, name)}, but the weights are {len(theirs)} tensors in all"
            )
    room = max(numbers, LEAST_ROOM)
    widths = {
        "vocabulary": config.vocabulary,
        "source_vocabulary": config.source_vocabulary or 0,
        "d_ff": config.d_ff,
        "max_positions": config.max_positions,
        "segments": config.segments,
        "d_model": config.d_model,
    }
    for name, width in widths.items():
        if width * config.d_model > room:
            raise ConfigError(
                f"{name}={width} with d_model={config.d_model}, but the weights are {numbers} "
                "numbers in all"
            )


def listed(complaints: list[str]) -> str:
    """The complaints in one line: the first 8, and the number of the others."""
    more = [f"and {len(complaints) - MOST} more"] if len(complaints) > MOST else []
    return "; ".join(complaints[:MOST] + more)
