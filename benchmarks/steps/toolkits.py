"""Peers that are whole toolkits: fairseq, joeynmt, eole.

Each toolkit has a file of its own here. It runs its own modules and its own loss, with the same
first weights as the others, and with dropout where the paper has it. No toolkit is required;
`installed` lists those that are installed.
"""

from collections.abc import Mapping
from importlib.util import find_spec

from torch import nn

from allyouneed.core.transformer import Transformer

FAIRSEQ, JOEYNMT, EOLE = "fairseq", "joeynmt", "eole"
TOOLKITS = (FAIRSEQ, JOEYNMT, EOLE)
SMOOTHING = 0.1


def installed() -> tuple[str, ...]:
    """The installed toolkits."""
    return tuple(name for name in TOOLKITS if find_spec(name))


def fill(
    theirs: nn.Module,
    ours: Transformer,
    encoder: Mapping[str, str],
    decoder: Mapping[str, str] | None = None,
) -> None:
    """Copies our weights to a peer. `encoder` and `decoder` map parts of our names to parts of the
    peer's names, and are applied in their order. `decoder` is for all weights outside the encoder;
    None means that `encoder` is for all weights."""
    weights = {}
    for name, weight in ours.state_dict().items():
        words = encoder if decoder is None or name.startswith("encoder.") else decoder
        for part, other in words.items():
            name = name.replace(part, other)
        weights[name] = weight
    missing, unknown = theirs.load_state_dict(weights, strict=False)
    lost = set(missing) & dict(theirs.named_parameters()).keys()  # without buffers
    if lost or unknown:
        raise KeyError(*lost, *unknown)
