"""Peers that are whole toolkits: fairseq, joeynmt, eole.

Each is in a file of its own, with its modules and its loss, the weights that everybody begins with,
and dropout where the paper has it. None of them is needed: `installed` says which are there.
"""

from collections.abc import Mapping
from importlib.util import find_spec

from torch import nn

from allyouneed.core.transformer import Transformer

FAIRSEQ, JOEYNMT, EOLE = "fairseq", "joeynmt", "eole"
TOOLKITS = (FAIRSEQ, JOEYNMT, EOLE)
SMOOTHING = 0.1


def installed() -> tuple[str, ...]:
    """The toolkits that are there."""
    return tuple(name for name in TOOLKITS if find_spec(name))


def fill(
    theirs: nn.Module,
    ours: Transformer,
    encoder: Mapping[str, str],
    decoder: Mapping[str, str] | None = None,
) -> None:
    """Gives a peer our weights: each part of their names that stands in `encoder` is replaced, in
    this order, and in `decoder` (the same, if it is left out) outside of the encoder."""
    weights = {}
    for name, weight in ours.state_dict().items():
        words = encoder if decoder is None or name.startswith("encoder.") else decoder
        for part, other in words.items():
            name = name.replace(part, other)
        weights[name] = weight
    missing, unknown = theirs.load_state_dict(weights, strict=False)
    lost = set(missing) & dict(theirs.named_parameters()).keys()  # buffers are no weights
    if lost or unknown:
        raise KeyError(*lost, *unknown)
