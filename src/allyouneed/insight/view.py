"""Checks attention weights of any model with their tokens, and prepares them for drawing.

B batch · H heads · T queries · S keys
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from allyouneed.checks import expect_list, shortened
from allyouneed.errors import ShapeError, UsageError
from allyouneed.text.clean import clean

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class LabelledAttention:
    """Attention weights of any model: the tokens of the queries, the tokens of the keys, and
    weights HTS for each layer. Layers may differ in their number of heads."""

    tokens_x: tuple[str, ...]
    tokens_y: tuple[str, ...]
    layers: tuple[Tensor, ...]

    def head(self, layer: int, head: int) -> Tensor:
        """The weights TS of one head. Layer and head count from 0, or from the last if negative.

        Raises:
            UsageError: the layer or head does not exist.
        """
        weights_HTS = self.layers[_number("layer", layer, len(self.layers))]
        return weights_HTS[_number("head", head, len(weights_HTS))]

    def heatmap(self, layer: int, head: int, *, stretched: bool = False) -> "Figure":
        """One head as a figure, see `figures.heatmap`.

        Raises:
            UsageError: the layer or head does not exist, or matplotlib is not installed.
        """
        from allyouneed.insight.figures import heatmap

        title = f"layer {layer}, head {head}"
        weights_TS = self.head(layer, head)
        return heatmap(weights_TS, self.tokens_x, self.tokens_y, title=title, stretched=stretched)


def attention_view(
    tokens_x: Sequence[str], tokens_y: Sequence[str], weights: Sequence[Any] | Tensor
) -> LabelledAttention:
    """A view of any model's attention: `tokens_x` are the queries, `tokens_y` the keys.

        outputs = model(**inputs, output_attentions=True)     # a model of Hugging Face's
        attention_view(target, source, outputs.cross_attentions)

    `weights` are a tensor (or an array) HTS or 1HTS for each layer. For self-attention both sides
    are the same tokens. Encoder, decoder and cross-attention are three views, each with layers and
    lengths of its own. The view keeps a float32 copy on the CPU.

    Raises:
        ShapeError: the axes of a layer's weights do not fit; the message names the layer.
        UsageError: tokens are not strings, there are no layers, a layer has no weights, or a weight
            is negative or not finite.
    """
    for side, tokens in (("tokens_x", tokens_x), ("tokens_y", tokens_y)):
        listed = isinstance(tokens, Iterable) and not isinstance(tokens, str)
        if not listed or not all(isinstance(token, str) for token in tokens):
            raise UsageError(f"{side} must be a list of strings, one for each token")
        if not len(tokens):
            raise UsageError(f"{side} is empty; there is nothing to draw")
    expect_list(weights, "weights", "a list with the weights HTS of each layer")
    if isinstance(weights, Tensor) and weights.dim() == 3:
        raise ShapeError(
            f"weights of the shape {tuple(weights.shape)} are one layer's; give a list: [weights]"
        )
    if not len(weights):
        raise UsageError("no layers; give the weights HTS of each layer, in a list")
    sizes = (len(tokens_x), len(tokens_y))
    layers = tuple(_layer(number, one, sizes) for number, one in enumerate(weights))
    shown_x, shown_y = (tuple(clean(one)[0] for one in side) for side in (tokens_x, tokens_y))
    return LabelledAttention(shown_x, shown_y, layers)


def _layer(number: int, weights: Any, sizes: tuple[int, int]) -> Tensor:
    """One layer's weights HTS, checked."""
    if weights is None:
        raise UsageError(
            f"layer {number} has no weights (None); Hugging Face's models keep them only when "
            'they are loaded with attn_implementation="eager"'
        )
    if isinstance(weights, tuple | list) and weights and isinstance(weights[0], Tensor):
        raise ShapeError(
            f"layer {number} is a list of {len(weights)} tensors; generate() lists by step first, "
            "so join the steps of each layer with torch.cat(steps, dim=2)"
        )
    try:
        given = torch.as_tensor(weights)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ShapeError(
            f"layer {number} is {shortened(weights)}; give a tensor or an array HTS"
        ) from error
    found = given.detach().to("cpu", torch.float32, copy=True)
    if found.dim() == 4 and found.size(0) == 1:
        found = found[0]
    if found.dim() == 4:
        raise ShapeError(
            f"layer {number} holds {found.size(0)} sentences, its shape is {tuple(found.shape)}; "
            "give one: [layer[:1] for layer in weights]"
        )
    if found.dim() != 3 or tuple(found.shape[1:]) != sizes:
        swapped = found.dim() == 3 and tuple(found.shape[1:]) == sizes[::-1]
        raise ShapeError(
            f"layer {number} has the shape {tuple(found.shape)}; with {sizes[0]} tokens_x (queries)"
            f" and {sizes[1]} tokens_y (keys) it must be (heads, {sizes[0]}, {sizes[1]})"
            + ("; did you mean to exchange tokens_x and tokens_y?" if swapped else "")
        )
    bad = ~found.isfinite() | (found < 0)
    if bad.any():
        head, row, column = bad.nonzero()[0].tolist()
        raise UsageError(
            f"layer {number}, head {head}, row {row}, column {column}: "
            f"{float(found[head, row, column])} is not an attention weight; give the weights after "
            "the softmax, which are finite and at least 0"
        )
    return found


def _number(what: str, number: int, count: int) -> int:
    if not -count <= number < count:
        raise UsageError(f"{what} {number}: there are 0 … {count - 1}")
    return number
