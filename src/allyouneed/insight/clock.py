"""The step of the decoder that is running, for hooks on modules that are not told the step.

B rows
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from allyouneed.core.attention import MultiHeadAttention, Site
from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.core.transformer import Transformer


@dataclass(slots=True)
class Pass:
    """One pass through a stack: the position of its first row in the T axis, and the number of the
    sentence of each row of the B axis, once this is known."""

    step: int = 0
    sentences: Tensor | None = None


class Clock:
    """`now` is the pass of the followed decoder that is running or ran last."""

    def __init__(self) -> None:
        self.now = Pass()

    def follow(self, model: Transformer | EncoderOnly, stack: ExitStack) -> None:
        """Follows the model's decoder, if it has one, until the stack is closed."""
        if isinstance(model, EncoderOnly):
            return
        embeddings = model.decoder.embeddings
        stack.callback(embeddings.register_forward_pre_hook(self._begin).remove)

    def tell_sentences(self, model: Transformer | EncoderOnly, stack: ExitStack) -> None:
        """Also sets `now.sentences`, from the site that the attention of the first layer
        receives."""
        if isinstance(model, EncoderOnly):
            return
        for layer in list(model.decoder.layers)[:1]:
            assert isinstance(layer.cross_attention, MultiHeadAttention)
            add_probe(layer.cross_attention, self._sentences, stack)

    def _begin(self, _: nn.Module, inputs: tuple[Any, ...]) -> None:
        self.now = Pass(int(inputs[1]) if len(inputs) > 1 else 0)

    def _sentences(self, weights_BHTS: Tensor, site: Site) -> Tensor:
        self.now.sentences = site.sentences
        return weights_BHTS


def add_probe(
    attention: MultiHeadAttention, probe: Callable[[Tensor, Site], Tensor], stack: ExitStack
) -> None:
    """Sets a probe, which is removed when the stack is closed."""
    attention.probes.append(probe)
    stack.callback(attention.probes.remove, probe)
