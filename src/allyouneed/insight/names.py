"""Names of the parts of a model, such as `decoder.layers.3.cross_attention[5]`."""

import re
from collections.abc import Iterable
from typing import cast

from torch import nn

from allyouneed.checks import expect
from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.decoder import Decoder
from allyouneed.core.encoder import Encoder
from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.core.simple_recurrent_unit import SimpleRecurrentUnit
from allyouneed.core.transformer import Transformer
from allyouneed.encoder_only.model import EncoderModel
from allyouneed.errors import UsageError, nearest
from allyouneed.translation.translator import Translator

CoreModel = Transformer | EncoderOnly
LookedInto = CoreModel | Translator | EncoderModel
SUBLAYERS = ("self_attention", "recurrence", "cross_attention", "feed_forward")
_HEAD = re.compile(r"(.+)\[(\d+)\]")
_LAYER = re.compile(r"(\w+\.layers)\.(\d+)")


def core_model(looked_into: LookedInto) -> CoreModel:
    """The core model itself, or the core model of a translator or an encoder-only model.

    Raises:
        UsageError: the value is no model.
    """
    if isinstance(looked_into, Translator | EncoderModel):
        return looked_into.model
    expect(looked_into, CoreModel, "model", "a model, such as the result of allyouneed.load")
    return looked_into


def stacks(model: CoreModel) -> dict[str, Encoder | Decoder]:
    """The stacks of layers by their names: "encoder" and, where there is one, "decoder"."""
    if isinstance(model, EncoderOnly):
        return {"encoder": model.encoder}
    return {"encoder": model.encoder, "decoder": model.decoder}


def ends_of_stacks(model: CoreModel) -> list[str]:
    """The names of the modules below and above the layers, such as `encoder.embeddings`."""
    return [f"{side}.{end}" for side in stacks(model) for end in ("embeddings", "norm")]


def sublayers(model: CoreModel) -> dict[str, nn.Module]:
    """Every attention, recurrence and feed-forward network by its name, as figure 1 stacks them."""
    return {
        f"{side}.layers.{number}.{kind}": cast(nn.Module, getattr(layer, kind))
        for side, stack in stacks(model).items()
        for number, layer in enumerate(stack.layers)
        for kind in SUBLAYERS
        if hasattr(layer, kind)
    }


def attentions(model: CoreModel) -> dict[str, MultiHeadAttention]:
    """Every multi-head attention by its name, in order."""
    parts = sublayers(model).items()
    return {name: part for name, part in parts if isinstance(part, MultiHeadAttention)}


def feed_forwards(model: CoreModel) -> dict[str, nn.Module]:
    """Every feed-forward network by its name, in order."""
    parts = sublayers(model).items()
    other = MultiHeadAttention | SimpleRecurrentUnit
    return {name: part for name, part in parts if not isinstance(part, other)}


def recurrences(model: CoreModel) -> dict[str, SimpleRecurrentUnit]:
    """Every recurrence by its name, in order; a decoder with self-attention has none."""
    parts = sublayers(model).items()
    return {name: part for name, part in parts if isinstance(part, SimpleRecurrentUnit)}


def heads(model: CoreModel) -> list[str]:
    """Every head of every attention by its name, in order."""
    return [
        f"{name}[{head}]" for name, part in attentions(model).items() for head in range(part.heads)
    ]


def split_head(name: str) -> tuple[str, int | None]:
    """`a.b[5]` → (`a.b`, 5), and `a.b` → (`a.b`, None)."""
    found = _HEAD.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, None)


def check_name(name: str, known: Iterable[str], purpose: str) -> None:
    """Raises UsageError for an unknown name; the message lists the known names in short."""
    names = list(known)
    if name in names:
        return
    guess = nearest(name, names)
    raise UsageError(
        f"there is no {name!r} {purpose}; the names are {', '.join(in_short(names)) or 'none'}"
        + (f" (did you mean {guess}?)" if guess else "")
    )


def in_short(names: Iterable[str]) -> list[str]:
    """Joins names that differ only in layer and head into one: `encoder.layers.0…5.x[0…7]`."""
    groups: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for name in names:
        module, head = split_head(name)
        layer = _LAYER.match(module)
        pattern = _LAYER.sub(r"\1.{}", module)
        numbers = (int(layer[2]) if layer else 0, head or 0)
        groups.setdefault((pattern, head is not None), []).append(numbers)
    return [
        pattern.replace("{}", _range(layer for layer, _ in numbers))
        + (f"[{_range(head for _, head in numbers)}]" if of_heads else "")
        for (pattern, of_heads), numbers in groups.items()
    ]


def _range(numbers: Iterable[int]) -> str:
    first, *_, last = sorted(numbers) * 2
    return f"{first}…{last}" if first != last else str(first)
